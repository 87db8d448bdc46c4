"""Standard output and error stay open, whatever an agent closes."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from contextlib import contextmanager

_STREAMS = (1, 2)


@contextmanager
def kept_open() -> Iterator[None]:
    """Opens them again after a call that has closed them.

    Else the next file that anybody opens would get their number, and the log of a run would be mixed with
    what is printed.
    """
    before: dict[int, int] = {}
    for number in _STREAMS:
        with contextlib.suppress(OSError):
            before[number] = os.dup(number)
    try:
        yield
    finally:
        for number, copy in before.items():
            if not _is_open(number):
                with contextlib.suppress(OSError):
                    os.dup2(copy, number)
            with contextlib.suppress(OSError):  # an agent may have closed all there are
                os.close(copy)


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True
