"""NDCG against the textbook: gains of any relevance, discounted, over those of the best order."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_agentbench.metrics.discounted_gain import CUTS, ndcg


def textbook(relevance, n):
    """DCG / IDCG of graded relevances (2^rel - 1, log2 of the place + 1)."""

    def dcg(values):
        return sum((2**rel - 1) / math.log2(i + 1) for i, rel in enumerate(values[:n], start=1))

    best = dcg(sorted(relevance, reverse=True))
    return dcg(relevance) / best if best else 0.0


@given(st.permutations(list("abcdefghijkl")), st.sampled_from("abcdefghijkl"), st.integers(1, 15))
def test_it_is_the_textbook_with_one_relevant_item(ranked, truth, n):
    expected = textbook([int(item == truth) for item in ranked], n)
    assert ndcg(ranked, truth, n) == pytest.approx(expected)


def test_an_unlisted_item_gains_nothing_and_nonsense_is_refused():
    assert [ndcg(["a", "b"], "x", n) for n in CUTS] == [0.0, 0.0]
    with pytest.raises(ValueError, match="got 0"):
        ndcg(["a"], "a", 0)
