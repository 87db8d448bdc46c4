"""The days of one person, tick by tick: what is called in which order, within its time, and what went wrong where."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, NoReturn

from pytest_agentbench.agents import debugging, retry
from pytest_agentbench.agents.call_threads import CallThread, OutOfTime
from pytest_agentbench.agents.errors import AgentTimeout, DayEnded
from pytest_agentbench.agents.loop_time import CALL, SHORTEST_LOOK, measured
from pytest_agentbench.agents.tracebacks import to_agent
from pytest_agentbench.agents.usage import CURRENT, Tick
from pytest_agentbench.base.errors import BenchmarkError, told
from pytest_agentbench.city.life import Life, NoSuchPlace, NotOnMap


class GuardedLife(Life):
    """A life that remembers a way to nowhere: it ends the day, though the agent catches the error."""

    lost: NoSuchPlace | None = None
    tick_timeout: float | None = None

    def schedule(self, stops: Iterable[Any]) -> None:
        __tracebackhide__ = True
        try:
            super().schedule(stops)
        except NoSuchPlace as error:
            self.lost = self.lost or error
            raise


def life_of(context: Any, agent: str) -> GuardedLife:
    """The life that a context gives; :class:`BenchmarkError` where it gives none."""
    if not isinstance(context, Mapping) or "simulation" not in context:
        raise BenchmarkError(
            f"--agent: {agent} lives in a city tick by tick, and this benchmark has no city to live in "
            "(or one sample stands for all its people): expected an agent that answers a context, as "
            "`agentbench new-agent BENCHMARK` prints one"
        )
    try:
        life = GuardedLife(context.get("city"), context["profile"], context["simulation"])
    except BenchmarkError as error:
        # Raised here it has no frame that is shown: it is the data that lack something, not the code.
        raise type(error)(str(error)) from None
    life.tick_timeout = context["simulation"].get("tick_timeout")
    return life


def check_lives(contexts: Iterable[Any], agent: str) -> None:
    """:class:`BenchmarkError` where nobody of these can live: said once, before the first is asked."""
    first, count = None, 0
    for context in contexts:
        try:
            life_of(context, agent)
        except NotOnMap as error:
            first, count = first or error, count + 1
        else:
            return
    if first is not None:
        raise BenchmarkError(f"{first}; of {count} people who would be asked nobody can live there")


class Day:
    """What happens around the agent in all ticks of a person's life."""

    def __init__(self, life: GuardedLife) -> None:
        self.life = life
        self.limit: float | None = life.tick_timeout
        self.ends_with: Callable[[], Any] | None = None  # the agent's close
        self._usage = CURRENT.get()
        self.begin()

    def begin(self) -> None:
        now = self.life.begin_tick()
        self._tick = Tick(now.tick, now.day, now.seconds)
        if self._usage is not None:
            self._usage.begin(self._tick)

    def end(self) -> None:
        __tracebackhide__ = True
        if self.life.lost is not None:
            self.fail(self.life.lost, "")
        self.life.end_tick()

    def calling(self, name: str) -> _Calling:
        """Around a call of the agent: what it raises ends the day, and says where."""
        return _Calling(self, name)

    def out_of_time(self) -> AgentTimeout:
        return AgentTimeout(f"{self._tick}: it did not end within {self.limit:g} s (tick_timeout)")

    def fail(self, error: Exception, name: str) -> NoReturn:
        """Ends the day. A place that is not there says itself which call named it."""
        __tracebackhide__ = True
        text, trace = f"{name}(): {type(error).__name__}: {told(error)}", error.__traceback__
        if error is self.life.lost:
            text, trace = str(error), to_agent(trace)
        status = next((s for s in retry.statuses_of(error) if type(s) is int), None)
        ended = DayEnded(
            f"{self._tick}, {text}",
            transient=retry.is_transient(error),
            status=status,
            retry_after=retry.asked_wait(error),
        )
        # The frames of the agent are shown once, with the message that says more.
        raise ended.with_traceback(trace) from error.with_traceback(None)


class _Calling:
    # A class as those of contextlib: a generator would stand in the agent's traceback.
    __slots__ = ("_day", "_name")

    def __init__(self, day: Day, name: str) -> None:
        self._day = day
        self._name = name

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        __tracebackhide__ = True
        if isinstance(error, Exception) and not isinstance(error, (AgentTimeout, DayEnded)):
            self._day.fail(self._day.life.lost or error, self._name)


async def lived(day: Day, tick: Callable[[], Awaitable[None]]) -> dict[str, Any]:
    """Lives all ticks of a life whose agent is to be awaited; the days as an answer."""
    __tracebackhide__ = True
    limited = day.limit is not None and not debugging.is_used()
    try:
        for _ in range(day.life.steps):
            day.begin()
            if limited:
                await _within(day, tick)
            else:
                await tick()
            day.end()
    except BaseException:
        await _closed_in_spite(day)
        raise
    if day.ends_with is not None:
        with day.calling("close"):
            closing = day.ends_with()
            if inspect.isawaitable(closing):
                await closing
    return day.life.told()


async def _within(day: Day, tick: Callable[[], Awaitable[None]]) -> None:
    """A tick in its time. Code that blocks the loop cannot be interrupted: it is told off afterwards.

    What other people's agents hold the loop for is not its time.
    """
    __tracebackhide__ = True
    import asyncio

    async def outcome() -> BaseException | None:
        try:
            await tick()
        except BaseException as error:  # one that leaves a task may end the loop
            return error
        return None

    assert day.limit is not None
    call, times = CALL.get(), measured(asyncio.get_running_loop())
    end = times.clock(call) + day.limit
    task = asyncio.ensure_future(outcome())
    try:
        done, left = set[Any](), day.limit
        while not done and left > 0:
            done, _ = await asyncio.wait({task}, timeout=max(left, SHORTEST_LOOK))
            left = end - times.clock(call)
    finally:
        task.cancel()
    if not done or left < 0:
        raise day.out_of_time()
    if (error := task.result()) is not None:
        raise error


async def _closed_in_spite(day: Day) -> None:
    """Closes an agent whose day went wrong; what went wrong first is what is told."""
    if day.ends_with is not None:
        with contextlib.suppress(Exception):
            closing = day.ends_with()
            if inspect.isawaitable(closing):
                await closing


def lived_now(day: Day, tick: Callable[[], None]) -> dict[str, Any]:
    """Lives all ticks of a life whose agent is plain functions; the days as an answer."""
    __tracebackhide__ = True
    thread = None if day.limit is None or debugging.is_used() else CallThread()
    try:
        for _ in range(day.life.steps):
            day.begin()
            if thread is None or day.limit is None:
                tick()
            else:
                try:
                    thread.call(tick, day.limit)
                except OutOfTime:
                    raise day.out_of_time() from None
            day.end()
    except BaseException:
        if day.ends_with is not None:
            with contextlib.suppress(Exception):
                day.ends_with()
        raise
    finally:
        if thread is not None:
            thread.end()
    if day.ends_with is not None:
        with day.calling("close"):
            day.ends_with()
    return day.life.told()
