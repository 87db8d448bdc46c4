"""Reasoning modules: how often each asks, and what it makes of the replies."""

from __future__ import annotations

import pytest
from society_model import ScriptedModel

from pytest_agentbench.agents.websociety import reasoning


def made(kind, *replies):
    model = ScriptedModel(*replies)
    module = getattr(reasoning, f"Reasoning{kind}")(profile_type_prompt="", memory=None, llm=model)
    return module, model


@pytest.mark.parametrize("kind", ["IO", "COT", "DILU"])
def test_some_ask_once(kind):
    module, model = made(kind, "the answer")
    assert module("the task", feedback="too long") == "the answer"
    assert "the task" in model.asked[0][-1]
    assert "too long" in model.asked[0][-1]
    assert len(model.asked[0]) == (2 if kind == "DILU" else 1)  # with a system text
    assert model.temperature == 0.1


def test_of_five_the_most_common():
    module, model = made("COTSC", "a", "b", "c", "b", "d")
    assert module("the task") == "b"
    assert len(model.asked) == 1


@pytest.mark.parametrize(("vote", "chosen"), [("Answer 2 is best: 2", "b"), ("none of the 9", "a")])
def test_of_three_the_one_that_the_model_votes_for(vote, chosen):
    module, model = made("TOT", "a", "b", "c", vote)
    assert module("the task") == chosen
    assert "Answer 3:\nc" in model.asked[1][0]


def test_an_answer_is_refined_once():
    module, model = made("SelfRefine", "first", "second")
    assert module("the task") == "second"
    assert "first" in model.asked[1][0]


def test_a_principle_comes_first():
    module, model = made("StepBack", "taste", "the answer")
    assert module("the task") == "the answer"
    assert "taste" in model.asked[1][0]


def test_there_are_no_examples():
    module, _ = made("IO")
    assert module.process_task_description("the task") == ("", "the task")
