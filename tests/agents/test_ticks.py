"""Classes of one's own that live tick by tick: found by their shape, and driven."""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from agent_shapes import Model, asked
from small_city import HOME, PARK, PROFILE, WORK, context, places_of

from pytest_agentbench.agents.asbench.citizen import CitizenAgentBase
from pytest_agentbench.agents.ask import ask
from pytest_agentbench.agents.call import LocalAgent
from pytest_agentbench.agents.errors import AgentTimeout, DayEnded
from pytest_agentbench.agents.shapes import function_of
from pytest_agentbench.agents.ticks import is_ticking
from pytest_agentbench.agents.usage import Usage, counting
from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.city.life import Life


class Stepper:
    made = 0

    def __init__(self, city):
        assert isinstance(city, Life)
        type(self).made += 1
        self.city = city

    def step(self, now):
        assert now == self.city.now
        self.city.go_to(WORK if now.tick else HOME)
        self.city.intend("work")


class AsyncStepper(Stepper):
    async def step(self, now):
        await asyncio.sleep(0)
        super().step(now)


class Forwarder(Stepper):
    step = None

    def forward(self):
        self.city.go_to(WORK if self.city.now.tick else HOME)
        self.city.intend("work")


class AsyncForwarder(Forwarder):
    async def forward(self, patience=3):
        super().forward()


KINDS = [Stepper, AsyncStepper, Forwarder, AsyncForwarder]


@pytest.mark.parametrize("owner", KINDS)
def test_each_shape_lives_its_day(owner):
    assert is_ticking(owner)
    function = function_of(owner)
    assert inspect.iscoroutinefunction(function) is owner.__name__.startswith("Async")
    answer = asked(function, context())
    assert places_of(answer) == [HOME, HOME, WORK, WORK]
    assert [row[2] for row in answer["rows"]] == ["work"] * 4


def test_every_person_has_an_object_of_its_own_and_none_is_made_before():
    Stepper.made = 0
    function = function_of(Stepper)
    assert Stepper.made == 0
    asked(function, context())
    asked(function, context())
    assert Stepper.made == 2


class NoCity:
    def step(self, now): ...


class Answers:
    def __init__(self, city): ...

    def forward(self, context):
        return context


class AnswersByName:
    def __init__(self, city): ...

    def forward(self, *, context):
        return context


class Anything:
    def __init__(self, **options): ...

    def step(self, now): ...


@pytest.mark.parametrize("owner", [NoCity, Answers, AnswersByName, Anything, int, len])
def test_whoever_does_not_take_the_city_does_not_live_in_it(owner):
    assert not is_ticking(owner)


def test_the_classes_of_asbench_live_in_it():
    assert is_ticking(type("Citizen", (CitizenAgentBase,), {}))


class Knows:
    def __init__(self, city, profile, llm, agent_params=None):
        self.city, self.profile, self.llm, self.params = city, profile, llm, agent_params

    async def step(self, now):
        assert self.profile == self.city.profile
        text = await self.llm.atext_request([{"role": "user", "content": "where?"}])
        self.city.intend(f"{text} {self.params}")


def test_constructors_are_given_what_they_take():
    model = Model()
    answer = asked(function_of(Knows, model, {"pace": 2}), context())
    assert answer["rows"][0][2] == "reply {'pace': 2}"
    assert len(model.asked) == 4
    assert asked(function_of(Knows, model), context())["rows"][0][2] == "reply None"
    with pytest.raises(BenchmarkError, match=r"agent_params: expected .* Stepper \(it has none\)"):
        function_of(Stepper, None, {"pace": 2})
    with pytest.raises(BenchmarkError, match="got 'city'"):
        function_of(Stepper, None, {"city": 2})


class Paced(Knows):
    def __init__(self, city, pace):
        super().__init__(city, city.profile, Model(), pace)


def test_constructors_are_given_parameters_by_name():
    answer = asked(function_of(Paced, None, {"pace": [2]}), context())
    assert answer["rows"][0][2] == "reply [2]"


@pytest.mark.parametrize(
    ("step", "told"),
    [
        (lambda self: None, r"step\(self\)"),
        (lambda self, now, then: None, r"step\(self, now, then\)"),
        (lambda self, *, now: None, r"step\(self, \*, now\)"),
    ],
)
def test_a_step_that_cannot_be_given_the_time_is_refused_before_any_day(step, told):
    owner = type("Timeless", (Stepper,), {"step": step})
    with pytest.raises(
        BenchmarkError, match=rf"--agent: expected step\(self, now\) in Timeless, .*; got {told}"
    ):
        function_of(owner)


@pytest.mark.parametrize(
    "step", [lambda self, *args: None, lambda self, now, more=1: None, lambda self, when=0: None]
)
def test_a_step_that_can_be_given_the_time_is_one(step):
    owner = type("Odd", (Stepper,), {"step": step})
    assert places_of(asked(function_of(owner), context())) == [HOME] * 4


def test_people_share_neither_profile_nor_parameters():
    seen = []

    class Writer(Stepper):
        def __init__(self, city, profile, agent_params):
            super().__init__(city)
            seen.append((len(profile["likes"]), len(agent_params["likes"])))
            profile["likes"].clear()
            agent_params["likes"].clear()

    params, profile = {"likes": ["tea"]}, {**PROFILE, "likes": ["tea", "walks"]}
    function = function_of(Writer, None, params)
    for _ in range(2):
        asked(function, context(profile=profile))
    assert seen == [(2, 1), (2, 1)]


def test_an_object_is_refused_as_it_could_not_serve_several_people():
    told = context()
    life = Life(told["city"], told["profile"], told["simulation"])
    with pytest.raises(BenchmarkError, match="expected the class Stepper, got an object of it"):
        function_of(Stepper(life))


def test_a_constructor_that_fails_is_named():
    class Broken(Stepper):
        def __init__(self, city):
            raise LookupError("no shoes")

    with pytest.raises(
        DayEnded, match=r"^tick 0 \(day 0, 00:00\), Broken\(\): LookupError: no shoes"
    ):
        asked(function_of(Broken), context())


def test_a_plain_method_that_gives_something_to_await_is_refused():
    class Lazy(Stepper):
        def step(self, now):
            return asyncio.sleep(0, loop_of(self))

    def loop_of(agent):
        return agent

    with pytest.raises(DayEnded, match="step: expected a plain function or `async def step`"), \
            pytest.warns(RuntimeWarning, match="never awaited"):  # fmt: skip
        asked(function_of(Lazy), context())


class Sleeper:
    def __init__(self, city):
        self.city = city

    def step(self, now):
        if now.tick == 2:
            threading.Event().wait(600)


class AsyncSleeper(Sleeper):
    async def step(self, now):
        if now.tick == 2:
            await asyncio.sleep(600)


@pytest.mark.parametrize("owner", [Sleeper, AsyncSleeper])
def test_the_time_of_an_agent_bounds_the_whole_day_and_says_how_far_it_came(owner):
    agent = LocalAgent(owner, timeout=2.0)
    with counting(Usage()), pytest.raises(
        AgentTimeout, match=r"^no answer within 2 s; it had reached tick 2 \(day 0, 02:00\)$"
    ):  # fmt: skip
        agent(context())
    agent.close()


@pytest.mark.parametrize("owner", [Sleeper, AsyncSleeper])
def test_the_time_of_a_tick_is_told_as_such_within_that_of_the_day(owner):
    agent = LocalAgent(owner, timeout=60)
    with counting(Usage()), pytest.raises(AgentTimeout, match=r"^tick 2 .*within 1 s"):
        agent(context(tick_timeout=1.0))
    assert places_of(LocalAgent(Stepper, timeout=60)(context())) == [HOME, HOME, WORK, WORK]
    agent.close()


class Crowd:
    """People who begin together; then one of them blocks the loop that they share."""

    there = 0

    def __init__(self, city, profile):
        self.city, self.number = city, profile["id"]

    async def step(self, now):
        if not now.tick:
            type(self).there += 1
            while self.there < 4:
                await asyncio.sleep(0.01)
        elif now.tick == 2 and self.number == 0:
            time.sleep(3.0)
        else:
            await asyncio.sleep(0.1)


@pytest.mark.parametrize(
    ("timeout", "tick_timeout", "told"),
    [
        (2.0, None, "no answer within 2 s; it had reached tick 2 (day 0, 02:00)"),
        (None, 2.0, "tick 2 (day 0, 02:00): it did not end within 2 s (tick_timeout)"),
        (600.0, 2.0, "tick 2 (day 0, 02:00): it did not end within 2 s (tick_timeout)"),
    ],
)
def test_a_person_who_blocks_the_loop_ends_nobody_elses_day(timeout, tick_timeout, told):
    Crowd.there = 0
    agent = LocalAgent(Crowd, timeout=timeout)

    def person(number):
        profile = {"id": number, "home": HOME, "work": None}
        return ask(agent, context(profile=profile, tick_timeout=tick_timeout))

    with ThreadPoolExecutor(4) as pool:
        blocks, *others = pool.map(person, range(4))
    assert str(blocks.error) == told
    assert [(one.error, places_of(one.answer)) for one in others] == [(None, [HOME] * 4)] * 3
    agent.close()


class Meeting:
    """People who wait for each other at every tick: none gets on unless all are asked at once."""

    everybody = threading.Barrier(100, timeout=60)

    def __init__(self, city, llm):
        self.city, self.llm = city, llm

    async def step(self, now):
        await self.llm.atext_request(f"{self.city.profile['id']} at {now.tick}")
        assert self.city.now == now
        self.city.go_to(PARK if (self.city.profile["id"] + now.tick) % 2 else HOME)


class SlowModel:
    """Answers when a hundred people have asked."""

    def __init__(self):
        self.waiting = []

    async def atext_request(self, messages):
        answer = asyncio.get_running_loop().create_future()
        self.waiting.append(answer)
        if len(self.waiting) == 100:
            for one in self.waiting:
                one.set_result("go")
            self.waiting = []
        return await answer


def test_a_hundred_people_wait_for_a_model_at_once_each_in_its_own_clock():
    agent = LocalAgent(Meeting, timeout=120, llm=SlowModel())

    def person(number):
        profile = {"id": number, "home": HOME, "work": None}
        return places_of(agent(context(profile=profile)))

    with ThreadPoolExecutor(100) as pool:
        days = list(pool.map(person, range(100)))
    assert days[0] == [HOME, HOME, PARK, HOME]  # even ids go to the park at odd ticks
    assert days[1] == [HOME, PARK, HOME, PARK]
    assert days == days[:2] * 50
    agent.close()
