"""The event loop of HTTP requests: one daemon thread for the whole process, started when it is first used."""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

Result = TypeVar("Result")

_lock = threading.Lock()
_running: dict[int, asyncio.AbstractEventLoop] = {}  # by process: a fork has no thread of ours


class _Threads(ThreadPoolExecutor):
    """Looks up names in daemon threads: the end of the process does not wait for one that hangs."""

    def submit(self, function: Any, /, *args: Any, **options: Any) -> Future[Any]:
        future: Future[Any] = Future()

        def work() -> None:
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(function(*args, **options))
                except BaseException as error:
                    future.set_exception(error)

        threading.Thread(target=work, name="agentbench-names", daemon=True).start()
        return future


def loop() -> asyncio.AbstractEventLoop:
    """The loop of this process."""
    with _lock:
        found = _running.get(os.getpid())
        if found is None:
            _running.clear()
            found = _running[os.getpid()] = asyncio.new_event_loop()
            found.set_default_executor(_Threads())
            threading.Thread(target=found.run_forever, name="agentbench-http", daemon=True).start()
        return found


def wait(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """The result of a coroutine that runs on the loop; whoever stops waiting cancels it."""
    __tracebackhide__ = True
    future = start(coroutine)
    try:
        concurrent.futures.wait([future])
    except BaseException:  # Ctrl-C, or the call that waits is given up
        future.cancel()
        raise
    error = future.exception()
    if error is not None:
        raise error.with_traceback(None)
    return future.result()


async def awaited(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """The same for a caller on a loop of its own: to cancel it cancels the coroutine."""
    __tracebackhide__ = True
    return await asyncio.wrap_future(start(coroutine))


def start(coroutine: Coroutine[Any, Any, Result]) -> Future[Result]:
    """Runs a coroutine on the loop, with the context variables of the caller."""
    return asyncio.run_coroutine_threadsafe(_plainly(coroutine), loop())


async def _plainly(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Errors come without frames and causes: these hold keys in local variables, which pytest may show."""
    __tracebackhide__ = True
    try:
        return await coroutine
    except BaseException as error:
        error.__context__ = error.__cause__ = None
        raise error.with_traceback(None) from None
