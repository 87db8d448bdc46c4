"""The dict that asbench's agents keep their context in."""

from __future__ import annotations

import copy

from pytest_agentbench.agents.asbench.dot_dict import DotDict


def test_keys_are_attributes_and_what_it_lacks_is_none():
    kept = DotDict(day=1)
    kept.place = "home"
    assert kept == {"day": 1, "place": "home"}
    assert kept.day == 1
    assert kept.weather is None


def test_merging_changes_it_and_copies_are_apart():
    kept = DotDict(day=1)
    other = copy.deepcopy(kept)
    assert kept.merge({"day": 2}) is kept
    assert (kept.day, other.day) == (2, 1)
