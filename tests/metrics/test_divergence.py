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
    MeanDivergence,
    bin_numbers,
    jensen_shannon,
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


@pytest.mark.parametrize("few", [0, 2048])
@pytest.mark.parametrize("people", [1, 7, 200])
def test_the_mean_over_columns_is_the_same_for_few_and_many(people, few, monkeypatch):
    """Few people are counted in the cells that they have alone."""
    monkeypatch.setattr(divergence, "_FEW_PEOPLE", few)
    rng = np.random.default_rng(people)
    columns = Columns(rng.integers(0, 5, (people, 6)), size=9)
    truth = rng.integers(0, 4, (6, 9)) + np.eye(9)[:6]
    weights = rng.integers(0, 3, (11, people)) + 1.0
    mean = MeanDivergence(truth, columns)
    for row, value in zip(weights, mean(weights), strict=True):
        of_columns = []
        for column in range(6):
            counts = [0.0] * 9
            for code, times in zip(columns.codes[:, column], row, strict=True):
                counts[code] += times
            of_columns.append(textbook(truth[column], counts))
        assert value == pytest.approx(np.mean(of_columns), abs=1e-12)
    assert float(mean(None)) == pytest.approx(float(mean(np.ones((1, people)))[0]), abs=1e-12)


def test_logarithms_that_are_looked_up_have_the_same_bits():
    rng = np.random.default_rng(5)
    mean = MeanDivergence(rng.integers(0, 40, (12, 6)) + 1, Columns(rng.integers(0, 5, (9, 12)), 6))
    equal = rng.multinomial(9, [1 / 9] * 9, 60).astype(float)
    one_more = np.vstack(
        [equal, np.full(9, 2.0)]
    )  # not everybody draws as many: nothing is looked up
    assert mean(equal).tolist() == mean(one_more)[:-1].tolist()
    halves = np.vstack([equal, np.full(9, 0.5)])
    assert mean(equal).tolist() == mean(halves)[:-1].tolist()
