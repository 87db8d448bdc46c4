"""One way to call an agent, whatever its shape: ``agent(context) -> answer``."""

from __future__ import annotations

import asyncio
import ctypes
import inspect
import queue
import threading
from collections.abc import Awaitable, Callable
from typing import Any


class AgentTimeout(Exception):
    """The agent did not answer in the time it had."""


class _Abandoned(BaseException):
    """Raised inside a call that ran out of time, so that it ends; ``except Exception`` lets it by."""


class Agent:
    """An agent ready to be called. A class is made into an object at the first call."""

    def __init__(self, target: Any, timeout: float | None = None) -> None:
        self._target = target
        self._function: Callable[[Any], Any] | None = None
        self._timeout = timeout
        self._thread: _CallThread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def __call__(self, context: Any) -> Any:
        """The agent's answer; whatever it raises; :class:`AgentTimeout` if it takes too long."""
        __tracebackhide__ = True
        if self._timeout is None:
            # In the caller's own thread, so that a debugger stops where the agent failed.
            return self._answer(context, self._run)
        if self._thread is None:
            self._thread = _CallThread()
        try:
            return self._thread.call(lambda run: self._answer(context, run), self._timeout)
        except AgentTimeout:
            self._thread = None
            raise

    def _answer(self, context: Any, run: Callable[[Awaitable[Any]], Any]) -> Any:
        __tracebackhide__ = True
        if self._function is None:
            self._function = _function(self._target)
        answer = self._function(context)
        return run(answer) if inspect.isawaitable(answer) else answer

    def _run(self, awaitable: Awaitable[Any]) -> Any:
        __tracebackhide__ = True
        if (
            self._loop is None
        ):  # one loop for all calls: clients that an agent keeps are bound to it
            self._loop = asyncio.new_event_loop()
        return self._loop.run_until_complete(_awaited(awaitable))

    def close(self) -> None:
        """Ends the agent's event loop."""
        if self._loop is not None:
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()
            self._loop = None
        if self._thread is not None:
            self._thread.end()
            self._thread = None


def _function(target: Any) -> Callable[[Any], Any]:
    thing = target() if isinstance(target, type) else target
    forward = getattr(thing, "forward", None)
    function: Callable[[Any], Any] = forward if callable(forward) else thing
    if not callable(function):
        raise TypeError(f"expected a function or something with forward(context), got {thing!r}")
    return function


async def _awaited(awaitable: Awaitable[Any]) -> Any:
    __tracebackhide__ = True
    return await awaitable


class _CallThread:
    """A thread that makes calls one by one, and is left behind when one runs out of time."""

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue[Callable[..., Any] | None] = queue.SimpleQueue()
        self._results: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()
        self._task: asyncio.Task[Any] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=self._work, name="agentbench-agent", daemon=True)
        self._thread.start()

    def call(self, function: Callable[..., Any], timeout: float) -> Any:
        __tracebackhide__ = True
        self._calls.put(function)
        try:
            answer, error = self._results.get(timeout=timeout)
        except queue.Empty:
            self._abandon()
            raise AgentTimeout(f"no answer within {timeout:g} s") from None
        if error is not None:
            raise error
        return answer

    def end(self) -> None:
        """Lets the thread finish after its last call."""
        self._calls.put(None)

    def _work(self) -> None:
        try:
            while (function := self._calls.get()) is not None:
                try:
                    self._results.put((function(self._run), None))
                except _Abandoned:
                    return
                except BaseException as error:
                    self._results.put((None, error))
        except _Abandoned:
            return
        finally:
            if self._loop is not None:
                self._loop.close()

    def _run(self, awaitable: Awaitable[Any]) -> Any:
        __tracebackhide__ = True
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
        self._task = self._loop.create_task(_awaited(awaitable))
        return self._loop.run_until_complete(self._task)

    def _abandon(self) -> None:
        """Ends the call: by cancelling where it awaits, by an exception where it runs Python code.

        A call stuck in C code cannot be ended from within its process; it is left behind.
        """
        self._calls.put(None)
        loop, task = self._loop, self._task
        if loop is not None and task is not None and not loop.is_closed():
            loop.call_soon_threadsafe(task.cancel)
        if self._thread.ident is not None:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(self._thread.ident), ctypes.py_object(_Abandoned)
            )
