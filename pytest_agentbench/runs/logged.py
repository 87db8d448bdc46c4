"""Answers that stay in the log of a run: memory has the place of the line, which is read when somebody asks for it.

A large run holds all its records in memory, and long answers are most of what they say.
"""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from pytest_agentbench.base.errors import BenchmarkError


class LogLines:
    """A log that stays open to be read: also one that is deleted or replaced meanwhile comes back."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()  # of the place in the file
        self._file = -1  # until there is one to close
        # Not a copy of a descriptor that is there: it would share the lock of the session that writes.
        self._file = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))

    def __del__(self) -> None:
        if self._file >= 0:
            os.close(self._file)

    @classmethod
    def of(cls, path: Path, file: int) -> LogLines | None:
        """The log that this descriptor is of. None where no more files can be open: answers stay in memory then."""
        try:
            lines = cls(path)
            return lines if os.path.sameopenfile(lines._file, file) else None
        except OSError:
            return None

    def read(self, start: int, length: int) -> bytes:
        try:
            with self._lock:
                os.lseek(self._file, start, os.SEEK_SET)
                return os.read(self._file, length)
        except OSError as error:
            raise BenchmarkError(f"{self._path}: {error.strerror}") from None

    def changed(self, sample: str) -> BenchmarkError:
        return BenchmarkError(
            f"{self._path}: expected the record of {sample} where it was logged, got something else: the "
            "file was changed meanwhile; its answer cannot be read"
        )


class _Line(msgspec.Struct):
    """What is read of a line; the rest is passed over."""

    sample: str
    epoch: int = 1
    answer: Any = None


class Logged(NamedTuple):
    """Where the line of a record is."""

    lines: LogLines
    start: int
    length: int

    def answer(self, sample: str, epoch: int) -> Any:
        """The answer in that line, which must be of this sample."""
        text = self.lines.read(self.start, self.length)
        try:
            line = _decode_line(text)
        except (ValueError, RecursionError):
            # Half a pair of surrogates, which msgspec does not read, or another line.
            line = self._decoded_slowly(text, sample)
        if (line.sample, line.epoch) != (sample, epoch):
            raise self.lines.changed(sample)
        return line.answer

    def _decoded_slowly(self, text: bytes, sample: str) -> _Line:
        try:
            data = json.loads(text)
            return _Line(data["sample"], data.get("epoch", 1), data.get("answer"))
        except RecursionError:  # the stack is deeper here than where the line was written
            raise BenchmarkError(f"{sample}: its answer has too many levels of lists") from None
        except (ValueError, TypeError, KeyError, AttributeError):
            raise self.lines.changed(sample) from None


_decode_line = msgspec.json.Decoder(_Line).decode
