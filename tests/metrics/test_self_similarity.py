"""Likeness of texts against every pair, one by one."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_agentbench.metrics.self_similarity import to_others, words_to_others
from pytest_agentbench.metrics.words import numbered, words

TEXTS = st.lists(
    st.lists(st.sampled_from("abcd"), max_size=8).map(" ".join), min_size=2, max_size=8
)


def cosine(a, b):
    product = sum(x * y for x, y in zip(a, b, strict=True))
    lengths = math.sqrt(sum(x * x for x in a)) * math.sqrt(sum(y * y for y in b))
    return product / lengths if lengths else 0.0


def every_pair(rows):
    return [
        sum(cosine(row, other) for j, other in enumerate(rows) if j != i) / (len(rows) - 1)
        for i, row in enumerate(rows)
    ]


@pytest.mark.parametrize("size", [2, 3, 17])
def test_embeddings_against_every_pair(size):
    rows = np.random.default_rng(size).normal(size=(size, 5))
    rows[0] = 0.0  # without a direction
    assert to_others(rows) == pytest.approx(every_pair(rows.tolist()))


@given(TEXTS)
def test_word_counts_against_every_pair(texts):
    vocabulary = sorted({word for text in texts for word in words(text)})
    counted = [Counter(words(text)) for text in texts]
    rows = [[one[word] for word in vocabulary] for one in counted]
    assert words_to_others(numbered(texts)) == pytest.approx(every_pair(rows), abs=1e-12)


def test_one_text_has_no_other():
    with pytest.raises(ValueError, match="at least two rows"):
        to_others([[1.0, 0.0]])
    with pytest.raises(ValueError, match="got 1"):
        words_to_others(numbered(["alone"]))
