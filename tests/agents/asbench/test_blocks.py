"""Parameters and blocks, with pydantic and without."""

from __future__ import annotations

import asyncio
import importlib.util
import sys

import pytest

from pytest_agentbench.agents.asbench import blocks
from pytest_agentbench.agents.asbench.individual import IndividualAgentBase
from pytest_agentbench.agents.asbench.toolbox import Toolbox


@pytest.fixture(params=["with pydantic", "without"])
def parts(request, monkeypatch):
    if request.param == "with pydantic":
        pytest.importorskip("pydantic")
    else:
        monkeypatch.setitem(sys.modules, "pydantic", None)
    spec = importlib.util.spec_from_file_location("blocks_under_test", blocks.__file__)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "blocks_under_test", module)  # pydantic looks names up there
    spec.loader.exec_module(module)
    return module


def test_parameters_have_defaults_and_are_made_from_a_mapping(parts):
    class Params(parts.AgentParams):
        model: str
        patience: int = 3
        words: list = []

    made = Params.model_validate({"model": "m", "patience": 5})
    assert made.model_dump() == {"model": "m", "patience": 5, "words": []}
    made.words.append("x")
    assert Params(model="n").words == []
    with pytest.raises(ValueError, match="model"):
        Params.model_validate({})


def test_a_block_has_the_agents_model_tools_and_memory(parts):
    class Params(parts.BlockParams):
        depth: int = 2

    class Read(parts.Block):
        ParamsType = Params
        NeedAgent = True
        calls = ()

        async def before_forward(self):
            self.calls = (*self.calls, "before")

        async def after_forward(self):
            self.calls = (*self.calls, "after")

        async def forward(self, agent_context):
            return self.llm, self.depth, self.memory, self.environment, self.agent.id

    block = Read(Toolbox("model"), "memory", Params(depth=4))
    block.context.note = "n"
    assert block.context == {"note": "n"}
    assert block.context.nothing is None
    agent = IndividualAgentBase(id=7, toolbox=block.toolbox, blocks=[block])
    assert asyncio.run(block.forward(None)) == ("model", 4, "memory", None, 7)
    asyncio.run(agent.before_blocks())
    asyncio.run(agent.after_blocks())
    assert block.calls == ("before", "after")
    with pytest.raises(NotImplementedError, match="expected forward"):
        asyncio.run(parts.Block(Toolbox()).forward(None))
