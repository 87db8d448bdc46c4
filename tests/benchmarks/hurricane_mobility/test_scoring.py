"""Scores of the sum of all people, for a run and for its resamples."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.hurricane_mobility.hurricane_parts import (
    BENCHMARK,
    DOCUMENTED,
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


@pytest.mark.parametrize("reading", [READING, DOCUMENTED])
def test_resamples_sum_the_people_they_repeat(folder, reading):
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
    resampled = BENCHMARK.score_run(dataset, records)(reading, weights)
    for number, row in enumerate(weights):
        drawn = [r for r, times in zip(records, row, strict=True) for _ in range(int(times))]
        alone = BENCHMARK.score_run(dataset, drawn)(reading, None)
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
    told = BENCHMARK.describe(dataset, records)
    assert told == {
        "notes": ["warning: no trip on day 0 (before): changes are relative to it, and score 0"]
    }
    assert len(told["notes"][0]) <= 80
    documented = BENCHMARK.score_run(dataset, records)("documented", None)
    assert documented["change_rate_score"] == 0.0
    assert BENCHMARK.describe(dataset, [record("user[1]", None)]) == {}
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
    failed = [record("user[1]", arrays(20, 10, 16)), record("user[2]", None)]
    assert BENCHMARK.describe(dataset, failed)["notes"][1] == (
        "1 without a valid answer: documented counts the worst they could do"
    )
    assert details["changes"]["after_vs_before"] == {
        "answers": pytest.approx(-20.0),
        "truth": -10.0,
    }
    assert details["hours_alike"]["during"] == 0.0


def test_the_documented_reading_takes_totals_from_the_hours(folder):
    """The published one believes the totals of a population, which need not be those of its hours."""
    dataset = load(folder())
    honest, boast = arrays(20, 20, 20), {**arrays(20, 20, 20), TOTALS: [20.0, 10.0, 18.0]}
    scores = {
        (name, reading): BENCHMARK.score_run(dataset, [record("user[1]", answer)])(reading, None)
        for name, answer in (("honest", honest), ("boast", boast))
        for reading in (READING, DOCUMENTED)
    }
    assert scores["boast", READING]["change_rate_score"] == pytest.approx(100.0, abs=1e-5)
    assert scores["boast", DOCUMENTED] == scores["honest", DOCUMENTED]
    # No change at all where -50 % and -10 % are true: both errors are 100 %.
    assert scores["boast", DOCUMENTED]["change_rate_score"] == pytest.approx(0.0, abs=1e-5)


def test_without_a_failure_the_readings_agree_on_consistent_answers(folder):
    dataset = load(folder())
    records = [record(f"user[{n}]", arrays(n, n / 2, n)) for n in range(1, 5)]
    estimate = BENCHMARK.score_run(dataset, records)
    assert estimate(DOCUMENTED, None) == pytest.approx(estimate(READING, None))


def test_one_who_failed_counts_as_the_worst_that_anybody_could_have_done(folder):
    """50 people with 4 trips each before; one who may have made 48 more on any day."""
    dataset = load(folder())
    fine = [record(f"user[{n}]", arrays(4, 2, 3.6)) for n in range(50)]
    found = BENCHMARK.score_run(dataset, [*fine, record("user[x]", None)])(DOCUMENTED, None)
    before, during, after = 200, 100, 180
    errors = [
        abs(-50 - 100 * (d / b - 1)) / 50 + abs(-10 - 100 * (a / b - 1)) / 10
        for b in (before, before + 48)
        for d in (during, during + 48)
        for a in (after, after + 48)
    ]
    assert found["change_rate_score"] == pytest.approx(max(0.0, 100 - 50 * max(errors)))
    lengths = [before, during, after]  # all trips in one hour of the night
    alike = [
        trips / (trips + 2 * np.sqrt(24)) * share
        for trips, share in zip(lengths, (1 / np.sqrt(12), 0.0, 1 / np.sqrt(24)), strict=True)
    ]
    assert found["distribution_score"] == pytest.approx(100 * np.mean(alike), abs=1e-5)


def test_nobody_answered_is_the_worst_score_and_not_an_absent_one(folder):
    dataset = load(folder())
    scores = BENCHMARK.score_run(dataset, [record("user[1]", None)])(DOCUMENTED, None)
    assert set(scores.values()) == {0.0}
    home = BENCHMARK.score_run(dataset, [record("user[1]", arrays(0, 3, 3))])(DOCUMENTED, None)
    assert home["change_rate_score"] == 0.0


def test_leaving_out_who_spoils_the_score_pays_in_the_published_reading_alone(folder):
    dataset = load(folder())
    fine = [record(f"user[{n}]", arrays(2, 1, 1.8)) for n in range(10)]
    bad = record("user[bad]", arrays(0, 40, 40))

    def final(records, reading):
        return BENCHMARK.score_run(dataset, records)(reading, None)["final_score"]

    failed = [*fine, record("user[bad]", None)]
    assert final(failed, READING) > final([*fine, bad], READING) + 50
    assert final(failed, DOCUMENTED) <= final([*fine, bad], DOCUMENTED)
