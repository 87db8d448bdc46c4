"""Tells a real Ctrl-C from an exception of the same name that an agent raised by itself."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # `signal` wraps it in enumerations: 50 us a call of an agent
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

# Those that end a run; whoever handles them may raise, to get out of whatever is running.
_SIGNALS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]


class watched:  # noqa: N801 -- a class as those of contextlib: a generator costs every call of an agent more
    """Within it, what handlers of signals raise is put into the list, too.

    Signals are handled in the main thread: a KeyboardInterrupt of any other thread is the agent's own.
    An agent that sets handlers, as it may, does not keep Ctrl-C from the run after its call.
    """

    __slots__ = ("_before", "_raised")

    def __init__(self) -> None:
        self._raised: list[BaseException] = []
        self._before: list[tuple[int, Any]] = []

    def __enter__(self) -> list[BaseException]:
        if threading.get_ident() == threading.main_thread().ident:
            self._before = [(number, _signal.getsignal(number)) for number in _SIGNALS]
            for number, former in self._before:
                if callable(former):
                    _signal.signal(number, self._noting(former))
        return self._raised

    def __exit__(self, *raised: object) -> None:
        for number, former in self._before:
            if former is not None:  # None: set by C code, and not ours to put back
                _signal.signal(number, former)

    def _noting(self, former: Callable[[int, FrameType | None], Any]) -> Any:
        noted = self._raised

        def handler(number: int, frame: FrameType | None) -> Any:
            __tracebackhide__ = True
            try:
                return former(number, frame)
            except BaseException as error:
                noted.append(error)
                raise

        return handler
