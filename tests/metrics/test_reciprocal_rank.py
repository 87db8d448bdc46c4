"""Reciprocal rank against a walk down the list."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_agentbench.metrics.reciprocal_rank import reciprocal_rank


@given(st.permutations(list("abcdefgh")), st.sampled_from("abcdefghx"))
def test_it_is_one_over_the_place(ranked, truth):
    expected = 0.0
    for place, item in enumerate(ranked, start=1):
        if item == truth:
            expected = 1 / place
    assert reciprocal_rank(ranked, truth) == pytest.approx(expected)
