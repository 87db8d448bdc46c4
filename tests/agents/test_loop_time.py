"""Whose time it is while calls share an event loop."""

from __future__ import annotations

import asyncio
import contextvars
import inspect

import pytest

from pytest_agentbench.agents import loop_time
from pytest_agentbench.agents.loop_time import CALL, Call, LoopTime, measured


@pytest.fixture
def wait(monkeypatch):
    """Lets seconds go by."""
    now = [100.0]
    monkeypatch.setattr(loop_time.time, "monotonic", lambda: now[0])

    def go_by(seconds):
        now[0] += seconds

    return go_by


def test_a_calls_time_stands_still_while_another_holds_the_loop(wait):
    times, one, other = LoopTime(), Call(), Call()
    begun = {call: times.clock(call) for call in (one, other, None)}

    def gone(call):
        return times.clock(call) - begun[call]

    wait(1.0)  # nobody holds it
    assert (gone(one), gone(other), gone(None)) == (1.0, 1.0, 1.0)
    former = times.enter(one)
    assert times.holder is one
    wait(4.0)
    assert (gone(one), gone(other), gone(None)) == (5.0, 1.0, 1.0)  # a hold that goes on
    times.leave(former)
    assert times.holder is None
    assert (gone(one), gone(other), gone(None)) == (5.0, 1.0, 1.0)
    wait(2.0)
    assert (gone(one), gone(other)) == (7.0, 3.0)
    assert (one.own, other.own) == (4.0, 0.0)


def test_steps_within_steps_are_each_for_their_own(wait):
    times, one, other = LoopTime(), Call(), Call()
    begun = times.clock(one)
    outer = times.enter(one)
    wait(1.0)
    inner = times.enter(other)
    wait(10.0)
    times.leave(inner)
    wait(100.0)
    times.leave(outer)
    assert (one.own, other.own) == (101.0, 10.0)
    assert times.clock(one) - begun == 101.0


def test_what_a_call_leaves_behind_is_everybodys_time(wait):
    """Or a task that goes on for ever would let nobody time out."""
    times, gone, waits = LoopTime(), Call(), Call()
    begun = times.clock(waits)
    former = times.enter(gone)
    wait(1.0)
    gone.ended = True
    wait(1.0)
    assert times.holder is None
    assert times.clock(waits) - begun == 2.0
    times.leave(former)
    times.leave(times.enter(gone))
    assert times.clock(waits) - begun == 2.0


def test_tasks_of_a_call_are_measured_with_those_that_it_starts(wait):
    one, other = Call(), Call()

    async def busy(seconds):
        wait(seconds)
        await asyncio.sleep(0)
        wait(seconds)

    async def parent():
        wait(1.0)
        await asyncio.gather(busy(2.0), busy(3.0))

    async def calls():
        times = measured(asyncio.get_running_loop())
        assert measured(asyncio.get_running_loop()) is times
        begun = times.clock(one), times.clock(other)
        tasks = []
        for call, coroutine in ((one, parent()), (other, busy(100.0))):
            context = contextvars.copy_context()
            context.run(CALL.set, call)
            tasks.append(context.run(asyncio.ensure_future, coroutine))
        await asyncio.gather(*tasks)
        return times.clock(one) - begun[0], times.clock(other) - begun[1]

    assert asyncio.run(calls()) == (11.0, 200.0)
    assert (one.own, other.own) == (11.0, 200.0)


def test_a_measured_task_is_a_task_as_any_other():
    async def fails():
        raise KeyError("x")

    async def waits():
        try:
            await asyncio.sleep(600)
        except asyncio.CancelledError:
            return "cancelled"

    async def calls():
        loop = asyncio.get_running_loop()
        measured(loop)
        with pytest.raises(KeyError, match="x"):
            await loop.create_task(fails())
        task = asyncio.ensure_future(waits())
        await asyncio.sleep(0)
        # As libraries look at tasks.
        assert inspect.getcoroutinestate(task.get_coro()) == inspect.CORO_SUSPENDED
        assert "waits" in repr(task)
        assert [frame.f_code.co_name for frame in task.get_stack()] == ["waits"]
        task.cancel()
        return await task

    assert asyncio.run(calls()) == "cancelled"


def test_the_factory_of_a_loop_stays_in_use():
    made = []

    def factory(loop, coroutine, **options):
        made.append(coroutine.__name__)
        return asyncio.Task(coroutine, loop=loop, **options)

    async def work():
        return 3

    async def calls():
        loop = asyncio.get_running_loop()
        loop.set_task_factory(factory)
        measured(loop)
        return await asyncio.ensure_future(work())

    assert asyncio.run(calls()) == 3
    assert made[0] == "work"  # then what asyncio.run ends with
