"""Which samples are asked in one item, and which ahead of their turn."""

from __future__ import annotations

import time

import pytest
from runs.toy_plan import toy_plan
from toy_agents import HALF

from pytest_agentbench.runs.plan import Question


@pytest.mark.parametrize("extra", [[], ["-n2"]], ids=["serial", "xdist"])
def test_a_chunk_is_one_item_and_keeps_every_record(project, extra):
    project.write(agent__py=HALF)
    project.pytest("--benchmark=toysum", "--agent=agent.py", "--run-dir=single")
    result = project.pytest(
        "--benchmark=toysum", "--agent=agent.py", "--chunk=4", "--run-dir=chunked", "-vv", *extra
    )
    result.assert_outcomes(passed=1, failed=4)  # the last chunk, sum[s11] alone, has no mistake
    result.stdout.fnmatch_lines(
        ["*1 of 4 samples have no valid answer", "INVALID toysum::sum[[]s1..s5] -*"]
    )
    single, chunked = (project.scores(project.path / name) for name in ("single", "chunked"))
    assert single["readings"] == chunked["readings"]
    assert single["samples"] == chunked["samples"]
    assert len(project.records(project.path / "chunked")) == 12


def test_a_worker_that_dies_in_a_chunk_costs_the_chunk(project):
    project.write(
        agent__py="import os\ndef agent(c):\n    if c['a'] == 5: os._exit(3)\n    return c['a'] + c['b']\n"
    )
    result = project.pytest("--benchmark=toysum", "--agent=agent.py", "--chunk=3", "-n2")
    assert result.ret == 1
    failed = sorted(r["sample"] for r in project.records() if r["status"] == "error")
    assert failed == ["sum[s5]", "sum[s6]", "sum[s7]"]


@pytest.fixture
def plan():
    made = toy_plan()
    yield made
    made.close()


def test_a_question_that_was_asked_ahead_is_taken_once_and_any_other_is_asked_now(plan):
    right, asked = plan.agent, []

    def agent(context):
        asked.append(context["a"])
        return right(context)

    agent.close = right.close
    plan.agent = agent
    kept = []
    plan.keep = lambda question, _outcome: kept.append(question)
    questions = [Question(index, 1) for index in range(4)]
    plan.answered = frozenset(questions[3:])
    assert not plan.asks_ahead
    plan.ask_ahead(questions)
    assert plan.asks_ahead
    for question in (questions[0], questions[0], questions[3]):
        sample = plan.dataset.sample(question.sample)
        assert plan.outcome(question, sample, agent).answer == sample.truth
    own = plan.outcome(questions[1], plan.dataset.sample(1), lambda context: "another agent's")
    assert own.answer == "another agent's"
    deadline = time.monotonic() + 30
    while len(asked) < 5 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert sorted(asked) == [0, 0, 1, 2, 3]
    while len(kept) < 6 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert sorted(kept) == sorted([*questions, questions[0], questions[1]])


def test_to_stop_asking_needs_nobody_who_asks(plan):
    plan.stop_asking()
    assert not plan.asks_ahead
