"""The child's stand-ins for tools: they offer what the tool offers, and pass every call on."""

from __future__ import annotations

import copy
import os

import pytest

from pytest_agentbench.agents.process.child import DictTool, Tool


@pytest.fixture
def asked():
    return []


@pytest.fixture
def ask(asked):
    """In the place of the connection to the parent."""

    def ask(call, args, kwargs):
        asked.append((call, args, kwargs))
        return len(asked)

    return ask


def test_a_tool_passes_calls_on_by_name(ask, asked):
    tool = Tool("map.city", ("get_place", "near"), ask)
    assert tool.get_place(7) == 1
    assert tool.near(1, 2, within=3.5) == 2
    assert asked == [
        ("map.city.get_place", (7,), {}),
        ("map.city.near", (1, 2), {"within": 3.5}),
    ]
    assert tool.near.__name__ == "near"


@pytest.mark.parametrize("name", ["get_truth", "_name_of", "__wrapped__"])
def test_a_tool_offers_nothing_else(ask, asked, name):
    tool = Tool("uir", ("get_user", "_name_of"), ask)
    with pytest.raises(AttributeError, match=r"expected a method of uir \(get_user, _name_of\)"):
        getattr(tool, name)
    assert not asked
    assert "get_user" in dir(tool)
    assert repr(tool) == "<tool uir: get_user, _name_of>"


def test_a_copy_of_a_tool_is_the_tool(ask):
    tool = Tool("uir", ("get_user",), ask)
    assert copy.copy(tool) is tool
    assert copy.deepcopy({"uir": [tool]})["uir"][0] is tool


def test_a_dict_that_is_a_tool_is_copied_as_a_dict_and_still_asks(ask, asked):
    tool = DictTool("profile", ("friends",), ask, {"id": 3, "tags": ["a"]})
    assert tool == {"id": 3, "tags": ["a"]}
    shallow, deep = copy.copy(tool), copy.deepcopy(tool)
    deep["tags"].append("b")
    shallow["id"] = 4
    assert tool == {"id": 3, "tags": ["a"]}
    assert shallow["tags"] is tool["tags"]
    assert deep.friends() == 1
    assert asked == [("profile.friends", (), {})]


def test_the_child_is_another_process_that_finds_no_input_and_keeps_its_channel(runs):
    """What the agent reads from standard input, or writes to file descriptor 0, meets no message."""
    assert runs("answer = sys.stdin.read()") == ""
    assert runs("answer = os.read(0, 10).decode()") == ""
    assert runs("answer = sys.argv") == ["agentbench-agent"]
    assert runs("answer = os.getpid()") != os.getpid()
