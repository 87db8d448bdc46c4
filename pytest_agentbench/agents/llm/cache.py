"""Calls of models that were made before: recorded beside the runs, and given again where the same is asked.

A call is the same if path, body (model, messages, parameters), sample and epoch are, and its number among identical
calls of that question. The address and the key are no part of it.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, NamedTuple

from pytest_agentbench.base.errors import BenchmarkError

READ_WRITE, REPLAY, OFF = MODES = ("read-write", "replay", "off")

Question = tuple[str, int]  # the sample's name and the epoch
UNKNOWN: Question = ("", 0)  # what a thread asks that belongs to no call of the agent

_SAMPLES_AT_HAND = 32  # whose calls are kept in memory
_LOOKED_AT = 100  # files, to find out whether a model was asked before


class Recorded(NamedTuple):
    """A reply that was recorded, or the events of one, and what it cost when it was asked."""

    reply: dict[str, Any] | None
    chunks: list[dict[str, Any]] | None
    usage: Mapping[str, float]
    model: str


class Cache:
    """The recorded calls of one benchmark; safe to use from many threads and processes."""

    def __init__(
        self,
        folder: Path,
        mode: str = READ_WRITE,
        clean: Callable[[Any], Any] = lambda value: value,
        prepare: Callable[[], None] = lambda: None,
    ) -> None:
        """``clean`` takes secrets out of JSON values; ``prepare`` is called before the first file is written."""
        self.replays = mode == REPLAY
        self.lost: str | None = None  # why a call could not be recorded
        self._folder = folder
        self._clean = clean
        self._prepare = prepare
        self._lock = threading.Lock()
        self._lines: OrderedDict[str, dict[str, dict[str, Any]]] = OrderedDict()  # by sample, key
        self._torn: set[str] = set()  # samples whose file ends within a line
        self._taken: dict[str, set[int]] = {}  # by request: the numbers that were given or recorded

    def check(self) -> None:
        """BenchmarkError if nothing can be recorded."""
        if self.replays:
            return
        place = next(one for one in (self._folder, *self._folder.parents) if one.exists())
        if not place.is_dir() or not os.access(place, os.W_OK | os.X_OK):
            raise BenchmarkError(
                f"--llm-cache: expected a folder that can be written, got {place}; make it one, or give "
                "--llm-cache off"
            )

    def find(
        self, path: str, bodies: Sequence[Mapping[str, Any]], question: Question
    ) -> Recorded | None:
        """The next reply that was recorded for one of these bodies, and was not given before in this session."""
        with self._lock:
            lines = self._of(question[0])
            for body in bodies if lines else ():
                request = self._request(path, body, question)
                taken = self._taken.setdefault(_digest(request), set())
                for number in itertools.count():
                    line = lines.get(_digest([*request, number]))
                    if line is None:  # numbers have no gap
                        break
                    if number not in taken:
                        taken.add(number)
                        return Recorded(
                            line.get("reply"),
                            line.get("chunks"),
                            line.get("usage") or {},
                            str(line["model"]),
                        )
        return None

    def record(
        self,
        path: str,
        body: Mapping[str, Any],
        question: Question,
        data: dict[str, Any] | list[dict[str, Any]],
        usage: Mapping[str, float],
    ) -> None:
        """Keeps a good reply. Where that fails, :attr:`lost` says why; the run goes on."""
        sample, epoch = question
        with self._lock:
            lines = self._of(sample)
            request = self._request(path, body, question)
            taken = self._taken.setdefault(_digest(request), set())
            number = 0
            while number in taken or _digest([*request, number]) in lines:
                number += 1
            taken.add(number)
            line = {
                "key": _digest([*request, number]),
                "n": number,
                "sample": sample,
                "epoch": epoch,
                "path": path,
                "request": request[1],
                "chunks" if isinstance(data, list) else "reply": self._clean(data),
                "usage": dict(usage),
                "model": str(body.get("model")),
                "recorded": datetime.now(timezone.utc).isoformat(timespec="seconds"),
            }
            try:
                self._append(sample, line)
            except OSError as error:
                self.lost = f"{type(error).__name__}: {error}"

    def requests(self, sample: str) -> list[dict[str, Any]]:
        """The lines of a sample, to be compared with what was asked."""
        with self._lock:
            return list(self._of(sample).values())

    def times(self, path: str, body: Mapping[str, Any], question: Question) -> int:
        """How often exactly this was given or recorded in this session."""
        with self._lock:
            return len(self._taken.get(_digest(self._request(path, body, question)), ()))

    def holds(self, models: Sequence[str]) -> bool:
        """Whether calls of one of these models are recorded."""
        for _, path in zip(range(_LOOKED_AT), self._files(), strict=False):
            if any(line["model"] in models for line in _read(path).values()):
                return True
        return False

    def _files(self) -> Iterator[Path]:
        return self._folder.glob("*.jsonl")

    def _request(self, path: str, body: Mapping[str, Any], question: Question) -> list[Any]:
        """What is the same in identical calls. Without secrets, as it is stored."""
        return [path, self._clean(dict(body)), *question]

    def _path(self, sample: str) -> Path:
        return (
            self._folder / f"{hashlib.sha256(sample.encode('utf-8', 'replace')).hexdigest()}.jsonl"
        )

    def _of(self, sample: str) -> dict[str, dict[str, Any]]:
        found = self._lines.get(sample)
        if found is None:
            path = self._path(sample)
            found = self._lines[sample] = _read(path)
            if _is_torn(path):
                self._torn.add(sample)
            if len(self._lines) > _SAMPLES_AT_HAND:
                self._lines.popitem(last=False)
        else:
            self._lines.move_to_end(sample)
        return found

    def _append(self, sample: str, line: Mapping[str, Any]) -> None:
        """In one write at the end of the file: lines of several processes are not mixed up."""
        path = self._path(sample)
        if not self._folder.is_dir():
            self._prepare()
            self._folder.mkdir(parents=True, exist_ok=True)
        text = ("\n" if sample in self._torn else "") + json.dumps(line) + "\n"
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            data = text.encode("ascii")
            if os.write(file, data) < len(data):
                self._torn.add(sample)
                raise OSError("only a part of a line was written")
            self._torn.discard(sample)
        finally:
            os.close(file)


def folder_name(benchmark: str) -> str:
    """The folder of a benchmark.

    >>> folder_name("my/own bench")
    'my-own-bench'
    """
    return re.sub(r"[^\w.-]+", "-", benchmark).strip(".") or "benchmark"


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _read(path: Path) -> dict[str, dict[str, Any]]:
    """The whole lines of a file by their keys; torn and foreign ones are passed over."""
    found: dict[str, dict[str, Any]] = {}
    try:
        data = path.read_bytes()
    except OSError:
        return found
    for text in data.splitlines():
        try:
            line = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if _is_line(line):
            found.setdefault(line["key"], line)
    return found


def _is_line(line: Any) -> bool:
    if not isinstance(line, dict) or not isinstance(line.get("key"), str) or "model" not in line:
        return False
    chunks = line.get("chunks")
    events = isinstance(chunks, list) and all(isinstance(one, dict) for one in chunks)
    return isinstance(line.get("request"), dict) and (events or isinstance(line.get("reply"), dict))


def _is_torn(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return (
                file.seek(0, os.SEEK_END) > 0
                and file.seek(-1, os.SEEK_END) >= 0
                and file.read(1) != b"\n"
            )
    except OSError:
        return False
