"""The toolbox of an asbench agent offers its tools in all the ways that agents ask for them."""

from __future__ import annotations

import copy

import pytest

from pytest_agentbench.agents.asbench.toolbox import CustomTool, Toolbox


class Store:
    def get_user(self, user_id):
        return {"user_id": user_id}


def test_a_tool_is_found_in_every_way():
    store = Store()
    toolbox = Toolbox("model", {"uir": store})
    tool = toolbox.get_tool("uir")
    assert toolbox.get_tool_object("uir") is toolbox.uir is tool.get_tool() is tool() is store
    assert tool.get_user("ada") == {"user_id": "ada"}  # the template says get_tool and uses it so
    assert "uir" in toolbox
    assert toolbox.has_tool("uir")
    assert len(toolbox) == 1
    assert toolbox.list_tools() == {"uir": tool}
    assert toolbox.get_tool_info("uir") == toolbox.get_all_tools_info()["uir"]
    assert toolbox.get_tool_info("uir")["type"] == "Store"
    assert copy.copy(tool).name == "uir"


def test_a_tool_of_the_agents_own_is_added_and_removed():
    toolbox = Toolbox()
    assert toolbox  # with or without tools, there is one
    toolbox.add_tool(CustomTool(name="double", tool=lambda x: 2 * x, description="twice"))
    assert toolbox.get_tool("double")(4) == 8
    assert toolbox.remove_tool("double")
    assert not toolbox.remove_tool("double")
    assert toolbox.get_tool("double") is toolbox.get_tool_object("double") is None
    assert toolbox.get_tool_info("double") is None


def test_a_tool_that_is_not_there_is_named():
    with pytest.raises(AttributeError, match=r"a tool that this benchmark has \(uir\), got 'map'"):
        _ = Toolbox(tools={"uir": Store()}).map
