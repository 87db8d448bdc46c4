"""scores.json as dataclasses: written as it was read, and refused where it is not ours."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.runs.scores_file import GateResult, Score, Scores

SMALL = {
    "schema": 1,
    "benchmark": "toysum",
    "primary": "exact",
    "readings": {"exact": {"accuracy": {"value": 0.5, "low": 0.25, "high": 0.75}}},
}


def read(data):
    return Scores.from_json(data, "run/scores.json")


def written(scores):
    return json.dumps(scores.as_json(), indent=2) + "\n"


def test_a_run_with_everything_is_written_again_to_the_byte(project):
    """Epochs, gates, a floor, notes, and a baseline with the changes of its samples."""
    project.pytest("--benchmark=toysum", "--agent=builtin:half", "--run-dir=old")
    project.pytest("--benchmark=toysum", "--epochs=2", "--baseline=old", "--gate=delta(style) > 0")
    text = (project.runs()[-1] / "scores.json").read_text(encoding="utf-8")
    assert written(read(json.loads(text))) == text
    assert {"epochs", "baseline", "floor", "gates"} <= set(json.loads(text))


@pytest.mark.parametrize("name", ["half", "finished", "cut_short"])
def test_scores_of_0_1_0_are_written_again_to_the_byte(name):
    path = Path(__file__).parent / "written_by_0_1_0" / name / "scores.json"
    text = path.read_text(encoding="utf-8")
    assert written(read(json.loads(text))) == text


def test_scores_know_their_metrics():
    scores = read(SMALL)
    assert scores.metric("accuracy") == Score(0.5, 0.25, 0.75)
    assert scores.metric("accuracy", "lenient") == scores.metric("style") == Score()
    assert scores.gates_passed == "-"
    assert scores.notes == []


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"readings": []}, "expected the scores of a run with `benchmark` and `readings`"),
        ({"benchmark": 3}, "expected the scores of a run with `benchmark` and `readings`"),
        ({"readings": {"exact": 3}}, "expected `exact` to be an object, got 3"),
        ({"readings": {"exact": {"accuracy": 1}}}, "expected `accuracy` to be an object, got 1"),
        ({"readings": {"exact": {"accuracy": {"value": "high"}}}}, "a finite accuracy or null, got 'high'"),
        ({"readings": {"exact": {"accuracy": {"value": 1, "low": float("inf")}}}}, "a finite accuracy or null, got inf"),
        ({"readings": {"exact": {"accuracy": {"value": True}}}}, "a finite accuracy or null, got True"),
        ({"primary": "other"}, "`primary` to be one of the readings (exact), got 'other'"),
        ({"primary": None}, "expected `primary` in `scores`"),
        ({"primary": ["exact"]}, "expected `primary` to be a text, got ['exact']"),
        ({"seed": "7"}, "expected `seed` to be a whole number, got '7'"),
        ({"partial": 1}, "expected `partial` to be true or false, got 1"),
        ({"samples": {"total": None, "ok": 1.5}}, "expected `ok` to be a whole number, got 1.5"),
        ({"gates": {"gate": "a > 1"}}, "expected `gates` to be a list"),
        ({"gates": ["a > 1"]}, "expected `gates` to be an object, got 'a > 1'"),
        ({"gates": [{"passed": True}]}, "expected `gate` in `gates`"),
        ({"baseline": {"run": "old", "deltas": {"exact": {"accuracy": {"value": float("nan")}}}}},
         "a finite accuracy or null, got nan"),
        ({"floor": [{"agent": "builtin:half", "readings": {"exact": {"accuracy": "x"}}}]},
         "a finite accuracy or null, got 'x'"),
        ({"epochs": [[1]]}, "expected `epochs` to be an object, got [1]"),
        ({"details": "none"}, "expected `details` to be an object"),
        ({"agent": {"name": ["a.py"]}}, "expected `name` to be a text, got ['a.py']"),
    ],
)  # fmt: skip
def test_what_we_do_not_write_is_refused_with_the_name_of_the_file(changed, said):
    with pytest.raises(BenchmarkError) as caught:
        read({**SMALL, **changed})
    assert str(caught.value).startswith("run/scores.json: ")
    assert said in str(caught.value)


def test_what_is_missing_or_null_is_empty():
    scores = read({**SMALL, "agent": None, "gates": [{"gate": "a > 1", "passed": False}]})
    assert (scores.agent.name, scores.samples.total, scores.incomplete) == (None, 0, None)
    assert scores.gates == (GateResult("a > 1", False),)
    assert scores.gates[0].failure == "no reason was given"


def test_an_undecided_gate_is_told_apart_from_a_failed_one():
    gate = GateResult("a > 1", False, 0.5, 1.0)
    assert gate.failure == "got 0.5 against 1"
    assert dataclasses.replace(gate, reason="no such metric").failure == "no such metric"
    assert dataclasses.replace(gate, passed=True).failure is None
