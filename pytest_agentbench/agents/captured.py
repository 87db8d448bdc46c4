"""Output of overlapping calls, kept apart until their items report it.

pytest captures for one item at a time. A call that runs ahead of its item writes into a buffer of
its own, found through a context variable, which threads and tasks of the call inherit.
"""

from __future__ import annotations

import io
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TextIO


@dataclass
class Printed:
    """The output of one call."""

    stdout: io.StringIO = field(default_factory=io.StringIO)
    stderr: io.StringIO = field(default_factory=io.StringIO)
    logs: list[logging.LogRecord] = field(default_factory=list)

    def replay(self) -> None:
        """Writes it all to where pytest captures now."""
        sys.stdout.write(self.stdout.getvalue())
        sys.stderr.write(self.stderr.getvalue())
        for record in self.logs:
            logging.getLogger(record.name).handle(record)


_PRINTED: ContextVar[Printed | None] = ContextVar("agentbench_printed", default=None)


@contextmanager
def kept() -> Iterator[Printed]:
    """Keeps what this thread, and all that it starts, print and log within the block."""
    printed = Printed()
    token = _PRINTED.set(printed)
    try:
        yield printed
    finally:
        _PRINTED.reset(token)


def install(handlers: list[logging.Handler]) -> None:
    """Lets :func:`kept` see the present stdout, stderr and log; ``handlers`` are those of pytest."""
    # Between the phases of an item pytest puts the original streams back for a moment.
    for stream in (sys.stdout, sys.__stdout__):
        _divert(stream, "stdout")
    for stream in (sys.stderr, sys.__stderr__):
        _divert(stream, "stderr")
    root = logging.getLogger()
    if not any(isinstance(handler, _Keeper) for handler in root.handlers):
        root.addHandler(_Keeper())
        for handler in handlers:
            handler.addFilter(lambda _: _PRINTED.get() is None)


def _divert(stream: TextIO | None, name: str) -> None:
    """Replaces the stream's ``write`` in place: pytest keeps the object for the whole session."""
    if stream is None or getattr(stream, "agentbench_diverted", False):
        return
    write = stream.write

    def divert(text: str) -> Any:
        printed = _PRINTED.get()
        return write(text) if printed is None else getattr(printed, name).write(text)

    try:
        stream.write = divert  # type: ignore[method-assign]
        stream.agentbench_diverted = True  # type: ignore[attr-defined]
    except AttributeError:  # a stream that cannot be changed (-s): output is mixed
        return


class _Keeper(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        printed = _PRINTED.get()
        if printed is not None:
            printed.logs.append(record)
