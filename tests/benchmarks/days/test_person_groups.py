"""Groups of people by what their profiles say."""

from __future__ import annotations

import math

import pytest

from pytest_agentbench.benchmarks.days.person_groups import groups


@pytest.mark.parametrize(
    ("profile", "expected"),
    [
        ({}, {}),
        ({"age": 24.9}, {"age": "under 25"}),
        ({"age": 25}, {"age": "25 to 34"}),
        ({"age": 34}, {"age": "25 to 34"}),
        ({"age": 65}, {"age": "65 or more"}),
        ({"age": "thirty"}, {}),
        ({"age": -1, "income": math.nan, "gender": "", "occupation": None, "education": 7}, {}),
        ({"gender": " Female"}, {"gender": "female"}),
        ({"education": "Bachelor's  degree"}, {"education": "bachelor's degree"}),
        ({"occupation": "x" * 99}, {"occupation": "x" * 40}),
        ({"income": 24_999}, {"income": "under 25,000"}),
        ({"income": 100_000, "consumption": "low"}, {"income": "100,000 or more"}),
        ({"income": "High", "consumption": "low"}, {"income": "high"}),
        ({"consumption": "slightly low"}, {"consumption": "slightly low"}),
    ],
)
def test_what_is_known_decides(profile, expected):
    assert groups(profile) == expected
