"""Agents of asbench's city: how they are made and called; what they derive from is in ``asbench/``.

The same door serves agentsociety's own classes, where it is installed: they are handed our environment,
memory and tools.
"""

from __future__ import annotations

import copy
import inspect
import zlib
from collections.abc import Mapping
from typing import Any

from pytest_agentbench.agents.asbench.absent import not_here
from pytest_agentbench.agents.asbench.environment import Environment
from pytest_agentbench.agents.asbench.memories import Memory
from pytest_agentbench.agents.asbench.toolbox import Toolbox
from pytest_agentbench.agents.framework_calls import Function, made
from pytest_agentbench.agents.frameworks import agent_params_of
from pytest_agentbench.agents.tick_days import Day, life_of, lived
from pytest_agentbench.base.errors import shown
from pytest_agentbench.city.life import Life

# What agentsociety's citizens know of themselves where the profile says nothing.
_UNKNOWN = (
    "name", "gender", "education", "skill", "occupation", "family_consumption", "consumption",
    "personality", "residence", "city", "race", "religion", "marriage_status",
)  # fmt: skip
_PLANNING = "Planning"  # what it writes down for who has no intention
# In agentsociety's order. Releases differ in those they have.
_STEPS = (
    "before_forward", "before_blocks", "forward", "after_blocks", "after_forward", "status_summary",
)  # fmt: skip


class _CityToolbox(Toolbox):
    """The tools of a citizen: the model and the city."""

    def __init__(self, llm: Any, environment: Environment) -> None:
        super().__init__(llm)
        self.environment = environment

    @property
    def messager(self) -> Any:  # type: ignore[override]
        not_here("self.messager", "people do not meet here: each lives by itself")


def citizen_function(owner: type, llm: Any, params: Mapping[str, Any] | None) -> Function:
    """``class X(CitizenAgentBase)`` as a function of the context: a new object for each person."""
    agent_params_of(owner, params)  # what is wrong with them is said at once

    async def call(context: Any) -> Any:
        __tracebackhide__ = True
        life = life_of(context, owner.__name__)
        day = Day(life)
        number = _number(life.profile.get("id"))
        environment = Environment(life, number)
        toolbox, memory = _CityToolbox(llm, environment), _memory(owner, life, number)
        offered = {
            "id": number,
            "name": f"{owner.__name__}_{number}",
            "toolbox": toolbox,
            "memory": memory,
            "agent_params": agent_params_of(owner, copy.deepcopy(params)),
            "blocks": None,
        }
        with day.calling(owner.__name__):
            agent = made(owner, offered)
        # Constructors may pass nothing on.
        agent._id, agent._toolbox, agent._memory = number, toolbox, memory
        for name in ("_bind_to_simulator", "_bind_to_economy"):  # of the real base: neither is here
            if hasattr(agent, name):
                setattr(agent, name, _nothing)
        day.ends_with = getattr(agent, "close", None)
        steps = [name for name in _STEPS if callable(getattr(agent, name, None))]

        async def tick() -> None:
            __tracebackhide__ = True
            await _sync(memory, environment)
            if not life.now.tick and hasattr(agent, "init"):
                with day.calling("init"):
                    await agent.init()
            for name in steps:
                with day.calling(name):
                    done = getattr(agent, name)()
                    if inspect.isawaitable(done):
                        await done
            with day.calling("current_plan"):
                _intend(life, await memory.status.get("current_plan", {}))

        return await lived(day, tick)

    return call


async def _nothing() -> None:
    pass


def _number(person: Any) -> int:
    """The number by which an agent knows itself: the profile's id, or one made of a name."""
    if isinstance(person, int) and not isinstance(person, bool):
        return person
    text = str(person)
    return int(text) if text.isdecimal() else zlib.crc32(text.encode())


def _memory(owner: type, life: Life, number: int) -> Memory:
    """What a citizen knows: itself, and the values that its class begins with."""
    general = dict.fromkeys(_UNKNOWN, "unknown") | {
        "age": 20,
        "income": 5000,
        "currency": 30000,
        "background_story": "No background story",
        "social_network": [],
    }
    attributes = list(getattr(owner, "StatusAttributes", ()))
    named = {one.name for one in attributes}
    known = {key: value for key, value in general.items() if key not in named}
    known |= copy.deepcopy(life.profile)
    for key in ("home", "work"):
        place = getattr(life, key)
        known[key] = None if place is None else {"aoi_position": {"aoi_id": place}}

    def moment() -> dict[str, Any]:
        lane = life.lane
        place = life.here if lane is None else lane[0]
        return {"day": life.now.day, "t": life.now.seconds, "location": place}

    return Memory(attributes, {**known, "id": number}, moment)


async def _sync(memory: Memory, environment: Environment) -> None:
    for key, value in environment.motion().items():
        await memory.status.update(key, value)


def _intend(life: Life, plan: Any) -> None:
    """The intention that agentsociety would write down: the present step of ``current_plan``."""
    if plan:
        try:
            step = plan.get("steps", [])[plan.get("index", 0)]
            life.intend(step.get("intention", _PLANNING))
        except (AttributeError, IndexError, KeyError, TypeError):
            raise ValueError(
                'expected {"index": 0, "steps": [{"intention": …}]} in the status, got '
                + shown(plan)
            ) from None
    elif life.intention is not None:
        life.intend(_PLANNING)
