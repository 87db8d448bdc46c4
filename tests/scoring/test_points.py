"""A score in points, and what a point has cost."""

from __future__ import annotations

import pytest

from pytest_agentbench.benchmarks.protocol import Metric
from pytest_agentbench.scoring.points import cost_per_point, points


@pytest.mark.parametrize(
    ("metric", "value", "expected"),
    [
        (Metric("m", "higher", 0.0, 1.0), 0.4, 40.0),
        (Metric("m", "higher", -1.0, 1.0), 0.5, 75.0),
        (Metric("m", "lower", 0.0, 1.0), 0.4, 60.0),
        (Metric("m", "lower", 0.0), 0.4, None),
        (Metric("m", "higher"), 0.4, None),
        (Metric("m", "zero", -1.0, 1.0), 0.4, None),
        (Metric("m", "none", 0.0, 1.0), 0.4, None),
    ],
)
def test_points_are_hundredths_of_the_way_from_the_worst_value_to_the_best(metric, value, expected):
    assert points(value, metric) == (None if expected is None else pytest.approx(expected))


@pytest.mark.parametrize("better", ["higher", "lower"])
def test_of_two_runs_with_the_same_cost_the_better_one_has_the_cheaper_points(better):
    metric = Metric("m", better, 0.0, 1.0)
    low, high = cost_per_point(2.0, 0.2, metric), cost_per_point(2.0, 0.8, metric)
    assert (high < low) is (better == "higher")
    assert sorted((low, high)) == pytest.approx([2 / 80, 2 / 20])


def test_without_cost_or_points_there_is_no_price():
    metric = Metric("m", "higher", 0.0, 1.0)
    assert cost_per_point(None, 0.5, metric) is None
    assert cost_per_point(2.0, None, metric) is None
    assert cost_per_point(2.0, 0.0, metric) is None
    assert cost_per_point(0.0, 0.5, metric) == 0.0
