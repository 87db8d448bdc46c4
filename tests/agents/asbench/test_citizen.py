"""The base classes of agents that live in the city."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest
from small_city import CAFE, HOME, WORK, context

from pytest_agentbench.agents.asbench.citizen import (
    CitizenAgentBase,
    DailyMobilityAgent,
    HurricaneMobilityAgent,
)
from pytest_agentbench.agents.asbench.environment import Environment
from pytest_agentbench.agents.asbench.memories import Memory
from pytest_agentbench.agents.errors import NotProvided
from pytest_agentbench.city.life import Life


@pytest.fixture
def life():
    told = context()
    return Life(told["city"], told["profile"], told["simulation"])


@pytest.fixture
def agent(life):
    def agent(owner):
        toolbox = SimpleNamespace(llm="model", environment=Environment(life, 7), messager=None)
        return owner(7, "ada", toolbox, Memory(owner.StatusAttributes))

    return agent


def test_it_knows_itself_and_where_it_is(agent):
    one = agent(CitizenAgentBase)
    asyncio.run(one.init())
    asyncio.run(one.before_forward())
    assert asyncio.run(one.status.get("id")) == 7
    assert asyncio.run(one.status.get("status")) == 1
    assert asyncio.run(one.status.get("position"))["aoi_position"] == {"aoi_id": HOME}
    assert asyncio.run(one.get_nowtime()) == "00:00:00"
    assert asyncio.run(one.get_aoi_info()) == ""
    asyncio.run(one.status_summary())
    assert asyncio.run(one.status.get("status_summary")) == "Nothing"
    asyncio.run(one.save_agent_thought("hm"))
    assert asyncio.run(one.stream.get_all())[0]["description"] == "hm"


def test_forward_is_for_whoever_derives_from_it(agent):
    with pytest.raises(NotImplementedError, match=r"expected forward\(self\) in CitizenAgentBase"):
        asyncio.run(agent(CitizenAgentBase).forward())


def test_people_do_not_meet(agent):
    one = agent(CitizenAgentBase)
    for call in (one.send_message_to_agent, one.register_aoi_message):
        with pytest.raises(NotProvided, match="do not meet"):
            asyncio.run(call(8, "hello"))


@pytest.mark.parametrize("owner", [DailyMobilityAgent, HurricaneMobilityAgent])
@pytest.mark.parametrize(
    ("args", "options", "mode"),
    [
        ([WORK], {}, "driving"), ([WORK, 1], {}, "walking"), ([CAFE], {"mode": "walk"}, "walking"),
        ([(WORK, None)], {}, "driving"),
    ],
)  # fmt: skip
def test_it_goes_to_areas_and_pois(life, agent, owner, args, options, mode):
    one = agent(owner)
    asyncio.run(one.go_to_aoi(*args, **options))
    life.end_tick()
    assert life.here == WORK
    assert life.told()["trips"][0]["mode"] == mode
    assert one.movement_status == [3, 2]


def test_an_intention_is_the_present_step_of_a_plan(agent):
    one = agent(DailyMobilityAgent)
    assert asyncio.run(one.status.get("current_plan")) == {}
    asyncio.run(one.log_intention(one.intention_list[3]))
    assert asyncio.run(one.status.get("current_plan")) == {
        "target": "work", "index": 0, "steps": [{"intention": "work"}],
    }  # fmt: skip
    assert len(one.intention_list) == 7


def test_the_weather(agent):
    assert agent(HurricaneMobilityAgent).get_current_weather() == "The weather is sunny"
