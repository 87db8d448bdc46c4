"""What the calls of several frameworks share."""

from __future__ import annotations

import pytest

from pytest_agentbench.agents.framework_calls import (
    class_of,
    derives,
    keywords,
    made,
    question,
    takes,
)
from pytest_agentbench.base.errors import BenchmarkError


class Base:
    pass


class Agent(Base):
    def __init__(self, llm, name="x"):
        self.given = (llm, name)


def test_a_base_is_told_by_its_name():
    assert derives(Agent, "Base", "Other")
    assert derives(Agent(1), "Base")
    assert not derives(Agent, "Agent")


def test_a_class_is_asked_for():
    assert class_of(Agent) is Agent
    with pytest.raises(BenchmarkError, match=r"name the class \(file\.py:Agent\)"):
        class_of(Agent(1))


def test_constructors_get_what_they_take():
    assert made(Agent, {"llm": 1, "toolbox": 2}).given == (1, "x")
    assert isinstance(made(Base, {"llm": 1}), Base)


def test_the_store_is_apart_from_the_question():
    context = {"user_id": "u", "uir": "store"}
    assert question(context) == ({"user_id": "u"}, "store")
    assert context["uir"] == "store"
    assert question(7) == ({"context": 7}, None)


def test_a_parameter_is_known_by_its_name_alone():
    assert takes(Agent, "llm")
    assert not takes(Agent, "city")
    assert not takes(lambda **city: None, "city")
    assert not takes(dict, "city")


def test_parameters_are_arguments_by_name_or_all_in_one():
    assert keywords(Agent, None) == {}
    assert keywords(Agent, {"name": "y"}) == {"name": "y"}
    assert keywords(lambda context, agent_params: 1, {"b": 2}) == {"agent_params": {"b": 2}}
    assert keywords(lambda context, **rest: 1, {"b": 2}, skipped=1) == {"b": 2}
    for taken in ("llm", "context"):
        with pytest.raises(BenchmarkError, match=rf"\(name\), got '{taken}'"):
            keywords(lambda context, llm, name: 1, {taken: 1}, skipped=1)
    with pytest.raises(BenchmarkError, match="got 'context'"):
        keywords(lambda context, **rest: 1, {"context": 1}, skipped=1)
    with pytest.raises(BenchmarkError, match=r"dict \(it has none\), got 'b'"):
        keywords(dict, {"b": 2})
