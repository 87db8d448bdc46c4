"""The groups by which agents look for POIs."""

from __future__ import annotations

from pytest_agentbench.agents.asbench.poi_groups import copied_groups, values_of


def test_groups_hold_values_once():
    assert len(copied_groups()) == 14
    for group, values in copied_groups().items():
        assert len(values) == len(set(values)) > 3, group
        assert all(value.replace("_", "").isalpha() for value in values)


def test_a_group_is_its_values_and_anything_else_is_itself():
    assert values_of("restaurant") == [
        "bar", "biergarten", "cafe", "fast_food", "food_court", "ice_cream", "pub", "restaurant",
    ]  # fmt: skip
    assert values_of(["gym", "nature and wildlife observation"]) == [
        "gym", "bird_hide", "nature_reserve", "wildlife_hide", "hunting_stand",
    ]  # fmt: skip
    assert values_of([]) == []
