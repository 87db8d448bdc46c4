"""Threads that make calls of an agent, and can be left behind when a call takes too long."""

from __future__ import annotations

import contextlib
import contextvars
import ctypes
import queue
import threading
from collections.abc import Callable
from typing import Any

from pytest_agentbench.agents import debugging


class OutOfTime(Exception):
    """A call took longer than it may. No agent raises it, so it is never taken for an agent's own."""


class Abandoned(BaseException):
    """Raised inside a call that timed out, to end it; ``except Exception`` does not catch it."""


def raise_in(thread: threading.Thread) -> None:
    """Interrupts a thread that runs Python code. C code cannot be interrupted within its process."""
    if thread.ident is not None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident), ctypes.py_object(Abandoned)
        )


class CallThread:
    """A thread that makes calls one by one, and is abandoned when one times out."""

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue[Callable[[], Any] | None] = queue.SimpleQueue()
        self._results: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="agentbench-agent", daemon=True)
        self._thread.start()

    def call(self, function: Callable[[], Any], timeout: float) -> Any:
        __tracebackhide__ = True
        context = contextvars.copy_context()
        self._calls.put(lambda: context.run(function))
        try:
            answer, error = self._results.get(timeout=timeout)
        except queue.Empty:
            if not debugging.is_used():
                raise_in(self._thread)
                raise OutOfTime from None
            answer, error = self._results.get()
        if error is not None:
            raise error
        return answer

    def end(self) -> None:
        """Lets the thread end after the calls that it was given."""
        self._calls.put(None)

    def _work(self) -> None:
        with contextlib.suppress(Abandoned):
            while (call := self._calls.get()) is not None:
                try:
                    self._results.put((call(), None))
                except Abandoned:
                    return
                except BaseException as error:
                    self._results.put((None, error))
