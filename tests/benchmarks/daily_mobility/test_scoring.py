"""Scores of runs: golden numbers in both readings, failed people, resamples."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from pytest_agentbench.benchmarks.daily_mobility import scoring
from pytest_agentbench.benchmarks.daily_mobility.intentions import FIELDS, LABELS
from pytest_agentbench.benchmarks.daily_mobility.population import Population
from pytest_agentbench.benchmarks.daily_mobility.scoring import METRICS, READINGS, score_run
from pytest_agentbench.metrics import bootstrap
from pytest_agentbench.metrics.estimator import Absent
from pytest_agentbench.runs.record import Record

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "daily_mobility.json").read_text())
CASES = {case["name"]: case for case in GOLDEN["cases"]}
NAMES = [*METRICS, "final_score"]


def rows(lists):
    columns = [lists[name] for name in FIELDS]
    return [dict(zip(FIELDS, row, strict=True)) for row in zip(*columns, strict=True)]


TRUTH = Population.from_answers(rows(GOLDEN["truth"]))


def records(answers, failed=0, status="invalid"):
    good = [Record("DailyMobility", f"user[{n}]", "ok", answer=a) for n, a in enumerate(answers)]
    return good + [Record("DailyMobility", f"user[x{n}]", status) for n in range(failed)]


def of_case(name, failed=0, status="invalid"):
    return records(rows(CASES[name]["generated"]), failed, status)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("reading", READINGS)
def test_golden_cases_in_both_readings(name, reading):
    scores = score_run(TRUTH, of_case(name))(reading, None)
    assert list(scores) == NAMES
    for metric, expected in CASES[name]["expected"][reading].items():
        # The published code has NaN where we report 0.
        assert scores[metric] == pytest.approx(expected or 0.0, rel=1e-9, abs=1e-9), metric


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("reading", READINGS)
def test_a_resample_scores_like_the_people_it_repeats(name, reading):
    answers = rows(CASES[name]["generated"])
    rng = np.random.default_rng(7)
    weights = np.array(
        [
            np.bincount(rng.integers(0, len(answers), len(answers)), minlength=len(answers))
            for _ in range(3)
        ]
    )
    resampled = score_run(TRUTH, records(answers))(reading, weights.astype(float))
    for number, row in enumerate(weights):
        drawn = [answer for answer, times in zip(answers, row, strict=True) for _ in range(times)]
        alone = score_run(TRUTH, records(drawn))(reading, None)
        for metric in NAMES:
            assert resampled[metric][number] == pytest.approx(alone[metric], abs=1e-7), metric


def test_failed_people_are_mass_in_a_bin_of_their_own():
    # As many failed as fine: half of the mass meets nothing in the truth. For p = truth the divergence
    # is that of (p, 0) and (p / 2, 1/2), whatever p is.
    share = 0.5
    middle = (1 + share) / 2
    expected = 0.5 * (np.log2(1 / middle) + share * np.log2(share / middle) + (1 - share))
    scores = score_run(TRUTH, of_case("truth itself", failed=60))("documented", None)
    for metric in METRICS:
        assert scores[metric] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("status", ["invalid", "error", "timeout"])
def test_the_published_reading_sees_valid_answers_alone(status):
    whole = score_run(TRUTH, of_case("population 0"))(scoring.PUBLISHED, None)
    mixed = of_case("population 0", failed=7, status=status)[::-1]  # the failed ones go first
    estimate = score_run(TRUTH, mixed)
    assert estimate(scoring.PUBLISHED, None) == whole
    weights = np.ones((2, 67))
    weights[:, :7] = [[9.0], [0.0]]  # however often a failed one is drawn
    resampled = estimate(scoring.PUBLISHED, weights)
    for metric, value in whole.items():
        assert resampled[metric].tolist() == pytest.approx([value, value], abs=1e-9)


def test_every_failed_person_makes_the_documented_score_worse():
    finals = [
        score_run(TRUTH, of_case("population 0", failed=n))("documented", None)["final_score"]
        for n in (0, 1, 10, 100)
    ]
    assert finals == sorted(finals, reverse=True)
    assert len(set(finals)) == 4


def test_nobody_valid_is_the_worst_score_and_has_no_published_one():
    estimate = score_run(TRUTH, records([], failed=3))
    worst = estimate("documented", None)
    assert worst == pytest.approx({**dict.fromkeys(METRICS, 1.0), "final_score": 0.0}, abs=1e-9)
    absent = dict.fromkeys(NAMES, Absent("no valid answer"))
    assert estimate(scoring.PUBLISHED, None) == absent
    assert estimate(scoring.PUBLISHED, np.ones((2, 3))) == absent


def test_no_records_give_no_score():
    for reading in READINGS:
        assert score_run(TRUTH, [])(reading, None) == dict.fromkeys(NAMES, Absent("no records"))


def test_the_order_of_records_decides_nothing():
    forward = of_case("population 1", failed=3)
    for reading in READINGS:
        scores = score_run(TRUTH, forward)(reading, None)
        assert score_run(TRUTH, forward[::-1])(reading, None) == scores


def test_counts_are_rounded_half_up_and_compared_value_by_value():
    truth = Population(
        TRUTH.gyration_radius,
        np.array([1.5, 2.4, 3.0, 3.0]),  # 2, 2, 3, 3
        TRUTH.intention_sequences,
        TRUTH.intention_proportions,
    )

    def divergence(*counts):
        answers = [{**rows(GOLDEN["truth"])[0], "daily_location_numbers": c} for c in counts]
        return score_run(truth, records(answers))("documented", None)["jsd_daily_location_numbers"]

    assert divergence(2, 3) == 0.0
    assert divergence(1.5, 2.5) == 0.0
    assert divergence(2, 2.4999) == pytest.approx(0.3112781244591328)
    assert divergence(1.4, 900) == pytest.approx(1.0)
    assert divergence(2, 3, 7, 8) == divergence(2, 3, 1e300, 1e300)


def test_intervals_hold_for_both_readings_and_do_not_depend_on_blocks(monkeypatch):
    people = of_case("population 2", failed=2)
    clusters = [record.sample for record in people]
    estimate = score_run(TRUTH, people)
    bounds = bootstrap.intervals(estimate, READINGS, clusters, seed=5)
    for reading in READINGS:
        assert set(bounds[reading]) == set(NAMES)
        for low, high in bounds[reading].values():
            assert low <= high
    monkeypatch.setattr(bootstrap, "_BLOCK_VALUES", 7 * len(people))
    again = bootstrap.intervals(score_run(TRUTH, people), READINGS, clusters, seed=5)
    assert again == bounds


def test_a_truth_of_one_radius_still_has_bins():
    truth = Population(
        np.array([5.0, 5.0]), TRUTH.daily_location_numbers,
        TRUTH.intention_sequences, TRUTH.intention_proportions,
    )  # fmt: skip
    answers = rows(GOLDEN["truth"])[:2]

    def divergence(radius):
        given = [{**answer, "gyration_radius": radius} for answer in answers]
        return score_run(truth, records(given))("documented", None)["jsd_gyration_radius"]

    assert (divergence(5.0), divergence(5.6)) == (0.0, pytest.approx(1.0))


def test_a_metric_on_a_field_that_another_one_uses_needs_only_its_row(monkeypatch):
    def mornings(_, given):
        return given.intention_sequences[:, 12:24] - np.uint8(1), len(LABELS)

    row = scoring.Row("jsd_mornings", "what they do before noon", "intention_sequences", mornings)
    answers = of_case(next(iter(CASES)))
    before = score_run(TRUTH, answers)
    monkeypatch.setattr(scoring, "DIVERGENCES", (*scoring.DIVERGENCES, row))
    after = score_run(TRUTH, answers)
    for reading in READINGS:
        values = dict(after(reading, None))
        final = values.pop("final_score")
        assert {*values} == {*METRICS, "jsd_mornings"}
        assert final == pytest.approx(100 * (1 - sum(values.values()) / 5))
        old = dict(before(reading, None))
        assert {name: values[name] for name in METRICS} == {name: old[name] for name in METRICS}
