"""A line about long work: nothing for the first seconds, then one line every few seconds.

Lines go to standard error, or to whoever owns the terminal (:func:`lines_go_to`).
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator

QUIET_SECONDS = 3.0
EVERY_SECONDS = 5.0

_listener: Callable[[str], None] | None = None


@contextlib.contextmanager
def lines_go_to(listener: Callable[[str], None]) -> Iterator[None]:
    """Gives every line of this process, of all threads, to a function."""
    global _listener
    before, _listener = _listener, listener
    try:
        yield
    finally:
        _listener = before


class Progress:
    """Counts what is done of one piece of work, and reports it when the work takes long."""

    def __init__(self, what: str, unit: str, total: int | None = None) -> None:
        self._what = what
        self._unit = unit
        self._total = total
        self._done = 0
        self._started = time.monotonic()
        self._next = self._started + QUIET_SECONDS

    def add(self, count: int) -> None:
        self._done += count
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + EVERY_SECONDS
        rate = self._done / (now - self._started)
        done = f"{self._done:,}"
        left = ""
        if self._total:
            done += f" of {self._total:,}"
            left = f", about {(self._total - self._done) / rate:.0f} s left" if rate else ""
        say(f"{self._what}: {done} {self._unit}, {rate:,.0f} a second{left}")


def say(line: str) -> None:
    """One line for the person who waits."""
    if _listener is not None:
        _listener(line)
    elif sys.stderr is not None:
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()
