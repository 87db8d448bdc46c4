"""The published distance: SciPy as the oracle, and resamples as repeated rows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon

from pytest_agentbench.metrics import divergence, own_range
from pytest_agentbench.metrics.own_range import (
    OwnRange,
    own_range_distance,
    own_range_histogram,
    root_distance,
)

VALUES = st.lists(st.floats(-1e6, 1e6).map(lambda x: round(x, 3)), min_size=1, max_size=60)


def published(p, q):
    """The published definition, with SciPy."""
    sides = []
    for values in (p, q):
        density = np.histogram(np.ravel(values), bins=50, density=True)[0] + 1e-10
        sides.append(density / density.sum())
    with np.errstate(invalid="ignore"):
        return float(np.nan_to_num(jensenshannon(*sides)))


@given(VALUES, VALUES)
def test_own_range_distance_is_the_published_one(p, q):
    value = own_range_distance(p, q)
    # A root: rounding of 1e-16 below it is 1e-8 above.
    assert value == pytest.approx(published(p, q), abs=3e-8)
    assert 0.0 <= value <= math.sqrt(math.log(2)) + 1e-12


def test_own_range_flattens_and_needs_values():
    rows = np.array([[1.0, 2.0], [3.0, 7.0]])
    assert np.array_equal(own_range_histogram(rows), own_range_histogram(rows.ravel()))
    with pytest.raises(ValueError, match="expected values, got none"):
        own_range_histogram([])


@pytest.mark.parametrize(
    "values", [[0.0, 5e-324], [0.0, 1.1e-308], [1234.5, math.nextafter(1234.5, 1e9)]]
)
def test_values_too_close_for_bins_between_them_are_as_one(values):
    other = [1.0, 2.0, 4.0]
    assert own_range_distance(values, other) == own_range_distance([values[0]] * 2, other)
    column = np.array(values)[:, None]
    (resampled,) = OwnRange(column).distances(np.ones((1, 2)), own_range_histogram(other))
    assert resampled == own_range_distance(values, other)


def test_rounding_below_zero_gives_0_not_nan():
    rng = np.random.default_rng(1)
    for _ in range(200):
        p = rng.random(50)
        p /= p.sum()
        q = p * (1 + 1e-16 * rng.standard_normal(50))
        assert root_distance(p, q) >= 0.0


@settings(deadline=None)
@given(st.integers(2, 40), st.integers(1, 7), st.integers(0, 10**6), st.sampled_from([1, 3, 1000]))
def test_resampled_own_range_is_that_of_repeated_rows(people, width, seed, kinds):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, kinds, (people, width)) / 7
    weights = rng.integers(0, 3, (4, people)).astype(float)
    weights[:, 0] += 1
    reference = own_range_histogram(rng.random(30))
    found = OwnRange(values).distances(weights, reference)
    for row, value in zip(weights, found, strict=True):
        repeated = own_range_histogram(np.repeat(values, row.astype(int), axis=0))
        assert value == pytest.approx(float(root_distance(repeated, reference)), abs=1e-9)


def test_values_that_occur_several_times_in_a_row():
    values, times = np.array([[1, 2, 3], [1, 2, 3]]), np.array([[2, 0, 1], [0, 3, 0]])
    reference = own_range_histogram([1, 2, 2])
    found = OwnRange(values, times).distances(np.array([[1.0, 1.0], [0.0, 2.0]]), reference)
    expected = [own_range_histogram([1, 1, 3, 2, 2, 2]), own_range_histogram([2])]
    assert found.tolist() == pytest.approx([float(root_distance(h, reference)) for h in expected])


def test_a_resample_of_nobody_is_nan_and_leaves_the_others_alone():
    values = np.array([[1.0], [2.0]])
    reference = own_range_histogram(values)
    found = OwnRange(values).distances(np.array([[1.0, 1.0], [0.0, 0.0]]), reference)
    assert found[0] == pytest.approx(0.0, abs=1e-9)
    assert math.isnan(found[1])


def test_blocks_do_not_change_resampled_distances(monkeypatch):
    rng = np.random.default_rng(5)
    values, weights = rng.random((50, 3)), rng.integers(0, 3, (9, 50)).astype(float)
    reference = own_range_histogram(rng.random(40))
    expected = OwnRange(values).distances(weights, reference)
    monkeypatch.setattr(divergence, "_BLOCK_VALUES", 310)
    assert np.array_equal(OwnRange(values).distances(weights, reference), expected)


@pytest.mark.parametrize("counted", [True, False])
def test_few_levels_are_counted_by_a_product_with_the_same_bits(monkeypatch, counted):
    rng = np.random.default_rng(3)
    values = rng.integers(0, 6, (15, 4)) / 7
    times = rng.integers(0, 9, values.shape) if counted else None
    weights = rng.multinomial(15, [1 / 15] * 15, 40).astype(float)
    truth = own_range_histogram(rng.integers(0, 6, 50))
    product = OwnRange(values, times).distances(weights, truth)
    monkeypatch.setattr(own_range, "_FEW_LEVELS", 0)
    assert OwnRange(values, times).distances(weights, truth).tolist() == product.tolist()
