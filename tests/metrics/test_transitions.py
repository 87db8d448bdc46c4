"""Transitions, counted one by one."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pytest_agentbench.metrics.transitions import changes, pair_counts

CODES = st.lists(st.lists(st.integers(0, 6), min_size=5, max_size=5), min_size=1, max_size=8)


@given(CODES)
def test_pairs_are_counted_as_they_come(rows):
    counts = pair_counts(np.array(rows, np.uint8), kinds=7)
    for row, counted in zip(rows, counts, strict=True):
        expected = [0] * 49
        for a, b in itertools.pairwise(row):
            expected[7 * a + b] += 1
        assert counted.tolist() == expected


@given(CODES)
def test_changes_are_the_pairs_of_two(rows):
    counts = pair_counts(np.array(rows), kinds=7)[:, changes(7)]
    assert counts.sum() == sum(a != b for row in rows for a, b in itertools.pairwise(row))
    assert len(changes(7)) == 42
