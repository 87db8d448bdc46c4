"""Distinct-2 against sets of pairs."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_agentbench.metrics.distinct import distinct_shares
from pytest_agentbench.metrics.words import numbered, words

TEXTS = st.lists(
    st.lists(st.sampled_from("abcd"), max_size=8).map(" ".join), min_size=1, max_size=8
)


@given(TEXTS)
def test_the_shares_add_up_to_the_different_pairs(texts):
    pairs = [pair for text in texts for pair in itertools.pairwise(words(text))]
    shares, counts = distinct_shares(numbered(texts))
    assert shares.sum() == pytest.approx(len(set(pairs)))
    assert counts.sum() == len(pairs)
    for text, share, count in zip(texts, shares, counts, strict=True):
        own = list(itertools.pairwise(words(text)))
        assert count == len(own)
        assert share == pytest.approx(sum(1 / pairs.count(pair) for pair in own))
