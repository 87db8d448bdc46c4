"""A stored run as its answers are, beside what its files say."""

from __future__ import annotations

import json

import pytest
from toy_runs import make_run

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.runs import stored
from pytest_agentbench.scoring import compare
from pytest_agentbench.scoring.verify import verified


def verify(folder):
    run = stored.read(folder)
    settings = stored.settings_of(run)
    return verified(run, settings, stored.load_data(run, settings))


def test_an_honest_run_keeps_its_scores_with_their_intervals(tmp_path):
    folder = make_run(tmp_path / "a", "half", epochs=2)
    assert verify(folder).notes == ()
    assert verify(folder).scores == stored.read(folder).scores
    assert verify(folder).records == stored.read(folder).records


def test_what_scores_json_says_otherwise_is_corrected_and_told(tmp_path):
    folder = make_run(tmp_path / "a", "half")
    path = folder / "scores.json"
    said = json.loads(path.read_text())
    said["readings"]["lenient"]["accuracy"] = {"value": None, "reason": "lost"}
    said["readings"]["exact"]["style"] = {"value": 1.0}
    said["readings"]["exact"]["beauty"] = {"value": 1.0}
    path.write_text(json.dumps(said))
    found = verify(folder)
    honest = stored.read(make_run(tmp_path / "b", "half")).scores
    assert (
        found.scores.metric("accuracy", "lenient").value
        == honest.metric("accuracy", "lenient").value
    )
    assert found.scores.metric("style").value is None
    assert "beauty" not in found.scores.primary_reading
    assert found.notes == ("a: its scores.json says style of exact is 1.0, its answers give None",)


def test_the_scores_of_a_run_that_was_cut_short_may_be_older_than_its_records(tmp_path):
    folder = make_run(tmp_path / "a", "half", only=range(4))
    more = (make_run(tmp_path / "b", "half") / "records.jsonl").read_text()
    (folder / "records.jsonl").write_text(more)
    path = folder / "scores.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "incomplete": "cut short"}))
    assert verify(folder).notes == ()


def test_missing_records_are_refused(tmp_path):
    folder = make_run(tmp_path / "a", "half")
    lines = (folder / "records.jsonl").read_text().splitlines(keepends=True)
    (folder / "records.jsonl").write_text("".join(lines[1:]))
    with pytest.raises(BenchmarkError, match=r"counts 12 answers, and its records\.jsonl has 11"):
        verify(folder)


def test_without_the_samples_nothing_is_measured_and_nothing_believed(tmp_path):
    folder = make_run(tmp_path / "a", "half")
    run = stored.read(folder)
    settings = stored.settings_of(run)
    dataset = stored.load_data(run, settings)
    dataset.samples_here = False
    with pytest.raises(BenchmarkError, match="--engine local"):
        verified(run, settings, dataset)


def test_a_run_without_answers_is_compared_as_recorded_and_said_to_be_so(tmp_path):
    """As a cluster leaves it. It is no baseline: a gate would believe its metrics."""
    whole, bare = (make_run(tmp_path / name, "half") for name in ("whole", "bare"))
    path = bare / "records.jsonl"
    records = [json.loads(line) | {"answer": None} for line in path.read_text().splitlines()]
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    with pytest.raises(BenchmarkError, match="its records hold no answers"):
        verify(bare)
    found = compare.compare(whole, bare)
    assert found.notes == ("bare: as recorded, not recomputed: its records hold no answers",)
