"""Answers: trips or arrays, and what is refused with which words."""

from __future__ import annotations

import json

import numpy as np
import pytest
from benchmarks.hurricane_mobility.hurricane_parts import (
    arrays,
)

from pytest_agentbench.base.errors import InvalidAnswer
from pytest_agentbench.benchmarks.hurricane_mobility.answers import HOURLY, TOTALS, check


def test_trips_are_counted_by_day_and_hour():
    trips = [
        {"day": 0, "departure": 0},
        {"day": 0, "departure": 3599.9},
        {"day": 1, "departure": 3600},
        {"day": 2.0, "departure": np.int64(86399), "mode": "bus"},
    ]
    answer = check(trips, whole_population=False)
    assert answer[TOTALS] == [2.0, 1.0, 1.0]
    assert (answer[HOURLY][0][0], answer[HOURLY][1][1], answer[HOURLY][2][23]) == (2.0, 1.0, 1.0)
    assert sum(map(sum, answer[HOURLY])) == 4.0
    assert check({"trips": trips}, whole_population=False) == answer
    assert check(answer, whole_population=True) == answer
    assert check({k: np.array(v) for k, v in answer.items()}, whole_population=True) == answer
    assert json.loads(json.dumps(answer)) == answer


def test_one_person_may_stay_at_home_a_population_may_not():
    nothing = check([], whole_population=False)
    assert nothing == {TOTALS: [0.0] * 3, HOURLY: [[0.0] * 24] * 3}
    for answer in ([], nothing, [{"day": 1, "departure": 7}]):
        with pytest.raises(InvalidAnswer) as error:
            check(answer, whole_population=True)
        assert str(error.value) == (
            "expected at least one trip on day 0 (before the hurricane): changes are relative to it, "
            "got 0 trips"
        )


def trip(**values):
    return [{"day": 0, "departure": 0}, {"day": 1, "departure": 3600, **values}]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, 'expected trips [{"day": 0-2, "departure": seconds since midnight}, …], or {total_'),
        (
            "none",
            "hourly_travel_times: 3 rows of 24}, or lived days {step, rows, trips, roads}, got 'none'",
        ),
        ({}, "got nothing (no total_travel_times, hourly_travel_times)"),
        ({TOTALS: [1, 1, 1]}, "got total_travel_times (no hourly_travel_times)"),
        ([3], "expected day and departure in trip 0, got 3"),
        (
            trip(departure=None),
            "expected day and departure in trip 1, got {'day': 1, 'departure': None}",
        ),
        (trip(day=3), "expected day 0 (before), 1 (during) or 2 (after) in trip 1, got 3"),
        (trip(day=True), "in trip 1, got True"),
        (
            trip(departure=90000),
            "expected departure in trip 1 as seconds since midnight, 0 to 86399 (hours 0 to 23), got "
            "90000 (hour 25)",
        ),
        (trip(departure=86400), "(hours 0 to 23), got 86400 (hour 24)"),
        (trip(departure=-1), "(hours 0 to 23), got -1 (hour -0.0002778)"),
        (trip(departure=float("nan")), "(hours 0 to 23), got nan"),
        (trip(departure="08:00"), "(hours 0 to 23), got '08:00'"),
        (
            {**arrays(1, 1, 1), TOTALS: [1, 2]},
            "total_travel_times as 3 numbers of trips (before, during, after), got 2 values",
        ),
        (
            {**arrays(1, 1, 1), HOURLY: [[0] * 24, [0] * 25, [0] * 24]},
            "expected hourly_travel_times, during, as 24 numbers of trips (hours 0 to 23), got 25 values",
        ),
        (
            {**arrays(1, 1, 1), HOURLY: [[0] * 24] * 2},
            "hourly_travel_times as 3 rows (before, during, after), got [[",
        ),
        (
            {**arrays(1, 1, 1), HOURLY: [0, 1, 2]},
            "before, as 24 numbers of trips (hours 0 to 23), got 0",
        ),
        (
            {**arrays(1, 1, 1), TOTALS: [1, -2, 1]},
            "total_travel_times as finite numbers of at least 0 (value 1), got -2",
        ),
        ({**arrays(1, 1, 1), TOTALS: [1, float("inf"), 1]}, "at least 0 (value 1), got inf"),
        (
            arrays(1, 1e12, 1),
            "expected at most 2 trips an hour of one person: nobody sets out more often than every half "
            "hour, got 1e+12 in hour 1 during the hurricane",
        ),
        (
            trip() + trip() + trip(),
            "expected at most 2 trips an hour of one person: nobody sets out more often than every half "
            "hour, got 3 in hour 0 before the hurricane",
        ),
        (
            {**arrays(1, 1, 1), TOTALS: [1, 49, 1]},
            "expected at most 48 trips a day of one person: nobody sets out more often than every half "
            "hour, got 49 during the hurricane",
        ),
        (
            {**arrays(2, 1, 2), TOTALS: [2, 1, 1]},
            "expected total_travel_times as the sums of hourly_travel_times (2 trips after the "
            "hurricane), got 1",
        ),
    ],
)
def test_what_cannot_be_scored_is_refused(answer, message):
    with pytest.raises(InvalidAnswer) as error:
        check(answer, whole_population=False)
    assert message in str(error.value)


def test_a_population_makes_as_many_trips_as_its_people_can():
    """The published code counts arrivals as totals, and departures by hour: they need not agree."""
    hours = [[float(n % 9 + 1) for n in range(24)]] * 3
    published = {TOTALS: [120.0, 85.0, 95.0], HOURLY: hours}  # as its README shows them: other sums
    assert check(published, whole_population=True, people=100) == published
    assert check(published, whole_population=True, people=None) == published
    with pytest.raises(
        InvalidAnswer, match=r"at most 8 trips an hour of 4 people: .* got 9 in hour 8"
    ):
        check(published, whole_population=True, people=4)
    with pytest.raises(
        InvalidAnswer, match=r"at most 240 trips a day of 5 people: .* got 241 after"
    ):
        check({**published, TOTALS: [1, 1, 241]}, whole_population=True, people=5)


def test_every_half_hour_is_possible():
    trips = [{"day": 1, "departure": 1800 * n} for n in range(48)]
    assert check(trips, whole_population=False)[TOTALS] == [0.0, 48.0, 0.0]
