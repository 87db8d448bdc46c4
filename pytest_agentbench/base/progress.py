"""A line about long work: silent for the first seconds, then one line every few seconds.

Lines go to standard error unless somebody who owns the terminal puts a function of theirs into
:data:`listener`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

QUIET_SECONDS = 3.0
EVERY_SECONDS = 5.0

listener: Callable[[str], None] | None = None


class Progress:
    """Counts what is done of one piece of work and says so when it takes long."""

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
    if listener is not None:
        listener(line)
    elif sys.stderr is not None:
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()
