"""Calibration against bins kept in a dictionary."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_agentbench.metrics.star_calibration import calibration_error, gaps

STARS = st.sampled_from([1.0, 1.4, 1.5, 2.0, 2.5, 3.0, 3.7, 4.0, 4.5, 5.0])


@given(st.lists(st.tuples(STARS, STARS), min_size=1, max_size=30))
def test_it_is_the_expected_calibration_error(pairs):
    bins = {}
    for given_stars, true in pairs:
        bins.setdefault(int(given_stars + 0.5), []).append((given_stars, true))
    expected = 0.0
    for own in bins.values():
        mean_given = sum(g for g, _ in own) / len(own)
        mean_true = sum(t for _, t in own) / len(own)
        expected += len(own) / len(pairs) * abs(mean_true - mean_given)
    table = gaps(*zip(*pairs, strict=True))
    found = float(calibration_error(table.sum(axis=0), len(pairs)))
    assert found == pytest.approx(expected)
    assert 0 <= found <= 4


def test_one_answer_for_all_that_is_right_on_average_is_calibrated():
    table = gaps([3.0, 3.0], [1.0, 5.0])
    assert float(calibration_error(table.sum(axis=0), 2)) == 0.0


def test_nonsense_is_refused():
    with pytest.raises(ValueError, match="from 1 to 5, got 0 to 5"):
        gaps([0.0, 5.0], [1.0, 1.0])
    with pytest.raises(ValueError, match="two equal rows"):
        gaps([1.0], np.ones(2))
