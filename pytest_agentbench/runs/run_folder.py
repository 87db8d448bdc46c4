"""The folder of a run: manifest, append-only records, scores. Only the controller writes here.

While a run is under way ``answers.jsonl`` keeps the answers that are not records yet. scores.json is written
last: a folder without it is not finished.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
import re
import stat
import threading
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from pytest_agentbench.agents import specs
from pytest_agentbench.base import typed_json
from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.base.files import locked, write_whole
from pytest_agentbench.runs.logged import Logged, LogLines
from pytest_agentbench.runs.manifest_file import SCHEMA as SCHEMA
from pytest_agentbench.runs.manifest_file import Manifest
from pytest_agentbench.runs.record import Record

HOUSE = ".agentbench"  # in pytest's rootdir
LLM_CACHE = "llm-cache"  # there: calls of models, by benchmark and sample
MANIFEST, RECORDS, SCORES = "manifest.json", "records.jsonl", "scores.json"
ANSWERS = "answers.jsonl"  # as they came, unchecked, until their records are logged
_LARGEST_JSON = 256 << 20  # bytes of a manifest or scores; ours have some thousands
_LOOK_SECONDS = 0.1  # between two looks whether the log is where it was; it costs more than a line
_LONGEST_NAME = 80  # characters of an agent's name in a folder's; a command may be longer


def folder_name(started: str, benchmark: str, agent: str) -> str:
    """``<time>-<benchmark>-<agent>``, of plain characters; the agent by its own name, not its path."""
    words = [started, benchmark, specs.short(agent)[:_LONGEST_NAME]]
    return "-".join(re.sub(r"[^A-Za-z0-9._-]+", "_", word).strip("_") for word in words)


def check_free(folder: Path) -> None:
    """Refuses a folder that holds a run already or cannot be written, before any sample is asked."""
    if _holds_records(folder):
        raise BenchmarkError(
            f"{folder}: expected a folder without a run, but it holds {RECORDS}; its answers are "
            f"not overwritten: name another folder, or go on with that run (--resume={folder})"
        )
    existing = folder
    while not existing.exists():
        existing = existing.parent
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        raise BenchmarkError(
            f"{folder}: expected a folder that can be written, got {existing}; name another one "
            "with --run-dir"
        )


def _holds_records(folder: Path) -> bool:
    """Whether something was logged. A session that was killed early leaves an empty log."""
    paths = (folder / RECORDS, folder / ANSWERS)
    return any(path.exists() and path.stat().st_size > 0 for path in paths)


class LogLost(BenchmarkError):
    """The log of a run was deleted or replaced under the session that writes it."""


class RunLog:
    """Appends records to the log of a run. The folder of a new run is made with the first line.

    The log is locked for this session; that of a resumed run at once, so that no other session answers
    the same questions. Threads may write: answers come in those that ask or that hear workers.
    """

    def __init__(
        self,
        folder: Path,
        manifest: Mapping[str, Any],
        kind: Literal["new", "named", "resumed"] = "named",
    ) -> None:
        self.folder = folder
        self.manifest = manifest
        self._kind = kind  # new: if the name is taken meanwhile, a number is added to it
        # A file descriptor without a buffer: each line is one write.
        self._path = folder / RECORDS  # made once, for it is looked at with every line
        self._file = self._taken() if kind == "resumed" else None
        self._size = 0  # after the last line of ours
        self._lines: LogLines | None = None
        self._look_again = 0.0
        self._answers: int | None = None
        self._described = False
        self._closed = False
        self._lock = threading.Lock()

    def append(self, *lines: str) -> list[Logged | None]:
        """Writes records, as JSON, at once: a killed process loses nothing that was logged.

        Returns where each is, so that it can be read back from there.
        """
        with self._lock:
            file, start = self._ready(), self._size
            self._size += _write_line(file, "\n".join(lines))
            if self._lines is None:
                return [None] * len(lines)
            starts = itertools.accumulate((len(line) + 1 for line in lines), initial=start)
            return [
                Logged(self._lines, start, len(line))
                for start, line in zip(starts, lines, strict=False)
            ]

    def keep_answer(self, line: str) -> None:
        """Writes an answer that is not a record yet, at once. After the end nobody waits for one."""
        with self._lock:
            if self._closed:
                return
            if self._answers is None:
                self._look_again = 0.0  # a folder that is gone is no disk that is gone
            self._ready()
            if self._answers is None:
                flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
                self._answers = os.open(self.folder / ANSWERS, flags, 0o666)
            _write_line(self._answers, line)

    def drop_answers(self) -> None:
        """Removes the answers that were kept: each of them is a record now."""
        with self._lock:
            self._close_answers()
            if self.started and self.lost is None:
                (self.folder / ANSWERS).unlink(missing_ok=True)

    @property
    def lost(self) -> str | None:
        """What became of the log, if it is not where it was: it was deleted or replaced meanwhile."""
        if self._file is None:
            return None
        path, ours = self._path, os.fstat(self._file)
        if ours.st_size < self._size:
            return (
                f"{path} was cut while the run was under way, and what was logged there is gone in part; "
                "start the run again"
            )
        try:
            if os.path.samestat(path.stat(), ours):
                return None
        except OSError:
            pass
        left = sorted(one.name for one in self.folder.iterdir()) if self.folder.is_dir() else []
        return (
            f"{path} was deleted or replaced while the run was under way, and what was logged there is "
            f"gone; left in its folder: {', '.join(left) or 'nothing'}; start the run again"
        )

    def _ready(self) -> int:
        """The log, opened, with a manifest beside it."""
        if self._file is None:
            self._make()
        if not self._described:
            self._describe()
        now = time.monotonic()
        if now >= self._look_again:
            self._look_again = now + _LOOK_SECONDS
            lost = self.lost
            if lost is not None:
                self._look_again = 0.0  # it is not to be found later
                raise LogLost(lost)
        assert self._file is not None
        return self._file

    def _make(self) -> None:
        if self._kind == "new":
            self.folder = _made(self.folder)
            self._kind = "named"  # if the rest fails, the next attempt uses this folder
        self.folder.mkdir(parents=True, exist_ok=True)
        house = self.folder.parent.parent
        if house.name == HOUSE:
            ignore_in_git(house)
        self._file = self._taken()

    def _taken(self) -> int:
        """The log, opened and locked for this session."""
        path, flags = self.folder / RECORDS, os.O_WRONLY | os.O_APPEND
        old = self._kind == "resumed"
        if old:
            check_regular(path, "the records of a run")
        try:
            if old:
                file = os.open(path, flags)
            else:
                file = os.open(path, flags | os.O_CREAT | os.O_EXCL, 0o666)
        except FileExistsError:  # its session was killed before it logged anything, or still runs
            file = os.open(path, flags)
            alone = locked(file) is True and os.fstat(file).st_size == 0
        except OSError as error:
            if not old:
                raise
            raise BenchmarkError(
                f"{self.folder}: expected a run that can be gone on with, but its {RECORDS} cannot "
                f"be written: {error.strerror}"
            ) from None
        else:
            alone = locked(file) is not False
        if not alone:
            os.close(file)
            raise BenchmarkError(
                f"{self.folder}: another session writes its records there; wait for its end, or "
                "name another folder with --run-dir"
            )
        self._path = path
        return file

    def describe(self, manifest: Mapping[str, Any]) -> None:
        """Replaces the manifest, also one that is written already."""
        self.manifest = manifest
        if self._described:
            write_json(self.folder / MANIFEST, manifest)

    def _describe(self) -> None:
        assert self._file is not None
        if self._kind == "resumed":
            heal(self.folder, ANSWERS)
            # Of the earlier session: until this one has ended, the run is not finished.
            (self.folder / SCORES).unlink(missing_ok=True)
        heal(self.folder)
        write_json(self.folder / MANIFEST, self.manifest)
        self._lines = LogLines.of(self._path, self._file)
        self._size = os.fstat(self._file).st_size
        self._described = True

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._close_answers()
            if self._file is not None:
                os.close(self._file)
                self._file = None

    def _close_answers(self) -> None:
        if self._answers is not None:
            os.close(self._answers)
            self._answers = None

    @property
    def started(self) -> bool:
        """Whether the folder is this session's, so that it may add files."""
        return self._described or self._kind == "resumed"


def _made(folder: Path) -> Path:
    """Creates this folder; where the name is taken, also by another process, one with a number."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    number, free = 1, folder
    while True:
        try:
            free.mkdir()
        except FileExistsError:
            number += 1
            free = folder.with_name(f"{folder.name}-{number}")
        else:
            return free


def _write_line(file: int, line: str) -> int:
    """Writes a line, or several, whole or not at all; how many bytes they have."""
    data = memoryview(f"{line}\n".encode("ascii"))
    written = 0
    try:
        while written < len(data):
            written += os.write(file, data[written:])
    except OSError:  # the disk is full: remove the part that was written
        with contextlib.suppress(OSError):
            os.ftruncate(file, os.fstat(file).st_size - written)
        raise
    return written


def heal(folder: Path, name: str = RECORDS) -> None:
    """Cuts off the torn last line of a log whose writer was killed, before more is appended."""
    path = folder / name
    if not path.exists():
        return
    with path.open("rb+") as file:
        text = file.read()
        whole = text.rfind(b"\n") + 1
        if whole < len(text):
            last = text[whole:]
            try:  # only the line end may be missing
                Record.from_json(last)
            except ValueError:
                file.truncate(whole)
            else:
                file.write(b"\n")


def ignore_in_git(house: Path) -> None:
    """Keeps ``.agentbench`` out of the user's commits, as pytest does with its cache."""
    house.mkdir(parents=True, exist_ok=True)
    ignore = house / ".gitignore"
    if not ignore.exists():
        ignore.write_text("# made by pytest-agentbench\n*\n", encoding="ascii")


def write_json(path: Path, data: Mapping[str, Any]) -> None:
    """Whole or not at all: a reader never sees half a file."""
    write_whole(path, json.dumps(data, indent=2, allow_nan=False) + "\n")


def check_regular(path: Path, expected: str) -> os.stat_result:
    """Refuses what is not a file of the folder itself.

    In a folder that somebody else made, a link names any file of ours, and a pipe never ends.
    """
    try:
        status = path.lstat()
    except OSError as error:
        raise BenchmarkError(f"{path}: expected {expected}: {error.strerror}") from None
    if not stat.S_ISREG(status.st_mode):
        kind = "a link" if stat.S_ISLNK(status.st_mode) else "a folder, pipe or device"
        raise BenchmarkError(f"{path}: expected {expected} in a regular file, got {kind}")
    return status


def read_records(folder: Path, name: str = RECORDS) -> list[Record]:
    """The records of a run, the last of each sample and epoch; a torn last line is passed over."""
    path = folder / name
    check_regular(path, "the records of a run")
    try:
        with path.open("rb") as file:
            lines = LogLines.of(path, file.fileno())
            return list(latest(_parsed(path, file, lines)))
    except OSError as error:
        raise BenchmarkError(f"{path}: expected the records of a run: {error.strerror}") from None


def _parsed(path: Path, file: Iterable[bytes], lines: LogLines | None) -> Iterable[Record]:
    end = 0
    for number, line in enumerate(file, start=1):
        start, end = end, end + len(line)
        if line == b"\n":
            continue
        if not line.isascii():
            raise BenchmarkError(f"{path}, line {number}: expected JSON in ASCII, got other bytes")
        try:
            yield Record.from_json(line, None if lines is None else Logged(lines, start, len(line)))
        except ValueError as error:
            if not line.endswith(b"\n"):  # the writer was killed in mid-line
                return
            raise BenchmarkError(
                f"{path}, line {number}: expected a record, but {error}; the other lines are whole: "
                "remove this one, and --resume asks its sample again"
            ) from None


def records_digest(folder: Path) -> str:
    """SHA-256 of the log as it is now, not as a cache knows it."""
    digest = hashlib.sha256()
    with (folder / RECORDS).open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def latest(records: Iterable[Record]) -> Iterable[Record]:
    """The last record of each sample and epoch: a rerun replaces what it repeats."""
    return {(record.sample, record.epoch): record for record in records}.values()


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a run."""
    path = folder / MANIFEST
    return Manifest.from_json(read_json(path, "the manifest of a run"), path)


def read_json(path: Path, what: str) -> dict[str, Any]:
    """A JSON file of ours."""
    size = check_regular(path, what).st_size
    if size > _LARGEST_JSON:
        raise BenchmarkError(
            f"{path}: expected {what}, of at most {_LARGEST_JSON:,} bytes, got {size:,}"
        )
    try:
        data = typed_json.parsed(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BenchmarkError(f"{path}: expected {what}: {error.strerror}") from None
    except ValueError as error:
        raise BenchmarkError(f"{path}: expected {what} in JSON, got {error}") from None
    if not isinstance(data, dict):
        raise BenchmarkError(f"{path}: expected {what}, got a JSON {type(data).__name__}")
    return data
