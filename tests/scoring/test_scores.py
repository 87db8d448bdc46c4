"""scores.json: sorted, complete, honest about what is missing."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from pytest_agentbench.runs import run_folder
from pytest_agentbench.runs.record import Record
from pytest_agentbench.runs.scores_file import Score
from pytest_agentbench.runs.stored import StoredRun
from pytest_agentbench.scoring import judge, scores
from pytest_agentbench.settings import gates
from pytest_agentbench.settings.settings import Settings

sys.path.append(str(Path(__file__).parents[1] / "toy"))
from toybench import ToySum

EVERY = [(n, 1) for n in range(12)]


@pytest.fixture
def settings():
    return Settings(
        benchmark=ToySum(), nodeid="toysum", mode="test", dataset="demo", agent="builtin:right",
        reading="exact", parameters={"shift": 0},
        gates=(gates.COVERAGE, gates.parse("accuracy > 0.5")),
    )  # fmt: skip


def records(dataset, off=0):
    made = []
    for index, key in enumerate(dataset.keys):
        sample = dataset.sample(index)
        answer = sample.truth + off
        metrics = ToySum().score_sample(sample, answer)
        made.append(Record("toysum", str(key), "ok", answer=answer, metrics=metrics))
    return made


def test_the_order_of_records_changes_no_bit(settings):
    dataset = settings.benchmark.load(settings)
    made = records(dataset)
    made[3] = Record("toysum", made[3].sample, "timeout")
    indices = [(n, 1) for n in range(len(made))]
    forwards = scores.score(settings, dataset, indices, made)
    backwards = scores.score(settings, dataset, indices, made[::-1])
    assert json.dumps(forwards.as_json()) == json.dumps(backwards.as_json())
    assert forwards.as_json()["samples"] == {
        "total": 12,
        "ok": 11,
        "invalid": 0,
        "error": 0,
        "timeout": 1,
    }


def test_a_sample_without_a_record_stays_in_the_denominator(settings):
    dataset = settings.benchmark.load(settings)
    result = scores.score(settings, dataset, EVERY, records(dataset)[:6])
    assert result.samples.error == 6
    assert result.metric("coverage").value == 0.5
    assert result.metric("accuracy").value == 0.5
    assert result.metric("distance").value is None


def test_readings_stand_side_by_side(settings):
    dataset = settings.benchmark.load(settings)
    result = scores.score(settings, dataset, EVERY, records(dataset, off=1))
    assert result.metric("accuracy").value == 0.0
    assert result.metric("accuracy", "lenient").value == 1.0
    assert [g.passed for g in judge.judge(settings, result, None)] == [True, False]
    assert [g.passed for g in judge.judge(settings, result, "killed")] == [None, None]


def stored_run(folder, scores, records):
    """A run with these scores and records, in its folder."""
    lines = "".join(f"{record.to_json()}\n" for record in records)
    (folder / run_folder.RECORDS).write_text(lines, encoding="ascii")
    return StoredRun(folder, scores, {})


def test_the_paired_difference_is_of_common_samples(settings, tmp_path):
    dataset = settings.benchmark.load(settings)
    old = scores.score(settings, dataset, EVERY, records(dataset, off=1))
    baseline = stored_run(tmp_path, old, records(dataset, off=1)[4:])
    result = scores.score(settings, dataset, EVERY, records(dataset), baseline)
    assert result.baseline.common_samples == 8
    deltas = result.baseline.deltas["exact"]
    assert deltas["accuracy"] == Score(1.0, 1.0, 1.0)
    assert deltas["distance"].value == -1.0
    assert deltas["style"].reason == "numbers have no style"


def test_nothing_in_common_has_no_difference(settings, tmp_path):
    dataset = settings.benchmark.load(settings)
    old = scores.score(settings, dataset, EVERY, records(dataset))
    baseline = stored_run(tmp_path, old, [])
    result = scores.score(settings, dataset, EVERY, records(dataset), baseline)
    assert result.baseline.common_samples == 0


def test_a_number_that_is_not_finite_is_absent(settings, monkeypatch):
    dataset = settings.benchmark.load(settings)
    monkeypatch.setattr(
        ToySum,
        "score_run",
        lambda self, dataset, records: lambda reading, weights: {"accuracy": float("nan")},
    )
    result = scores.score(settings, dataset, EVERY, records(dataset))
    assert result.metric("accuracy") == Score(None, reason="not a finite number (nan)")
