"""The folder of a run: manifest, append-only records, scores. Only the controller writes here."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, Any, Literal

from pytest_agentbench.benchmarks.protocol import BenchmarkError
from pytest_agentbench.records import Record

HOUSE = ".agentbench"  # in pytest's rootdir
MANIFEST, RECORDS, SCORES = "manifest.json", "records.jsonl", "scores.json"


def folder_name(started: str, benchmark: str, agent: str) -> str:
    """``<time>-<benchmark>-<agent>``, of plain characters."""
    words = [started, benchmark, agent.removeprefix("builtin:")]
    return "-".join(re.sub(r"[^A-Za-z0-9._-]+", "_", word).strip("_") for word in words)


def check_free(folder: Path) -> None:
    """Refuses a folder that holds a run already or cannot be written, before any sample is asked."""
    if (folder / RECORDS).exists():
        raise BenchmarkError(
            f"{folder}: expected a folder without a run, but it holds {RECORDS}; "
            "its answers are not overwritten: name another folder or remove this one"
        )
    existing = folder
    while not existing.exists():
        existing = existing.parent
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        raise BenchmarkError(f"{folder}: expected a folder that can be written, got {existing}")


class RunLog:
    """Appends the records of a run as they come; the folder appears with the first one."""

    def __init__(
        self,
        folder: Path,
        manifest: Mapping[str, Any],
        kind: Literal["new", "named", "resumed"] = "named",
    ) -> None:
        self.folder = folder
        self._manifest = manifest
        self._kind = kind  # new: another free name is as good, if this one is taken meanwhile
        self._file: IO[str] | None = None

    def append(self, line: str) -> None:
        """One record as JSON, handed to the system at once: a killed process loses nothing logged."""
        if self._file is None:
            self._open()
        assert self._file is not None
        self._file.write(f"{line}\n")
        self._file.flush()

    def _open(self) -> None:
        if self._kind == "new":
            self.folder = _made(self.folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        house = self.folder.parent.parent
        if house.name == HOUSE:
            ignore_in_git(house)
        heal(self.folder)
        # Two sessions never write into one log: the second finds the file.
        mode = "a" if self._kind == "resumed" else "x"
        self._file = (self.folder / RECORDS).open(mode, encoding="ascii")
        write_json(self.folder / MANIFEST, self._manifest)

    def close(self) -> None:
        if self._file is not None:
            with contextlib.suppress(OSError):  # a full disk was reported when it was found
                self._file.close()
            self._file = None

    @property
    def started(self) -> bool:
        """Whether anything was logged, so that there is a folder at all."""
        return self._file is not None


def _made(folder: Path) -> Path:
    """This folder, or one of the same name with a number: made by us, whoever else is at it."""
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


def heal(folder: Path) -> None:
    """Cuts off the torn last line of a log whose writer was killed, before more is appended."""
    path = folder / RECORDS
    if not path.exists():
        return
    with path.open("rb+") as file:
        text = file.read()
        whole = text.rfind(b"\n") + 1
        if whole < len(text):
            last = text[whole:]
            try:  # only the line end may be missing
                Record.from_json(last.decode("ascii"))
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
    half = path.with_name(f".{path.name}.{os.getpid()}")
    half.write_text(json.dumps(data, indent=2, allow_nan=False) + "\n", encoding="utf-8")
    half.replace(path)


def read_records(folder: Path) -> list[Record]:
    """The records of a run, the last of each sample and epoch; a torn last line is passed over."""
    path = folder / RECORDS
    try:
        lines = path.read_text(encoding="ascii").split("\n")
    except OSError as error:
        raise BenchmarkError(f"{path}: expected the records of a run: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise BenchmarkError(f"{path}: expected JSON lines in ASCII, got {error}") from None
    return list(latest(_parsed(path, lines)))


def _parsed(path: Path, lines: list[str]) -> Iterable[Record]:
    for number, line in enumerate(lines, start=1):
        if not line:
            continue
        try:
            yield Record.from_json(line)
        except ValueError as error:
            if number == len(lines):  # no line end after it: the writer was killed in mid-line
                return
            raise BenchmarkError(f"{path}, line {number}: expected a record, got {error}") from None


def latest(records: Iterable[Record]) -> Iterable[Record]:
    """The last record of each sample and epoch: a rerun replaces what it repeats."""
    return {(record.sample, record.epoch): record for record in records}.values()


def read_json(path: Path, what: str) -> dict[str, Any]:
    """A JSON file of ours."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BenchmarkError(f"{path}: expected {what}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise BenchmarkError(f"{path}: expected {what} in JSON, got {error}") from None
    if not isinstance(data, dict):
        raise BenchmarkError(f"{path}: expected {what}, got a JSON {type(data).__name__}")
    return data
