"""Tool use modules let the model write the call."""

from __future__ import annotations

import pytest
from society_model import ScriptedModel

from pytest_agentbench.agents.websociety import tooluse


@pytest.mark.parametrize("kind", ["IO", "AnyTool", "ToolBench", "ToolBenchFormer", "ToolFormer"])
def test_the_reply_is_the_call(kind):
    model = ScriptedModel("get_user[u1]")
    module = getattr(tooluse, f"ToolUse{kind}")(llm=model)
    assert module("recommend", "look up the user", "found i1") == "get_user[u1]"
    for part in ("recommend", "look up the user", "found i1"):
        assert part in model.asked[0][0]


def test_a_pool_of_tools_is_shown(monkeypatch):
    monkeypatch.setitem(tooluse.tooluse_pool, "recommend", "get_item[id]: an item")
    model = ScriptedModel("get_item[i]")
    tooluse.ToolUseIO(model)("recommend", "look", "")
    assert "get_item[id]: an item" in model.asked[0][0]
