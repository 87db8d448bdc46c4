"""Calls an agent of any shape in this process, within its time: ``agent(context) -> answer``."""

from __future__ import annotations

import concurrent.futures
import contextlib
import inspect
import threading
import time
import warnings
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_agentbench.agents import debugging
from pytest_agentbench.agents.call_threads import Abandoned, CallThread, OutOfTime, raise_in
from pytest_agentbench.agents.code_imports import NOTHING_AROUND, Surroundings
from pytest_agentbench.agents.described import harmless
from pytest_agentbench.agents.descriptors import kept_open
from pytest_agentbench.agents.errors import (
    AgentTimeout,
    BudgetExceeded,
    EndedByAgent,
    LoopBlocked,
    NotProvided,
)
from pytest_agentbench.agents.llm.calls import Model, configured_as
from pytest_agentbench.agents.loop_time import CALL, SHORTEST_LOOK, Call, measured
from pytest_agentbench.agents.shapes import function_of
from pytest_agentbench.agents.usage import reached
from pytest_agentbench.base.errors import told
from pytest_agentbench.base.plain import plain_answer

if TYPE_CHECKING:
    import asyncio  # 50 ms that only answers of coroutines cost

_FOR_THE_RUN = (Abandoned, BudgetExceeded, EndedByAgent, NotProvided)
_MOMENT = 1.0  # seconds in which a loop answers that nobody blocks
_LONGEST_PATIENCE = (
    60.0  # seconds that calls wait for one that blocks their loop, beyond its own time
)

_BLOCKED = (
    "another call blocked the event loop that it shares with this one, and was given up; an agent that "
    "blocks (time.sleep, requests) had better be a plain function"
)


class LocalAgent:
    """An agent ready to be called, from one thread or from many at once.

    A class is made into an object at the first call. Coroutines of all calls share one event loop,
    so that a client which an agent keeps stays usable from call to call. One that blocks the loop uses up
    its own time, and not that of the others.
    """

    def __init__(
        self,
        target: Any,
        timeout: float | None = None,
        llm: Model | None = None,
        surroundings: Surroundings = NOTHING_AROUND,
        params: Mapping[str, Any] | None = None,
    ) -> None:
        """``surroundings``: what its code may import while it answers."""
        self._target = target
        self._surroundings = surroundings
        self._params = params
        self._function: Callable[[Any], Any] | None = None
        self._timeout = timeout
        self._llm = llm
        self._lock = threading.Lock()
        self._loop: _LoopThread | None = None
        self._loop_here: asyncio.AbstractEventLoop | None = None
        # Each caller has a thread for its calls that may time out.
        self._callers = threading.local()

    def __call__(self, context: Any) -> Any:
        """The agent's answer as plain JSON; what it raises; :class:`AgentTimeout` if it takes too long.

        Objects of an agent's own go no further than this: they may do anything to whoever prints or
        compares them. Making them plain runs their code, and so is part of the agent's time.
        """
        __tracebackhide__ = True
        with configured_as(self._llm), self._surroundings.importable(), kept_open():
            return self._called(context)

    def _called(self, context: Any) -> Any:
        __tracebackhide__ = True
        started = time.monotonic()
        function = self._ready()
        if (debugger := debugging.tracer()) is not None:
            return debugging.stopping(debugger, self._target, lambda: self._here(function, context))
        if self._timeout is None or inspect.iscoroutinefunction(function):
            # In the caller's own thread, so that a debugger stops where the agent failed.
            answer = _answered(function, context)
        else:
            answer = self._within_time(function, context)
        if type(answer) is _Awaited:
            left = None if self._timeout is None else self._timeout - (time.monotonic() - started)
            return self._awaited(answer.awaitable, left)
        return answer

    def _here(self, function: Callable[[Any], Any], context: Any) -> Any:
        """The answer, with coroutines in this thread, too: a debugger follows one thread."""
        __tracebackhide__ = True
        answer = _answered(function, context)
        if type(answer) is not _Awaited:
            return answer
        if self._loop_here is None:
            import asyncio

            self._loop_here = asyncio.new_event_loop()
        value, error = self._loop_here.run_until_complete(_outcome(answer.awaitable))
        if error is not None:
            raise error
        return value

    def _ready(self) -> Callable[[Any], Any]:
        __tracebackhide__ = True
        with self._lock:
            if self._function is None:
                self._function = function_of(self._target, self._llm, self._params)
            return self._function

    def _within_time(self, function: Callable[[Any], Any], context: Any) -> Any:
        __tracebackhide__ = True
        assert self._timeout is not None
        caller: CallThread | None = getattr(self._callers, "thread", None)
        if caller is None:
            caller = self._callers.thread = CallThread()
        try:
            return caller.call(lambda: _answered(function, context), self._timeout)
        except OutOfTime:
            self._callers.thread = None  # abandoned with its call
            raise AgentTimeout(f"no answer within {self._timeout:g} s{reached()}") from None

    def _awaited(self, awaitable: Awaitable[Any], left: float | None) -> Any:
        __tracebackhide__ = True
        with self._lock:
            if self._loop is None or not self._loop.runs:
                self._loop = _LoopThread(self._timeout is not None)
            loop = self._loop
        call = Call()
        try:
            return loop.run(call, awaitable, left)
        except OutOfTime:
            assert self._timeout is not None
            came = reached()  # before anything is waited for: it may come further meanwhile
            if not loop.returns(call, min(self._timeout, _LONGEST_PATIENCE)):
                with self._lock:
                    if self._loop is loop:
                        self._loop = None
                loop.abandon()
            raise AgentTimeout(f"no answer within {self._timeout:g} s{came}") from None
        finally:
            call.ended = True

    def close(self) -> None:
        """Ends the event loop, and calls the agent's own ``close`` if the agent was ever called."""
        if self._loop is not None:
            self._loop.end()
            self._loop = None
        if self._loop_here is not None:
            self._loop_here.run_until_complete(_cancel_others())
            self._loop_here.close()
            self._loop_here = None
        close = getattr(self._target, "close", None)
        called = self._function is not None
        if called and callable(close) and not isinstance(self._target, type):
            try:
                close()
            except (Exception, SystemExit) as error:
                said = f"{type(error).__name__}: {told(error)}"
                warnings.warn(f"closing the agent failed: {said}", stacklevel=2)


class _Awaited(NamedTuple):
    """What an agent gave that is still to be awaited."""

    awaitable: Awaitable[Any]


def _answered(function: Callable[[Any], Any], context: Any) -> Any:
    __tracebackhide__ = True
    try:
        answer = function(context)
        return _Awaited(answer) if inspect.isawaitable(answer) else plain_answer(answer)
    except BaseException as error:
        plain = _plainly(error)
        if plain is error:
            raise
        raise plain from None


def _plainly(error: BaseException) -> BaseException:
    """The error, or one that can be printed in its place; what is for the run stays what it is."""
    return error if isinstance(error, _FOR_THE_RUN) else harmless(error)


class _LoopThread:
    """An event loop that runs beside the caller."""

    def __init__(self, limited: bool) -> None:
        """``limited``: calls have a limit, so that it matters who holds the loop."""
        import asyncio

        self._loop = asyncio.new_event_loop()
        self._times = measured(self._loop) if limited else None
        self._stopped = self._abandoned = False
        self._waited_for: set[concurrent.futures.Future[Any]] = set()
        self._thread = threading.Thread(target=self._work, name="agentbench-loop", daemon=True)
        self._thread.start()

    @property
    def runs(self) -> bool:
        return not self._stopped

    def _work(self) -> None:
        try:
            self._run_to_the_end()
        except Abandoned:  # between two steps: too late for the call that was to be interrupted
            self._abandoned = True
        finally:
            self._stopped = True
            self._fail_all()

    def _fail_all(self) -> None:
        """An agent may stop the loop, or never give it back; whoever waits must not wait for ever."""
        for future in list(self._waited_for):
            with contextlib.suppress(concurrent.futures.InvalidStateError):
                future.set_exception(self._failure())

    def _failure(self) -> Exception:
        if self._abandoned:
            return LoopBlocked(_BLOCKED)
        return RuntimeError("the agent ended the event loop of its call")

    def _run_to_the_end(self) -> None:
        while not self._stopped:
            # asyncio lets these two out of the loop. They are for whoever awaits the task that raised.
            with contextlib.suppress(SystemExit, KeyboardInterrupt):
                self._loop.run_forever()
                self._stopped = True
        with contextlib.suppress(SystemExit, KeyboardInterrupt):
            self._loop.run_until_complete(_cancel_others())
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()

    def run(self, call: Call, awaitable: Awaitable[Any], timeout: float | None) -> Any:
        __tracebackhide__ = True
        import asyncio

        # Not `result(timeout)`: an agent's own TimeoutError or cancellation must not look like ours.
        token = CALL.set(call)
        try:
            future = asyncio.run_coroutine_threadsafe(_outcome(awaitable), self._loop)
        finally:
            CALL.reset(token)
        self._waited_for.add(future)
        try:
            if self._stopped or self._abandoned:  # since the caller looked
                self._fail_all()
            done = self._wait(call, future, timeout)
            if not done and debugging.is_used():
                done = self._wait(call, future, None)
        finally:
            self._waited_for.discard(future)
        if not done:
            future.cancel()
            raise OutOfTime
        try:
            answer, error = future.result()
        except (
            Abandoned
        ):  # the loop was passed on in the moment in which somebody else was interrupted
            raise LoopBlocked(_BLOCKED) from None
        if error is not None:
            raise error
        return answer

    def _wait(
        self, call: Call, future: concurrent.futures.Future[Any], timeout: float | None
    ) -> bool:
        """Whether it is done in its time, which stands still while others hold the loop."""
        if timeout is None or self._times is None:
            return bool(concurrent.futures.wait([future], timeout).done)
        end = self._times.clock(call) + timeout
        left = timeout
        while True:
            if concurrent.futures.wait([future], max(left, 0.0)).done:
                return True
            left = end - self._times.clock(call)
            if left <= 0:
                return False
            left = max(left, SHORTEST_LOOK)

    def returns(self, call: Call, patience: float) -> bool:
        """Whether the loop goes on after a call ran out of time. Python code that blocks it is interrupted.

        Code in C cannot be. Where other calls are on the loop, it has some more time to come back.
        """
        if self._responds(_MOMENT):
            return True
        holder = None if self._times is None else self._times.holder
        if holder is not None and holder is not call:
            return True  # that one has a limit of its own
        raise_in(self._thread)
        return self._responds(max(patience, _MOMENT) if self._waited_for else 0.1)

    def _responds(self, within: float) -> bool:
        answered = threading.Event()
        with contextlib.suppress(RuntimeError):  # an agent has closed it
            self._loop.call_soon_threadsafe(answered.set)
        return answered.wait(within)

    def abandon(self) -> None:
        self._abandoned = True
        self._fail_all()
        # Should it ever come back, it ends, with all that is still going on there.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._loop.stop)

    def end(self) -> None:
        with contextlib.suppress(RuntimeError):  # an agent has closed it
            self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=5.0)


async def _outcome(awaitable: Awaitable[Any]) -> tuple[Any, BaseException | None]:
    """The answer or the error. An error that leaves a task may end the loop, and nobody would be told."""
    try:
        return plain_answer(await awaitable), None
    except Abandoned:
        raise
    except BaseException as error:
        return None, _plainly(error)


async def _cancel_others() -> None:
    """Ends an agent's own background tasks."""
    import asyncio

    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
