"""What all agents of asbench share, by itself."""

from __future__ import annotations

import asyncio

import pytest

from pytest_agentbench.agents.asbench.agent_base import Agent as AgentBase
from pytest_agentbench.agents.asbench.blocks import AgentContext, AgentParams
from pytest_agentbench.agents.asbench.memories import MemoryAttribute
from pytest_agentbench.agents.asbench.toolbox import Toolbox
from pytest_agentbench.agents.errors import NotProvided


class Params(AgentParams):
    patience: int = 3


class Context(AgentContext):
    mood: str = "calm"


class Agent(AgentBase):
    ParamsType = Params
    Context = Context
    StatusAttributes = (
        MemoryAttribute(name="mood", type=str, default_or_value="calm", description="mood"),
    )


def test_it_has_what_agents_ask_it_for():
    agent = Agent(1, "ada", Toolbox("model"), None)
    assert (agent.id, agent.name, agent.llm) == (1, "ada", "model")
    assert (agent.environment, agent.messager, agent.database_writer) == (None, None, None)
    assert agent.params.patience == 3
    assert agent.context.mood == "calm"
    assert asyncio.run(agent.status.get("mood")) == "calm"
    assert asyncio.run(agent.stream.add("a", "b")) == 0
    for step in (agent.before_forward, agent.after_forward, agent.reset, agent.close):
        asyncio.run(step())


def test_what_it_lacks_is_named():
    with pytest.raises(NotProvided, match=r"self\.dispatcher: it is not part of"):
        _ = Agent().dispatcher
    with pytest.raises(TypeError, match="print_prompts"):  # as asbench's does
        Agent(print_prompts=True)
