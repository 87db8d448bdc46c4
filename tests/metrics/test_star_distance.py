"""Errors of stars against formulas written out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_agentbench.metrics import star_distance

STARS = st.sampled_from([1.0, 1.5, 2.0, 2.4, 2.5, 3.0, 3.6, 4.0, 4.49, 4.5, 5.0])


@given(st.lists(st.tuples(STARS, STARS), min_size=1, max_size=30))
def test_against_the_textbook(pairs):
    given_stars, true = zip(*pairs, strict=True)
    mae = sum(abs(g - t) for g, t in pairs) / len(pairs)
    rmse = math.sqrt(sum((g - t) ** 2 for g, t in pairs) / len(pairs))
    found = star_distance.distances(given_stars, true)
    assert found.mean() == pytest.approx(mae)
    assert float(star_distance.root_of_mean(np.mean(found**2))) == pytest.approx(rmse)
    assert found.max() <= star_distance.LARGEST_DISTANCE
    same = [int(g + 0.5) == int(t + 0.5) for g, t in pairs]
    assert star_distance.exact(given_stars, true).tolist() == [float(one) for one in same]
