"""Agents of asbench's city, driven: made as asbench makes them, called in its order."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util

import pytest
from agent_shapes import Model, asked
from small_city import FAR, HOME, PROFILE, WORK, context, places_of

from pytest_agentbench.agents.asbench.blocks import AgentParams
from pytest_agentbench.agents.asbench.citizen import CitizenAgentBase, DailyMobilityAgent
from pytest_agentbench.agents.asbench.memories import MemoryAttribute
from pytest_agentbench.agents.errors import DayEnded, NotProvided
from pytest_agentbench.agents.framework_imports import available
from pytest_agentbench.agents.missing import usage
from pytest_agentbench.agents.shapes import function_of
from pytest_agentbench.base.errors import BenchmarkError

REAL = importlib.util.find_spec("agentsociety") is not None


def live(owner, llm=None, params=None, **simulation):
    return asked(function_of(owner, llm, params), context(**simulation))


class Commuter(DailyMobilityAgent):
    async def forward(self):
        _, seconds = self.environment.get_datetime()
        await self.log_intention("work" if seconds else "sleep")
        await self.go_to_aoi(WORK if seconds else HOME)


def test_a_citizen_lives_its_day():
    answer = live(Commuter)
    assert places_of(answer) == [HOME, HOME, WORK, WORK]
    assert [row[2] for row in answer["rows"]] == ["sleep", "work", "work", "work"]
    assert [(trip["from"], trip["to"]) for trip in answer["trips"]] == [(HOME, WORK)]


def test_the_steps_of_a_tick_come_in_asbenchs_order():
    calls = []

    def noting(name):
        async def step(self):
            calls.append(name)
            await getattr(super(Noting, self), name)()

        return step

    names = [
        "init", "before_forward", "before_blocks", "after_blocks", "after_forward", "status_summary",
        "reset", "close",
    ]  # fmt: skip

    class Noting(CitizenAgentBase):
        locals().update({name: noting(name) for name in names})

        async def forward(self):
            calls.append("forward")

    live(Noting, steps=2)
    tick = [
        "before_forward", "before_blocks", "forward", "after_blocks", "after_forward",
        "status_summary",
    ]  # fmt: skip
    assert calls == ["init", *tick, *tick, "close"]


def test_a_citizen_knows_itself():
    seen = {}

    class Knowing(DailyMobilityAgent):
        StatusAttributes = [
            *DailyMobilityAgent.StatusAttributes,
            MemoryAttribute(name="hunger", type=float, default_or_value=0.5, description="hunger"),
            MemoryAttribute(name="race", type=str, default_or_value="any", description="race"),
        ]

        async def forward(self):
            assert self.environment is not None
            keys = ["id", "age", "gender", "home", "work", "hunger", "race", "income", "skill"]
            seen.update(await self.memory.status.export(keys))
            seen["self"] = (self.id, self.name, self.params)
            seen["default"] = await self.status.get("shoes", "none")
            await self.stream.add(topic="note", description="here")
            seen["notes"] = await self.memory.stream.get_all()
            home = await self.status.get("home")
            home.clear()  # a copy
            assert await self.status.get("home")

    live(Knowing, steps=1)
    assert seen == {
        "id": 7, "age": 40, "gender": "female", "hunger": 0.5, "race": "any", "income": 5000,
        "skill": "unknown", "home": {"aoi_position": {"aoi_id": HOME}},
        "work": {"aoi_position": {"aoi_id": WORK}}, "self": (7, "Knowing_7", None), "default": "none",
        "notes": [{"id": 0, "topic": "note", "description": "here", "day": 0, "t": 0, "location": HOME}],
    }  # fmt: skip


@pytest.mark.parametrize(("person", "number"), [(3, 3), ("12", 12), ("ada", 2372962152)])
def test_the_number_of_a_citizen_is_that_of_the_profile(person, number):
    class Numbered(CitizenAgentBase):
        async def forward(self):
            assert self.id == number == await self.status.get("id")
            await self.environment.set_aoi_schedules(self.id, WORK)

    assert places_of(live(Numbered, profile={**PROFILE, "id": person}, steps=2)) == [HOME, WORK]


def test_who_has_no_work_has_none():
    class Idle(CitizenAgentBase):
        async def forward(self):
            assert await self.status.get("work") is None

    live(Idle, profile={**PROFILE, "work": None})


def test_the_status_follows_the_person():
    seen = []

    class Traveller(DailyMobilityAgent):
        async def before_forward(self):
            """Forgets to call super: the status is right all the same."""

        async def forward(self):
            seen.append(
                (
                    await self.status.get("status"),
                    "aoi_position" in await self.status.get("position"),
                )
            )
            await self.go_to_aoi(FAR)

    live(Traveller)
    assert seen == [(1, True), (2, False), (1, True), (1, True)]  # 30 km take 78 minutes


def test_an_intention_may_be_written_as_a_plan_and_taken_back():
    class Planner(CitizenAgentBase):
        async def forward(self):
            plans = [
                None,
                {"index": 1, "steps": [{"intention": "sleep"}, {"intention": "work"}]},
                {"steps": [{}]},
                {},
            ]
            plan = plans[self.environment.get_tick() // 3600]
            if plan is not None:
                await self.status.update("current_plan", plan)

    rows = live(Planner)["rows"]
    assert [row[2] for row in rows] == [None, "work", "Planning", "Planning"]


def test_a_plan_without_a_present_step_is_named():
    class Planner(CitizenAgentBase):
        async def forward(self):
            await self.status.update("current_plan", {"index": 3, "steps": []})

    with pytest.raises(
        DayEnded, match=r"tick 0 .*current_plan\(\): ValueError: expected .*\"steps\""
    ):
        live(Planner)


def test_parameters_and_the_model_reach_it():
    class Params(AgentParams):
        pace: int = 3

    class Tuned(DailyMobilityAgent):
        ParamsType = Params

        async def forward(self):
            reply = await self.llm.atext_request([{"role": "user", "content": "?"}])
            await self.log_intention(f"{reply} {self.params.pace}")

    assert live(Tuned, Model(), {"pace": 5}, steps=1)["rows"][0][2] == "reply 5"
    assert live(Tuned, Model(), steps=1)["rows"][0][2] == "reply 3"
    with pytest.raises(BenchmarkError, match="agent_params: expected the fields of Params"):
        function_of(Tuned, None, {"pace": "fast"})


def test_a_constructor_may_pass_nothing_on():
    class Forgetful(DailyMobilityAgent):
        def __init__(self):
            super().__init__()

        async def forward(self):
            await self.go_to_aoi(WORK)

    assert places_of(live(Forgetful, steps=2)) == [HOME, WORK]


@pytest.mark.parametrize(
    ("step", "told"),
    [
        ("init", r"tick 0 \(day 0, 00:00\), init\(\): KeyError: 'x'"),
        ("forward", r"tick 0 \(day 0, 00:00\), forward\(\): KeyError: 'x'"),
        ("after_forward", r"tick 0 \(day 0, 00:00\), after_forward\(\): KeyError: 'x'"),
    ],
)
def test_errors_name_the_step(step, told):
    async def fail(self):
        raise KeyError("x")

    async def forward(self):
        pass

    owner = type("Failing", (CitizenAgentBase,), {"forward": forward, step: fail})
    with pytest.raises(DayEnded, match=told):
        live(owner)


def test_a_place_that_is_not_there_is_told_with_tick_and_call():
    class Lost(DailyMobilityAgent):
        async def forward(self):
            if self.environment.get_tick() >= 7200:
                try:
                    await self.go_to_aoi(5009)
                except Exception:
                    await self.go_to_aoi(HOME)

    with pytest.raises(
        DayEnded,
        match=r"^tick 2 \(day 0, 02:00\), go_to_aoi\(5009\): there is no such place on the map \(places\.csv",
    ):
        live(Lost)


def test_what_is_missing_marks_the_sample_though_the_agent_catches_everything():
    class Chatty(CitizenAgentBase):
        async def forward(self):
            with contextlib.suppress(Exception):
                await self.messager.send_message("hello")

    told = usage.Usage()
    with usage.counting(told), pytest.raises(NotProvided, match=r"self\.messager: .*do not meet"):
        live(Chatty)
    assert [one.what for one in told.missing] == ["self.messager"]


def test_an_agent_goes_on_without_a_call_that_was_never_published():
    class Trying(DailyMobilityAgent):
        async def forward(self):
            try:
                self.environment.get_aoi_xy(HOME)
            except Exception:
                await self.go_to_aoi(WORK)

    assert places_of(live(Trying, steps=2)) == [HOME, WORK]


def test_a_citizen_with_plain_steps_works():
    class Plain(CitizenAgentBase):
        def forward(self):
            self.context.ticks = (self.context.ticks or 0) + 1

        def close(self):
            assert self.context.ticks == 4

    live(Plain)


@pytest.mark.skipif(not REAL, reason="agentsociety is not installed")
@pytest.mark.filterwarnings("default")  # its own imports warn
def test_the_real_classes_are_driven_through_the_same_door():
    with available():
        from agentsociety.agent import CitizenAgentBase as RealBase
        from agentsociety_benchmark.benchmarks.DailyMobility.template_agent import (
            DailyMobilityAgent as RealAgent,
        )

    assert RealBase.__module__ == "agentsociety.agent.agent"

    class Real(RealAgent):
        async def forward(self):
            assert isinstance(self, RealBase)
            await asyncio.sleep(0)
            await self.log_intention("work")
            await self.go_to_aoi(WORK)

    with available():
        answer = live(Real)
    assert places_of(answer) == [HOME, WORK, WORK, WORK]
    assert answer["rows"][-1][2] == "work"
