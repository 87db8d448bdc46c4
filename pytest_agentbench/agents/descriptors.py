"""Standard output and error stay open, whatever an agent closes."""

from __future__ import annotations

import contextlib
import os

_STREAMS = (1, 2)


class kept_open:  # noqa: N801 -- a class as those of contextlib: a generator costs every call of an agent more
    """Opens them again after a call that has closed them.

    Else the next file that anybody opens would get their number, and the log of a run would be mixed with
    what is printed.
    """

    __slots__ = ("_copies",)

    def __init__(self) -> None:
        self._copies: list[tuple[int, int]] = []

    def __enter__(self) -> None:
        for number in _STREAMS:
            try:
                self._copies.append((number, os.dup(number)))
            except OSError:
                continue

    def __exit__(self, *raised: object) -> None:
        for number, copy in self._copies:
            try:
                os.fstat(number)
            except OSError:
                with contextlib.suppress(OSError):
                    os.dup2(copy, number)
            try:
                os.close(copy)
            except OSError:  # an agent may have closed all there are
                continue
