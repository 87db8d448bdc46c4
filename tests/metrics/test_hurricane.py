"""The hurricane's formulas, against values worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_agentbench.metrics import hurricane

DAYS = st.lists(st.lists(st.integers(0, 500), min_size=24, max_size=24), min_size=3, max_size=3)


def test_changes_are_relative_to_before():
    assert hurricane.changes([80, 20, 100]).tolist() == [-75.0, 25.0]
    assert np.isnan(hurricane.changes([0, 5, 5])).all()


def test_the_mean_error_of_both_changes_is_taken_from_100():
    # -25 and +10 against -50 and +5: errors of 50 % and 100 %.
    assert hurricane.change_rate_score([100, 75, 110], [-50, 5]) == pytest.approx(25.0, abs=1e-6)
    assert hurricane.change_rate_score([100, 300, 110], [-50, 5]) == 0.0  # never below


def test_hours_are_compared_by_their_angle():
    before, during, after = [3, 4, 0], [0, 0, 5], [1, 0, 0]
    score = hurricane.distribution_score([before, during, after], [[6, 8, 0], [0, 5, 0], [1, 0, 0]])
    assert score == pytest.approx(100 * (1 + 0 + 1) / 3, abs=1e-5)
    assert hurricane.distribution_score([[0, 0]] * 3, [[1, 2]] * 3) == 0.0


@given(DAYS, DAYS)
def test_scores_stay_in_their_range(ours, true):
    totals = [1 + sum(day) for day in ours]
    change = float(hurricane.change_rate_score(totals, [-30.0, -5.0]))
    alike = float(hurricane.distribution_score(ours, true))
    assert 0.0 <= change <= 100.0
    assert 0.0 <= alike <= 100.0 + 1e-9
    assert hurricane.final_score(change, alike) == pytest.approx(0.6 * change + 0.4 * alike)


@given(DAYS)
def test_the_days_themselves_are_alike(days):
    expected = 100 * sum(any(day) for day in days) / 3
    assert hurricane.distribution_score(days, days) == pytest.approx(expected, abs=1e-4)


def test_resamples_are_scored_in_one_call():
    rng = np.random.default_rng(0)
    totals, hourly = rng.integers(1, 50, (6, 3)), rng.integers(0, 50, (6, 3, 24))
    true = rng.integers(0, 50, (3, 24))
    many = (
        hurricane.change_rate_score(totals, [-20, -3]),
        hurricane.distribution_score(hourly, true),
    )
    for row in range(6):
        assert many[0][row] == hurricane.change_rate_score(totals[row], [-20, -3])
        assert math.isclose(many[1][row], hurricane.distribution_score(hourly[row], true))


def test_the_worst_change_is_that_of_a_search_through_all_trips():
    """Against a grid over the box, of which the corners are a part."""
    rng = np.random.default_rng(1)
    for _ in range(40):
        totals, true = rng.uniform(1, 300, 3), rng.uniform(-60, 20, 2)
        most = rng.choice([0.0, 5.0, 48.0, 300.0])
        steps = [np.linspace(0, most, 9)] * 3
        grid = np.stack(np.meshgrid(*steps), axis=-1).reshape(-1, 3) + totals
        expected = hurricane.change_rate_score(grid, true).min()
        found = hurricane.worst_change_rate_score(totals, true, most)
        assert float(found) == pytest.approx(expected, abs=1e-9)


def test_no_trips_give_a_lower_distribution_score_than_the_bound():
    rng = np.random.default_rng(2)
    for _ in range(200):
        hourly, true = rng.integers(0, 30, (2, 3, 24)).astype(float)
        most = float(rng.integers(0, 12))
        bound = float(hurricane.worst_distribution_score(hourly, true, most))
        # Spread at random, or all of it where the truth has least.
        spread = rng.uniform(0, most, (20, 3, 24))
        spread[10:] = most * (true < np.median(true, axis=-1, keepdims=True))
        spread[15:] *= rng.integers(0, 2, (5, 3, 24))
        assert hurricane.distribution_score(hourly + spread, true).min() >= bound - 1e-9
        assert most or bound == pytest.approx(float(hurricane.distribution_score(hourly, true)))
