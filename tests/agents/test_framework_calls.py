"""What the calls of several frameworks share."""

from __future__ import annotations

import pytest

from pytest_agentbench.agents.framework_calls import class_of, derives, made, question, takes
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
