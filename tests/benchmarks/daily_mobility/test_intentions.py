"""The words of the benchmark."""

from __future__ import annotations

import pytest

from pytest_agentbench.benchmarks.daily_mobility.intentions import (
    CODES,
    LABELS,
    OTHER,
    SLOTS,
    clock,
    shares_of,
)


def test_codes_count_from_one_in_the_published_order():
    assert CODES == {
        "sleep": 1, "home activity": 2, "other": 3, "work": 4, "shopping": 5, "eating out": 6,
        "leisure and entertainment": 7,
    }  # fmt: skip
    assert [LABELS[code - 1] for code in CODES.values()] == list(CODES)
    assert OTHER == 3


def test_shares_are_of_the_day_and_stand_in_the_order_of_the_codes():
    day = [1] * 16 + [4] * 24 + [7] * 8
    assert shares_of(day) == pytest.approx([1 / 3, 0, 0, 1 / 2, 0, 0, 1 / 6])


def test_slots_are_the_half_hours_from_midnight_on():
    hours = [clock(slot) for slot in range(SLOTS)]
    assert (hours[0], hours[1], hours[17], hours[-1]) == ("00:00", "00:30", "08:30", "23:30")
    assert hours == sorted(set(hours))
