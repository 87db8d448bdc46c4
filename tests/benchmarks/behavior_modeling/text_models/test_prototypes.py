"""Emotions by prototype sentences."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_agentbench.benchmarks.behavior_modeling.text_models import prototypes

pytestmark = pytest.mark.filterwarnings("default")  # the libraries' own are not ours to judge


def test_prototypes_of_a_label_are_of_that_label(offline):
    shares = offline.emotions(prototypes.sentences())
    expected = np.repeat(np.arange(4), 8)
    assert (shares.argmax(axis=1) == expected).mean() > 0.85


def test_prototype_distributions_are_softmax_of_cosines():
    vectors = np.eye(4).repeat(8, axis=0)
    got = prototypes.distributions([[1.0, 0.0, 0.0, 0.0]], vectors)[0]
    top = np.exp(prototypes.TEMPERATURE)
    assert got == pytest.approx([top / (top + 3), *[1 / (top + 3)] * 3])
