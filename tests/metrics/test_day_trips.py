"""Trips and stays of days, against a walk through every second that matters."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from pytest_agentbench.metrics.day_trips import (
    DAY_SECONDS,
    DayTrip,
    dwell_times,
    of_day,
    place_at,
    seconds_on_the_way,
    stops,
    visits_trips,
)

HOUR = 3600


@st.composite
def journeys(draw):
    """Trips one after the other over two days: times are hours, places are letters."""
    hours = sorted(draw(st.lists(st.integers(1, 46), max_size=12, unique=True)))
    trips, here = [], "h"
    for leaves, arrives in zip(hours[::2], hours[1::2], strict=False):
        there = draw(st.sampled_from([place for place in "hwsp" if place != here]))
        trips.append(DayTrip(leaves * HOUR, arrives * HOUR, here, there, "walking"))
        here = there
    if trips and draw(st.booleans()):
        trips[-1] = trips[-1]._replace(arrives=None)
    return trips


def by_the_hour(trips):
    """Where somebody is at each full hour, told step by step."""
    places, here = [], "h"
    for second in range(0, 2 * DAY_SECONDS + 1, HOUR):
        for trip in trips:
            if trip.leaves < second:
                here = None
            if trip.arrives is not None and trip.arrives <= second:
                here = trip.target
        places.append(here)
    return places


@given(journeys())
def test_a_place_at_every_hour(trips):
    found = [place_at("h", trips, second) for second in range(0, 2 * DAY_SECONDS + 1, HOUR)]
    assert found == by_the_hour(trips)


@given(journeys())
def test_the_time_on_the_way_is_that_of_the_hours_between(trips):
    places = by_the_hour(trips)
    for day in (0, 1):
        # In an hour that ends on the way, or in which a trip arrives at its end, one is on the way.
        hours = range(24 * day, 24 * day + 24)
        moving = sum(
            any(
                trip.leaves <= hour * HOUR and (trip.arrives is None or trip.arrives > hour * HOUR)
                for trip in trips
            )
            for hour in hours
        )
        assert seconds_on_the_way(trips, day) == moving * HOUR
    assert len(places) == 49


@given(journeys())
def test_stops_are_the_places_that_one_saw(trips):
    for day in (0, 1):
        seen = by_the_hour(trips)[24 * day : 24 * day + 24]
        walked = [place for place in seen if place is not None]
        assert [place for place, _ in itertools.groupby(stops("h", trips, day))] == [
            place for place, _ in itertools.groupby(walked)
        ]


@given(journeys())
def test_each_trip_leaves_on_one_day_and_stays_lie_between(trips):
    assert of_day(trips, 0) + of_day(trips, 1) == trips
    if trips and trips[-1].arrives is not None:  # then stays, trips and both nights fill the days
        travelled = sum(trip.arrives - trip.leaves for trip in trips)
        nights = trips[0].leaves + 2 * DAY_SECONDS - trips[-1].arrives
        assert sum(dwell_times(trips)) + travelled + nights == 2 * DAY_SECONDS
        assert len(dwell_times(trips)) == len(trips) - 1


def test_visits_of_one_place_are_one_stay():
    visits = [(0, 1), (25200, 1), (32400, 2), (64800, 1), (82800, 1)]
    trips = visits_trips(visits)
    assert [(t.leaves, t.arrives, t.origin, t.target) for t in trips] == [
        (32400, 32400, 1, 2),
        (64800, 64800, 2, 1),
    ]
    assert dwell_times(trips) == [32400]
    assert stops(1, trips, 0) == [1, 2, 1]
    assert place_at(1, trips, DAY_SECONDS) == 1
    assert seconds_on_the_way(trips, 0) == 0
    assert visits_trips([(0, 1)]) == []
