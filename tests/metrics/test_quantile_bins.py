"""Quantile bins: each holds its share of the reference, and nothing falls outside."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pytest_agentbench.metrics.quantile_bins import MOST_BINS, bin_of, inner_edges

VALUES = st.lists(st.floats(-1e6, 1e6), max_size=80)


@given(VALUES, VALUES)
def test_every_value_has_one_bin_in_order(reference, values):
    edges = inner_edges(reference)
    assert len(edges) + 1 <= max(1, min(MOST_BINS, int(np.sqrt(len(reference)))))
    assert (np.diff(edges) > 0).all()
    for value, number in zip(values, bin_of(values, edges), strict=True):
        assert number == sum(edge < value for edge in edges)  # by counting


def test_the_reference_fills_its_bins_evenly():
    values = np.random.default_rng(0).gamma(1.5, 2000, 10_000)
    counts = np.bincount(bin_of(values, inner_edges(values)))
    assert len(counts) == MOST_BINS
    assert counts.tolist() == [500] * MOST_BINS


def test_few_values_have_few_bins():
    assert len(inner_edges(np.arange(9.0))) == 2
    assert len(inner_edges([])) == len(inner_edges([1.0, 2.0, 3.0])) == 0
    assert bin_of([-5, 5], inner_edges([])).tolist() == [0, 0]
