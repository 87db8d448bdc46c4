"""What a person belongs to: age, gender, income, occupation and education, where the profile says them."""

from __future__ import annotations

import bisect
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_agentbench.base.plain import is_finite

AGES = (25, 35, 50, 65)
INCOMES = (25_000, 50_000, 100_000)
LONGEST = 40  # characters of a group's name
_WORDS = ("gender", "occupation", "education")


def groups(profile: Mapping[str, Any]) -> dict[str, str]:
    """The groups of a person; a kind of group of which nothing is known is left out.

    What people spend stands for what they earn, where only that is known.

    >>> groups({"age": 31, "gender": "Male ", "income": 78231, "home": 5})
    {'age': '25 to 34', 'gender': 'male', 'income': '50,000 to 99,999'}
    """
    found = {}
    if (age := _band(profile.get("age"), AGES)) is not None:
        found["age"] = age
    for kind in _WORDS:
        if (word := _word(profile.get(kind))) is not None:
            found[kind] = word
    income = profile.get("income")
    if (earned := _band(income, INCOMES) or _word(income)) is not None:
        found["income"] = earned
    elif (spent := _word(profile.get("consumption"))) is not None:
        found["consumption"] = spent
    return found


def _band(value: Any, limits: Sequence[int]) -> str | None:
    if not is_finite(value) or value < 0:
        return None
    at = bisect.bisect_right(limits, value)
    if at == 0:
        return f"under {limits[0]:,}"
    if at == len(limits):
        return f"{limits[-1]:,} or more"
    return f"{limits[at - 1]:,} to {limits[at] - 1:,}"


def _word(value: Any) -> str | None:
    if not isinstance(value, str) or not value.strip():
        return None
    return " ".join(value.lower().split())[:LONGEST]
