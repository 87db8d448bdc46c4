"""scores.json as dataclasses: written as it was read, and refused where it is not ours."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.runs.model_use import ModelUse
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


def test_what_models_were_asked_is_optional_and_read_back():
    assert read(SMALL).model_use is None
    assert "model_use" not in read(SMALL).as_json()
    use = {"models": ["a", "b"], "calls": 3, "cost": 0.5, "of_a_later_version": 1}
    scores = read({**SMALL, "model_use": use})
    assert scores.model_use == ModelUse(("a", "b"), calls=3, cost=0.5)
    assert read(scores.as_json()) == scores


def test_scores_know_their_metrics():
    scores = read(SMALL)
    assert scores.metric("accuracy") == Score(0.5, 0.25, 0.75)
    assert scores.metric("accuracy", "lenient") == scores.metric("style") == Score()
    assert scores.gates_passed == "-"
    assert scores.notes == []


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"readings": []}, "`readings`: expected an object, got []"),
        ({"benchmark": 3}, "`benchmark`: expected a text, got 3"),
        ({"readings": {"exact": 3}}, "`readings.exact`: expected an object, got 3"),
        ({"readings": {"exact": {"accuracy": 1}}}, "`readings.exact.accuracy`: expected an object, got 1"),
        ({"readings": {"exact": {"accuracy": {"value": "high"}}}},
         "`readings.exact.accuracy.value`: expected a number or null, got 'high'"),
        ({"readings": {"exact": {"accuracy": {"value": True}}}},
         "`readings.exact.accuracy.value`: expected a number or null, got True"),
        ({"readings": {"exact": {"accuracy": {"value": 10**400}}}}, "expected a whole number up to 9007199254740992"),
        ({"primary": "other"}, "`primary`: expected one of the readings (exact), got 'other'"),
        ({"primary": None}, "expected the key `primary`, got schema, benchmark, readings"),
        ({"primary": ["exact"]}, "`primary`: expected a text, got ['exact']"),
        ({"seed": "7"}, "`seed`: expected a whole number, got '7'"),
        ({"partial": 1}, "`partial`: expected true or false, got 1"),
        ({"samples": {"ok": 1.5}}, "`samples.ok`: expected a whole number, got 1.5"),
        ({"samples": {"ok": -1}}, "`samples.ok`: expected a whole number from 0, got -1"),
        ({"gates": {"gate": "a > 1"}}, "`gates`: expected a list"),
        ({"gates": ["a > 1"]}, "`gates[0]`: expected an object, got 'a > 1'"),
        ({"gates": [{"passed": True}]}, "`gates[0]`: expected the key `gate`, got passed"),
        ({"floor": [{"agent": "builtin:half", "readings": {"exact": {"accuracy": "x"}}}]},
         "`floor[0].readings.exact.accuracy`: expected a number or null, got 'x'"),
        ({"epochs": [[1]]}, "`epochs[0]`: expected an object, got [1]"),
        ({"model_use": {"calls": -1}}, "`model_use.calls`: expected a whole number from 0, got -1"),
        ({"details": "none"}, "`details`: expected an object"),
        ({"agent": {"name": ["a.py"]}}, "`agent.name`: expected a text or null, got ['a.py']"),
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
