"""Failing does not pay: no metric of a primary reading gets better by samples without an answer."""

from __future__ import annotations

import pytest
from faults.baseline_runs import NAMES
from faults.failing_campaign import campaign


@pytest.mark.parametrize("name", NAMES)
def test_no_subset_of_failed_samples_raises_a_score(name):
    figures = campaign(name, subsets=15, seed=3, most=24)
    assert figures.subsets >= 15
    assert figures.problems == []


@pytest.mark.parametrize("name", ["BehaviorModeling", "DailyMobility", "HurricaneMobility"])
def test_the_same_search_raises_the_published_scores(name):
    """They leave failed samples out, as the published code does: the search is real."""
    assert campaign(name, subsets=15, seed=3, most=24, reading="published-0.1.4").problems
