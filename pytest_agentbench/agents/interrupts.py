"""Tells a real Ctrl-C from an exception of the same name that an agent raised by itself."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # `signal` wraps it in enumerations: 50 us a call of an agent
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

# Those that end a run; whoever handles them may raise, to get out of whatever is running.
_SIGNALS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]


@contextmanager
def watched() -> Iterator[list[BaseException]]:
    """Within it, what handlers of signals raise is put into the list, too.

    Signals are handled in the main thread: a KeyboardInterrupt of any other thread is the agent's own.
    An agent that sets handlers, as it may, does not keep Ctrl-C from the run after its call.
    """
    raised: list[BaseException] = []
    if threading.current_thread() is not threading.main_thread():
        yield raised
        return

    def noting(former: Any) -> Any:
        def handler(number: int, frame: FrameType | None) -> Any:
            __tracebackhide__ = True
            try:
                return former(number, frame)
            except BaseException as error:
                raised.append(error)
                raise

        return handler

    before = {number: _signal.getsignal(number) for number in _SIGNALS}
    for number, former in before.items():
        if callable(former):
            _signal.signal(number, noting(former))
    try:
        yield raised
    finally:
        for number, former in before.items():
            if former is not None:  # None: set by C code, and not ours to put back
                _signal.signal(number, former)
