"""A person's days: what is called when, within which time, and what is said of what went wrong."""

from __future__ import annotations

import asyncio
import threading
import time
import traceback

import pytest
from small_city import HOME, WORK, context, places_of

from pytest_agentbench.agents import debugging
from pytest_agentbench.agents.errors import (
    AgentTimeout,
    BudgetExceeded,
    DayEnded,
    EndedByAgent,
    NotProvided,
    TransientError,
)
from pytest_agentbench.agents.retry import is_transient, wait_after
from pytest_agentbench.agents.tick_days import Day, life_of, lived, lived_now
from pytest_agentbench.agents.usage import Usage, counting
from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.city.life import NoSuchPlace


def live(action, awaits, **simulation):
    """The days of a person whose agent does ``action(life)`` at each tick."""
    day = Day(life_of(context(**simulation), "Agent"))

    def tick():
        with day.calling("step"):
            action(day.life)

    async def awaited_tick():
        with day.calling("step"):
            done = action(day.life)
            if done is not None:
                await done

    return asyncio.run(lived(day, awaited_tick)) if awaits else lived_now(day, tick)


both = pytest.mark.parametrize("awaits", [True, False])


@both
def test_every_tick_is_lived_and_the_days_are_the_answer(awaits):
    seen = []

    def action(life):
        seen.append((life.now.tick, life.now.clock, life.here))
        if life.now.tick == 1:
            life.go_to(WORK)

    answer = live(action, awaits)
    assert seen == [(0, "00:00", HOME), (1, "01:00", HOME), (2, "02:00", WORK), (3, "03:00", WORK)]
    assert places_of(answer) == [HOME, HOME, WORK, WORK]
    assert answer["step"] == 3600


@both
def test_an_error_says_at_which_tick_and_in_which_call(awaits):
    def action(life):
        if life.now.tick == 2:
            _ = {}["x"]

    with pytest.raises(DayEnded) as raised:
        live(action, awaits)
    assert str(raised.value) == "tick 2 (day 0, 02:00), step(): KeyError: 'x'"
    assert isinstance(raised.value.__cause__, KeyError)
    assert not is_transient(raised.value)
    frames = [frame.name for frame in traceback.extract_tb(raised.value.__traceback__)]
    assert frames[-1] == "action"
    text = "".join(traceback.format_exception(raised.value))
    assert text.count("in action") == 1  # the frames are shown once
    assert "KeyError: 'x'" in text


@both
def test_a_place_that_is_not_there_ends_the_day_though_the_agent_catches_it(awaits):
    ticks = []

    def action(life):
        ticks.append(life.now.tick)
        if life.now.tick == 1:
            try:
                life.go_to(5009)
            except Exception:
                life.go_to(WORK)

    with pytest.raises(
        DayEnded,
        match=r"^tick 1 \(day 0, 01:00\), go_to\(5009\): there is no such place on the map \(places",
    ) as raised:
        live(action, awaits)
    assert isinstance(raised.value.__cause__, NoSuchPlace)
    assert ticks == [0, 1]


@both
def test_the_first_of_two_mistakes_is_told(awaits):
    def action(life):
        try:
            life.go_to(5009)
        except KeyError:
            raise RuntimeError("no way") from None

    with pytest.raises(DayEnded, match=r"go_to\(5009\): there is no such place"):
        live(action, awaits)


class Busy(Exception):
    status_code = 429


@both
@pytest.mark.parametrize(
    ("error", "transient", "status", "longest"),
    [
        (TransientError("busy", retry_after=7.5, status=503), True, 503, 7.5),
        (ConnectionError("lost"), True, None, None),
        (Busy("busy"), True, 429, None),
        (ValueError("wrong"), False, None, None),
    ],
)
def test_transient_errors_stay_transient(awaits, error, transient, status, longest):
    def action(life):
        raise error

    with pytest.raises(DayEnded) as raised:
        live(action, awaits)
    assert is_transient(raised.value) is transient
    assert raised.value.status == status
    assert raised.value.retry_after == longest
    if longest is not None:
        assert wait_after(raised.value, 0) == longest


@both
@pytest.mark.parametrize(
    "error",
    [BudgetExceeded("spent"), NotProvided("a model"), EndedByAgent("exit"), DayEnded("said")],
)
def test_what_is_for_the_run_passes_untouched(awaits, error):
    def action(life):
        raise error

    with pytest.raises(type(error)) as raised:
        live(action, awaits)
    assert raised.value is error


@both
def test_the_usage_knows_how_far_it_came(awaits):
    usage = Usage()

    def action(life):
        assert str(usage.tick) == f"tick {life.now.tick} ({life.now})"

    with counting(usage):
        live(action, awaits)
    assert usage.tick == (3, 0, 10_800)


@both
def test_a_tick_that_takes_too_long_ends_the_day(awaits):
    released = threading.Event()

    def action(life):
        if life.now.tick == 2 and awaits:
            return asyncio.sleep(600)
        if life.now.tick == 2:
            released.wait(600)
        return None

    with pytest.raises(
        AgentTimeout,
        match=r"^tick 2 \(day 0, 02:00\): it did not end within 1 s \(tick_timeout\)$",
    ):
        live(action, awaits, tick_timeout=1.0)
    released.set()


@both
def test_ticks_in_their_time_make_a_day(awaits):
    variables = []

    def action(life):
        variables.append(life.now.tick)
        return asyncio.sleep(0) if awaits else None

    assert len(live(action, awaits, tick_timeout=60.0)["rows"]) == 4
    assert variables == [0, 1, 2, 3]


def test_code_that_blocks_the_loop_is_told_off_afterwards():
    with pytest.raises(AgentTimeout, match="tick 0 "):
        live(lambda life: time.sleep(0.05), True, tick_timeout=0.01)


@pytest.mark.parametrize("error", [SystemExit("over"), KeyError("x")])
@both
def test_errors_within_a_limit_are_the_same(awaits, error):
    def action(life):
        raise error

    with pytest.raises(
        (SystemExit, DayEnded), match=r"over|tick 0 \(day 0, 00:00\), step\(\): KeyError"
    ):
        live(action, awaits, tick_timeout=60.0)


@both
def test_with_a_debugger_ticks_take_as_long_as_they_take(awaits):
    debugging.enter()
    try:
        assert live(lambda life: time.sleep(0.002), awaits, tick_timeout=0.001, steps=1)["rows"]
    finally:
        debugging.end()


@both
@pytest.mark.parametrize("fails", [False, True])
def test_an_agent_is_closed_at_the_end_and_after_an_error(awaits, fails):
    closed = []
    day = Day(life_of(context(), "Agent"))

    def action():
        with day.calling("step"):
            if fails:
                raise KeyError("x")

    async def awaited():
        action()

    async def close():
        closed.append(True)

    day.ends_with = close if awaits else lambda: closed.append(True)
    ending = pytest.raises(DayEnded) if fails else pytest.MonkeyPatch.context()
    with ending:
        asyncio.run(lived(day, awaited)) if awaits else lived_now(day, action)
    assert closed == [True]


@both
def test_what_goes_wrong_at_the_end_is_told_unless_something_went_wrong_before(awaits):
    def close():
        raise RuntimeError("cannot close")

    def days(action):
        day = Day(life_of(context(), "Agent"))
        day.ends_with = close

        def tick():
            with day.calling("step"):
                action()

        async def awaited():
            tick()

        return asyncio.run(lived(day, awaited)) if awaits else lived_now(day, tick)

    with pytest.raises(DayEnded, match=r"tick 3 .*, close\(\): RuntimeError: cannot close"):
        days(lambda: None)
    with pytest.raises(DayEnded, match=r"tick 0 .*, step\(\): ZeroDivisionError"):
        days(lambda: 1 // 0)


@pytest.mark.parametrize("given", [{"profile": {}, "city": None}, 4, None])
def test_without_a_city_to_live_in_such_an_agent_is_refused(given):
    with pytest.raises(
        BenchmarkError,
        match=r"--agent: Walker lives in a city tick by tick, and this benchmark has no city to live in",
    ):
        life_of(given, "Walker")


def test_data_without_a_map_say_what_is_missing():
    with pytest.raises(
        BenchmarkError, match=r"lives in the city tick by tick needs one: .*places\.csv"
    ):
        life_of({**context(), "city": None}, "Walker")
    lost = {"id": 1, "home": 500_034_881, "work": None}
    with pytest.raises(BenchmarkError, match=r"home 500034881 of person 1 is not on the map"):
        life_of(context(profile=lost), "Walker")
