"""Answers kept before their records: what is kept, and that the record made of it is the one it would have been."""

from __future__ import annotations

import json

import pytest
from runs.toy_plan import toy_plan

from pytest_agentbench.agents.ask import Outcome
from pytest_agentbench.agents.errors import AgentTimeout
from pytest_agentbench.agents.llm.client import BudgetExceeded
from pytest_agentbench.agents.usage import Usage
from pytest_agentbench.runs.answers import checked, unchecked
from pytest_agentbench.runs.evaluate import evaluate
from pytest_agentbench.runs.plan import Question
from pytest_agentbench.runs.record import Record


@pytest.fixture
def plan():
    return toy_plan()


@pytest.mark.parametrize("answer", [3, -1, "three", None, [1, 2]], ids=repr)
def test_the_record_is_the_one_that_the_answer_would_have_had(plan, answer):
    usage = Usage(counts={"cost": 0.5}, messages=[{"role": "user", "content": "add"}])
    outcome = Outcome(answer=answer, seconds=1.25, usage=usage)
    question = Question(1, 2)
    (expected,), _ = evaluate(plan.benchmark, [plan.dataset.sample(1)], [outcome], 2)
    kept = Record.from_json(unchecked(plan, question, outcome).to_json())
    (record,) = checked(plan, [kept])
    assert json.loads(record.to_json()) == json.loads(expected.to_json())


@pytest.mark.parametrize(
    ("error", "status"), [(ValueError("no"), "error"), (AgentTimeout("slow"), "timeout")]
)
def test_an_error_is_kept_as_the_record_that_it_is(plan, error, status):
    kept = unchecked(plan, Question(1, 1), Outcome(error=error))
    assert kept.status == status
    assert list(checked(plan, [kept])) == [kept]


def test_what_was_not_asked_or_is_too_large_is_not_kept(plan):
    assert unchecked(plan, Question(1, 1), Outcome(error=BudgetExceeded("spent"))) is None
    deep = []
    for _ in range(5000):
        deep = [deep]
    assert unchecked(plan, Question(1, 1), Outcome(answer=deep)) is None


def test_answers_to_other_data_are_passed_over(plan):
    assert not list(checked(plan, [Record("toysum", "sum[elsewhere]", "ok", answer=1)]))
