"""Planning modules ask once and read the plan out of the reply."""

from __future__ import annotations

import pytest
from society_model import ScriptedModel

from pytest_agentbench.agents.websociety import planning

KINDS = [
    getattr(planning, f"Planning{kind}")
    for kind in ("IO", "DEPS", "TD", "Voyager", "OPENAGI", "HUGGINGGPT")
]


@pytest.mark.parametrize("kind", KINDS)
def test_the_plan_is_the_dicts_of_the_reply(kind):
    model = ScriptedModel("1. {'description': 'look'}\n2. {\"description\": null}\n3. {broken")
    module = kind(llm=model)
    plan = module("a recommendation", "rank these", feedback="too short", few_shot="as here")
    assert plan == module.plan == [{"description": "look"}, {"description": None}]
    assert model.temperature == 0.1
    for part in ("a recommendation", "rank these", "too short", "as here"):
        assert part in model.asked[0][0]


def test_what_is_no_dict_is_left_out():
    module = planning.PlanningIO(ScriptedModel("{a, b} and {'x': 1}"))
    assert module("t", "d", "") == [{"x": 1}]


def test_prompts_differ():
    prompts = {kind(None).create_prompt("t", "d", "", "few_shot") for kind in KINDS}
    assert len(prompts) == len(KINDS)


def test_an_agent_may_write_its_own_prompt():
    class Own(planning.PlanningBase):
        def create_prompt(self, task_type, task_description, feedback, few_shot):
            return f"{task_type}: {task_description}"

    model = ScriptedModel("{'description': 'choose'}")
    assert Own(llm=model)(task_type="T", task_description="D", feedback="") == [
        {"description": "choose"}
    ]
    assert model.asked == [["T: D"]]
    with pytest.raises(NotImplementedError, match="expected create_prompt in PlanningBase"):
        planning.PlanningBase(None)("t", "d", "")
