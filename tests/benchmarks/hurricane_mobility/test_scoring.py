"""Scores of the sum of all people, for a run and for its resamples."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.hurricane_mobility.hurricane_parts import (
    BENCHMARK,
    READING,
    arrays,
    load,
    record,
)

from pytest_agentbench.benchmarks.hurricane_mobility.answers import HOURLY, TOTALS
from pytest_agentbench.metrics.estimator import Absent


def test_scores_of_the_sum_of_all_people(folder):
    dataset = load(folder())
    people = [arrays(10, 4, 8), arrays(10, 6, 8), arrays(0, 0, 2)]  # together 20, 10, 18
    estimate = BENCHMARK.score_run(dataset, [record(f"user[{n}]", a) for n, a in enumerate(people)])
    scores = estimate(READING, None)
    assert scores["change_rate_score"] == pytest.approx(100.0, abs=1e-5)
    # One hour of 24 against twelve, none of them, and all 24.
    alike = [1 / np.sqrt(12), 0.0, 1 / np.sqrt(24)]
    assert scores["distribution_score"] == pytest.approx(100 * np.mean(alike), abs=1e-5)
    assert scores["final_score"] == pytest.approx(
        0.6 * scores["change_rate_score"] + 0.4 * scores["distribution_score"]
    )


def test_resamples_sum_the_people_they_repeat(folder):
    dataset = load(folder())
    rng = np.random.default_rng(0)
    people = [
        {TOTALS: rng.integers(1, 9, 3).tolist(), HOURLY: rng.integers(0, 9, (3, 24)).tolist()}
        for _ in range(6)
    ]
    people.insert(2, None)
    records = [record(f"user[{n}]", answer) for n, answer in enumerate(people)]
    weights = rng.integers(0, 3, (4, 7)).astype(float) + 0.0
    weights[:, 0] += 1
    resampled = BENCHMARK.score_run(dataset, records)(READING, weights)
    for number, row in enumerate(weights):
        drawn = [r for r, times in zip(records, row, strict=True) for _ in range(int(times))]
        alone = BENCHMARK.score_run(dataset, drawn)(READING, None)
        for metric, value in alone.items():
            assert resampled[metric][number] == pytest.approx(value)


def test_failed_people_are_left_out_as_the_published_code_would(folder):
    dataset = load(folder())
    fine = [record("user[1]", arrays(20, 10, 18))]
    failed = [*fine, record("user[2]", None)]
    expected = BENCHMARK.score_run(dataset, fine)(READING, None)
    assert BENCHMARK.score_run(dataset, failed)(READING, None) == expected


def test_no_trips_before_leave_the_scores_absent_and_say_why(folder):
    dataset = load(folder())
    reason = Absent("no trips before the hurricane: changes are relative to them")
    records = [record("user[1]", arrays(0, 3, 3))]
    scores = BENCHMARK.score_run(dataset, records)(READING, None)
    assert scores == dict.fromkeys(
        ("change_rate_score", "distribution_score", "final_score"), reason
    )
    assert BENCHMARK.describe(dataset, records) == {}
    nobody = BENCHMARK.score_run(dataset, [record("user[1]", None)])(READING, None)
    assert nobody["final_score"] == Absent("no valid answer")
    assert BENCHMARK.score_run(dataset, [])(READING, None)["final_score"] == Absent("no records")


def test_both_sides_changes_stand_beside_the_score(folder):
    dataset = load(folder())
    details = BENCHMARK.describe(dataset, [record("user[1]", arrays(20, 10, 16))])
    assert details["notes"] == [
        "trips against before (truth): during -50.0 % (-50.0 %), after -20.0 % (-10.0 %)"
    ]
    assert len(details["notes"][0]) <= 80
    assert details["changes"]["after_vs_before"] == {
        "answers": pytest.approx(-20.0),
        "truth": -10.0,
    }
    assert details["hours_alike"]["during"] == 0.0
