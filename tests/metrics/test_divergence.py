"""Divergences: SciPy and the textbook as oracles, and what must hold for any input."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon

from pytest_agentbench.metrics import divergence
from pytest_agentbench.metrics.divergence import (
    Columns,
    OwnRange,
    bin_numbers,
    jensen_shannon,
    own_range_distance,
    own_range_histogram,
    root_distance,
    round_half_up,
)

COUNTS = st.lists(st.integers(0, 1000), min_size=1, max_size=12).filter(any)
PAIRS = st.integers(1, 12).flatmap(
    lambda size: st.tuples(
        *[st.lists(st.integers(0, 1000), min_size=size, max_size=size).filter(any)] * 2
    )
)
VALUES = st.lists(st.floats(-1e6, 1e6).map(lambda x: round(x, 3)), min_size=1, max_size=60)


def textbook(p, q):
    """KL(p, m) / 2 + KL(q, m) / 2, term by term."""
    p, q = [x / sum(p) for x in p], [x / sum(q) for x in q]
    total = 0.0
    for a, b in zip(p, q, strict=True):
        middle = (a + b) / 2
        total += (a * math.log2(a / middle) if a else 0) + (b * math.log2(b / middle) if b else 0)
    return total / 2


@given(PAIRS)
def test_base_2_divergence_is_the_textbooks_and_scipys(pair):
    p, q = pair
    value = float(jensen_shannon(p, q))
    assert value == pytest.approx(textbook(p, q), abs=1e-12)
    assert value == pytest.approx(float(np.nan_to_num(jensenshannon(p, q, base=2))) ** 2, abs=1e-9)


@given(PAIRS, st.integers(1, 1000))
def test_divergence_is_symmetric_bounded_and_blind_to_scale(pair, scale):
    p, q = pair
    value = float(jensen_shannon(p, q))
    assert 0.0 <= value <= 1.0
    assert float(jensen_shannon(q, p)) == value
    assert float(jensen_shannon([scale * x for x in p], q)) == pytest.approx(value, abs=1e-12)


@given(COUNTS)
def test_divergence_from_itself_is_exactly_0_and_from_the_disjoint_1(p):
    assert float(jensen_shannon(p, p)) == 0.0
    zeros = [0] * len(p)
    assert float(jensen_shannon([*p, *zeros], [*zeros, *p])) == pytest.approx(1.0, abs=1e-12)


@given(PAIRS, st.integers(1, 50))
def test_mass_without_a_counterpart_counts_the_same_in_one_bin_as_in_two(pair, mass):
    p, q = pair
    one = jensen_shannon([*p, 0, 0], [*q, 2 * mass, 0])
    two = jensen_shannon([*p, 0, 0], [*q, mass, mass])
    assert float(one) == pytest.approx(float(two), abs=1e-12)


def test_divergence_broadcasts_over_resamples():
    rng = np.random.default_rng(0)
    true, drawn = rng.integers(0, 9, (48, 7)) + 1, rng.integers(0, 9, (5, 48, 7)) + 1
    values = jensen_shannon(true, drawn)
    assert values.shape == (5, 48)
    assert values[3, 17] == float(jensen_shannon(true[17], drawn[3, 17]))


@pytest.mark.parametrize("bad", [[0, 0], [1, -1], [math.nan, 1], [math.inf, 1], [2, -1]])
def test_what_is_no_distribution_is_refused(bad):
    with pytest.raises(
        ValueError, match="expected finite counts of at least 0 with a positive sum"
    ):
        jensen_shannon(bad, [1, 1])


@given(VALUES, st.integers(1, 60))
def test_bins_are_numpys_within_the_range(values, bins):
    low, high = min(values), max(values)
    numbers = bin_numbers(values, low, high, bins)
    counts = np.bincount(numbers, minlength=bins + 2)
    assert counts[1:-1].tolist() == np.histogram(values, bins=bins)[0].tolist()
    assert counts[0] == counts[-1] == 0


def test_what_is_out_of_range_falls_into_the_open_bins():
    assert bin_numbers([-1e300, -1e-9, 1.0, 1 + 1e-9, 1e300], 0, 1, 50).tolist() == [
        0,
        0,
        50,
        51,
        51,
    ]
    assert bin_numbers([[4.4, 5.0, 5.6]], 5, 5, 4).tolist() == [[0, 3, 5]]  # a range of one value


def test_too_many_bins_for_a_byte_are_refused():
    with pytest.raises(ValueError, match="expected 1 to 253 bins, got 254"):
        bin_numbers([1], 0, 1, 254)


def test_halves_round_up():
    assert round_half_up([0.5, 1.5, 2.5, 2.4999, -0.5]).tolist() == [1, 2, 3, 2, 0]


@settings(deadline=None)
@given(st.integers(1, 90), st.integers(1, 9), st.integers(1, 6), st.integers(0, 10**6))
def test_columns_count_like_repeated_rows(people, width, size, seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, size, (people, width)).astype(np.uint8)
    weights = rng.integers(0, 4, (3, people)).astype(float)
    columns = Columns(codes, size)

    def counted(rows):
        return [np.bincount(column, minlength=size).tolist() for column in rows.T]

    assert columns.counts(None).tolist() == counted(codes)
    expected = [counted(np.repeat(codes, row.astype(int), axis=0)) for row in weights]
    assert columns.counts(weights).tolist() == expected


def test_columns_are_packed_and_cut_into_blocks_without_a_trace(monkeypatch):
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 8, (5000, 10)).astype(np.uint8)
    weights = rng.integers(0, 3, (7, 5000)).astype(float)
    whole = Columns(codes, 8)
    assert [width for _, width, _ in whole._packs] == [4, 4, 2]
    expected = whole.counts(weights)
    monkeypatch.setattr(divergence, "_BLOCK_VALUES", 4096 * 2)
    assert np.array_equal(Columns(codes, 8).counts(weights), expected)


@pytest.mark.parametrize("codes", [[[0, 3]], [[-1, 0]], [0, 1]])
def test_codes_out_of_range_are_refused(codes):
    with pytest.raises(ValueError, match="expected rows of codes 0 to 2"):
        Columns(np.array(codes), 3)


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
