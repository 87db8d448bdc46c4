"""Pooled values: counted one by one, and compared by the textbook's divergence."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon

from pytest_agentbench.metrics.pooled import count_table, pooled_divergence

PEOPLE = st.lists(st.lists(st.integers(0, 4), max_size=6), max_size=6)


def as_they_are(values):
    return np.array(values, np.intp)


@given(PEOPLE)
def test_a_row_of_counts_a_person(people):
    expected = [[own.count(code) for code in range(5)] for own in people]
    assert count_table(people, as_they_are, 5).tolist() == expected


@given(PEOPLE, PEOPLE)
def test_the_divergence_is_scipys_squared(one, other):
    real, generated = (count_table(side, as_they_are, 5).sum(axis=0) for side in (one, other))
    found = float(pooled_divergence(real, generated))
    if real.sum() and generated.sum():
        expected = float(np.nan_to_num(jensenshannon(real, generated, base=2))) ** 2
        assert found == pytest.approx(expected, abs=1e-9)
    else:  # nothing at all is a bin of its own
        assert found == pytest.approx(float(bool(real.sum()) != bool(generated.sum())))


def test_every_resample_has_its_own():
    real = np.array([1.0, 2.0, 3.0])
    drawn = np.array([[1.0, 2.0, 3.0], [0.0, 0.0, 0.0], [0.0, 5.0, 0.0]])
    found = pooled_divergence(real, drawn)
    assert found[:2].tolist() == [0.0, 1.0]
    assert found[2] == pytest.approx(float(pooled_divergence(real, drawn[2])))
