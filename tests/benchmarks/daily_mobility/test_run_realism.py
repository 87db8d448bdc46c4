"""The days of a run beside its published numbers: who counts, what is compared, and old records."""

from __future__ import annotations

import json

import numpy as np
import pytest

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks.daily_mobility import run_realism, scoring
from pytest_agentbench.benchmarks.daily_mobility.benchmark import DailyMobility
from pytest_agentbench.benchmarks.days import realism
from pytest_agentbench.metrics.estimator import Absent
from pytest_agentbench.metrics.estimator_part import part_of
from pytest_agentbench.runs.record import Record

BENCHMARK = DailyMobility()
VALUES = {
    "gyration_radius": 0.0,
    "daily_location_numbers": 1.0,
    "intention_sequences": [1] * 48,
    "intention_proportions": [1.0, 0, 0, 0, 0, 0, 0],
}
OUT = [
    {"start": 0, "place": 1, "intention": "sleep"},
    {"start": 18, "place": 2, "intention": "work"},
    {"start": 36, "place": 1, "intention": "sleep"},
]
REFERENCE = {
    "note": "made up",
    "people": [
        {"profile": {"home": 1, "age": 31}, "visits": [[0, 1, 1], [30600, 2, 4], [64800, 1, 1]]},
        {"profile": {"home": 1, "age": 70}, "visits": [[0, 1, 1]]},
    ],
}


def records_of(dataset, answers):
    """Of each sample its answer; None: it failed."""
    return [
        Record("DailyMobility", str(key), "error" if answer is None else "ok",
               answer=None if answer is None else BENCHMARK.check(dataset.sample(n), answer))
        for n, (key, answer) in enumerate(zip(dataset.keys, answers, strict=True))
    ]  # fmt: skip


@pytest.fixture
def dataset(folder, load):
    path = folder()
    (path / "reference_days.json").write_text(json.dumps(REFERENCE))
    return load(path)


def test_days_are_counted_and_compared_with_the_reference_of_the_data(dataset):
    records = records_of(dataset, [OUT, VALUES, None, OUT])
    found = BENCHMARK.score_run(dataset, records)("realism", None)
    assert found["days_told"] == 0.5
    assert (found["trips_generated"], found["trips_real"]) == (2.0, 1.0)
    assert (found["trip_length_generated"], found["trip_length_jsd"]) == (1000.0, 0.0)
    assert found["intention_changes_generated"] == pytest.approx(4 / 3)  # of three valid answers
    details = BENCHMARK.describe(dataset, records)
    assert details["realism"]["reference"]["name"] == "reference_days.json, 2 people"
    assert (details["realism"]["people"], details["realism"]["days_told"]) == (4, 2)
    assert details["notes"][-2:] == [
        "realism: days told by 2 of 4 people",
        "realism: against reference_days.json, 2 people",
    ]


def test_the_published_numbers_know_nothing_of_it(dataset):
    records = records_of(dataset, [OUT, VALUES, None, OUT])
    estimate, alone = (
        BENCHMARK.score_run(dataset, records),
        scoring.score_run(dataset.truth, records),
    )
    for reading in scoring.READINGS:
        assert estimate(reading, None) == alone(reading, None)
        assert not set(estimate(reading, None)) & {metric.name for metric in realism.METRICS}
    weights = np.array([[1.0, 2, 1, 0]])
    assert estimate("documented", weights) == alone("documented", weights)


def test_records_of_earlier_versions_have_no_days(dataset):
    old = Record("DailyMobility", "user[10]", "ok", answer=VALUES)
    found = BENCHMARK.score_run(dataset, [old])("realism", None)
    assert found["trips_generated"] == Absent(realism.NO_DAYS)
    assert found["transitions_jsd"] == 1.0  # half hours it has: nobody changes anything
    details = BENCHMARK.describe(dataset, [old])
    assert details["realism"]["days_told"] == 0
    assert not [note for note in details["notes"] if note.startswith("realism")]


@pytest.mark.parametrize("reading", BENCHMARK.readings)
def test_a_part_of_the_records_scores_as_those_alone(dataset, reading):
    records = records_of(dataset, [OUT, VALUES, None, OUT])
    chosen = np.array([True, False, True, True])
    part = part_of(BENCHMARK.score_run(dataset, records), chosen)
    alone = BENCHMARK.score_run(dataset, [records[0], records[2], records[3]])
    assert part(reading, None) == alone(reading, None)
    weights = np.array([[2.0, 1, 1], [1, 0, 2]])
    for name, value in alone(reading, weights).items():
        if not isinstance(value, Absent):
            assert part(reading, weights)[name] == pytest.approx(value)


def test_labels_spelt_otherwise_are_told():
    def record(*labels, status="ok"):
        rows = [[900 * n, 1, label, 0.0, 0.0] for n, label in enumerate(labels)]
        return Record("DailyMobility", "user[10]", status, answer={"day": {"rows": rows}})

    fine = [record("sleep", None, "swimming"), record("Sleep", status="invalid")]
    told = [Record("DailyMobility", "user[11]", "ok", answer={**VALUES, "day": {"visits": []}})]
    assert run_realism.label_note([*fine, *told]) is None
    line = run_realism.label_note([*fine, record("Work ", "sleep"), record("Sleep")])
    assert line == (
        "warning: 2 people say 'Work ': other, as published, unless spelt as the labels"
    )
    assert len(line) <= 80
    assert run_realism.label_note([record("SLEEP")]).startswith("warning: 1 person says 'SLEEP'")


def test_without_a_city_nobody_has_a_day(folder, load):
    dataset = load(folder(places=None))
    records = records_of(dataset, [VALUES] * 4)
    assert run_realism.of_run(dataset, records).told.sum() == 0


def test_a_reference_of_ones_own_goes_before_that_of_the_data(dataset, load, tmp_path, folder):
    own = {"people": REFERENCE["people"][:1]}
    (tmp_path / "own.json").write_text(json.dumps(own))
    path = folder("again")
    (path / "reference_days.json").write_text(json.dumps(REFERENCE))
    chosen = load(path, reference=str(tmp_path / "own.json"))
    assert chosen.reference.name == "own.json, 1 person"
    assert len(chosen.conditions()["reference"]) == 16
    assert dataset.conditions() == {}
    plain = load(folder("plain"))
    assert plain.reference is None
    assert plain.digest == chosen.digest != dataset.digest  # its own are data, another's are not


def test_a_reference_that_cannot_be_used_is_named_before_anything_runs(folder, load, tmp_path):
    (tmp_path / "own.json").write_text(json.dumps({"people": [{"visits": [[0, 99, 1]]}]}))
    with pytest.raises(BenchmarkError, match=r"own\.json: person 0: expected place of visit 0"):
        load(folder("a"), reference=str(tmp_path / "own.json"))
    in_data = folder("c")
    (in_data / "reference_days.json").write_text('{"people": 3}')
    with pytest.raises(BenchmarkError, match=r"reference_days\.json: expected \{\"people\": \["):
        load(in_data)
    (tmp_path / "own.json").write_text(json.dumps(REFERENCE))
    with pytest.raises(
        BenchmarkError, match=r"its days need a city, and the data have none \(there"
    ):
        load(folder("b", places=None), reference=str(tmp_path / "own.json"))


def test_days_that_came_with_data_without_a_city_are_no_reference(folder, load):
    path = folder(places=None)
    (path / "reference_days.json").write_text(json.dumps(REFERENCE))
    assert load(path).reference is None


def test_agents_may_not_read_the_reference(folder, tmp_path):
    from types import SimpleNamespace

    path = tmp_path / "own.json"
    path.write_text(json.dumps(REFERENCE))
    settings = SimpleNamespace(
        dataset=folder(), parameters={"reference": str(path)}, bases=(), mode="inference"
    )
    assert path in BENCHMARK.truth_places(settings)
