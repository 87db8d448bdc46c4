"""What days are made of, by hand: lived ones, and those told as visits."""

from __future__ import annotations

import pytest
from benchmarks.lived_days import CITY, HOME, PUB, SHOP, WORK, day, trip

from pytest_agentbench.benchmarks.days.day_facts import LIVED_ONLY, facts, lived_trips

HOUR = 3600


def position(place):
    return CITY.position(place)


LIVED = day(
    900,
    [(36, HOME, None), (1, None, None), (30, WORK, None), (29, SHOP, None)],
    trips=[
        trip(9 * HOUR, 9.5 * HOUR, HOME, WORK, metres=1300.0),
        # changed its mind on the way to the pub: one trip, which ends in the shop
        trip(16 * HOUR, None, WORK, PUB, metres=400.0),
        trip(16.25 * HOUR, 16.75 * HOUR, None, SHOP, metres=700.0, mode="walking"),
        trip(24 * HOUR, 24.2 * HOUR, SHOP, HOME, metres=390.0),  # the next day's
    ],
)


def test_a_lived_day_by_hand():
    found = facts(LIVED, HOME, position)
    assert found["trips"] == [2]
    assert found["trip_length"] == pytest.approx([1000.0, (300**2 + 800**2) ** 0.5])
    assert found["travel_time"] == [30.0, 45.0]
    assert found["dwell_time"] == [6.5]
    assert found["motifs"] == ["0>1 1>2"]
    assert (found["first_departure"], found["last_departure"]) == ([9.0], [16.0])
    assert found["return_home"] == [0.0]
    assert found["on_the_way"] == [1.25 / 24]
    assert found["modes"] == ["driving", "walking"]
    assert found["distance"] == [2400.0]


def test_the_second_day_begins_where_the_first_ended():
    found = facts(LIVED, HOME, position, days=[1])
    assert (found["trips"], found["first_departure"], found["return_home"]) == ([1], [0.0], [1.0])
    assert found["motifs"] == ["0>1"]
    assert found["distance"] == [390.0]
    both = facts(LIVED, HOME, position, days=[0, 1])
    assert (both["trips"], both["motifs"]) == ([2, 1], ["0>1 1>2", "0>1"])


def test_one_trip_however_often_the_destination_changes():
    trips = [
        trip(0, None, HOME, WORK), trip(10, None, None, PUB), trip(20, None, None, SHOP),
        trip(30, 40, None, HOME), trip(50, None, HOME, WORK),
    ]  # fmt: skip
    start, found = lived_trips(day(900, [(96, HOME, None)], trips=trips))
    assert start == HOME
    assert [(t.leaves, t.arrives, t.origin, t.target) for t in found] == [
        (0, 40, HOME, HOME),
        (50, None, HOME, WORK),
    ]


def test_a_day_of_visits_has_no_travel_times():
    visits = [[0, HOME, 1], [7 * HOUR, HOME, 2], [9 * HOUR, WORK, 4], [17 * HOUR, [5.0, 0.0], 7]]
    found = facts({"visits": visits}, HOME, position)
    assert found["trips"] == [2]
    assert found["trip_length"] == pytest.approx([1000.0, (595**2 + 800**2) ** 0.5])
    assert found["dwell_time"] == [8.0]
    assert (found["first_departure"], found["last_departure"]) == ([9.0], [17.0])
    assert (found["motifs"], found["return_home"]) == (["0>1 1>2"], [0.0])
    assert [found[name] for name in LIVED_ONLY] == [[]] * 4


def test_who_stays_has_a_day_without_trips():
    found = facts({"visits": [[0, PUB, 1]]}, None, position)  # no home known: where the day began
    assert (found["trips"], found["motifs"], found["return_home"]) == ([0], ["one place"], [1.0])
    assert found["trip_length"] == found["dwell_time"] == found["first_departure"] == []
