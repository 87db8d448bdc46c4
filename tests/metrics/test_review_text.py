"""Sentiment, emotion and topic errors against plain loops, and their ranges."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_agentbench.metrics.review_text import (
    emotion_errors,
    largest_emotion_error,
    sentiment_errors,
    topic_errors,
)

numbers = st.floats(-10, 10).map(lambda x: round(x, 3))
rows = st.lists(numbers, min_size=3, max_size=3)


@given(st.lists(st.tuples(rows, rows), min_size=1, max_size=5))
def test_topic_errors_are_half_the_cosine_distance(pairs):
    got = topic_errors([a for a, _ in pairs], [b for _, b in pairs])
    for value, (a, b) in zip(got, pairs, strict=True):
        lengths = math.hypot(*a) * math.hypot(*b)
        cosine = sum(x * y for x, y in zip(a, b, strict=True)) / lengths if lengths else 0.0
        assert value == pytest.approx((1 - cosine) / 2, abs=1e-9)
        assert 0 <= value <= 1


@given(st.lists(st.tuples(*[st.floats(0.01, 1)] * 8), min_size=1, max_size=5))
def test_emotion_errors_are_means_over_labels_and_bounded(drawn):
    a, b = (np.array([row[part] for row in drawn]) for part in (slice(0, 4), slice(4, 8)))
    a, b = a / a.sum(axis=1, keepdims=True), b / b.sum(axis=1, keepdims=True)
    got = emotion_errors(a, b)
    for value, p, q in zip(got, a, b, strict=True):
        assert value == pytest.approx(sum(abs(x - y) for x, y in zip(p, q, strict=True)) / 4)
        assert value <= largest_emotion_error(4) + 1e-12


def test_shapes_that_differ_are_refused():
    with pytest.raises(ValueError, match=r"got \(1, 2\) and \(1, 3\)"):
        emotion_errors([[0.5, 0.5]], [[0.2, 0.3, 0.5]])
    with pytest.raises(ValueError, match="two matrices"):
        topic_errors([1.0], [1.0])


def test_sentiments_must_come_in_pairs():
    with pytest.raises(ValueError, match="got 2 and 1"):
        sentiment_errors([0.1, 0.2], [0.3])
