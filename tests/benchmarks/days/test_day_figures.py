"""Figures of a population's days: their numbers, counted by hand."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.drawn import marks
from benchmarks.lived_days import HOME, WORK, day, trip
from benchmarks.told_people import LIVED, VISITS, people

from pytest_agentbench.benchmarks.days import day_figures
from pytest_agentbench.benchmarks.days.told_days import WHERE

STILL = day(900, [(101, HOME, "sleep")])


def told(*days, count=1):
    return people(*days, count=count)[1]


def test_where_people_are_are_shares_of_each_half_hour():
    made = day_figures.where_people_are(told(LIVED, STILL, STILL, VISITS))
    assert tuple(made.data) == WHERE
    shares = {name: columns["share"] for name, columns in made.data.items()}
    assert sum(map(np.array, shares.values())) == pytest.approx(np.ones(49), abs=1e-4)
    # At 10:00 two are at home, two at work; at 17:30 one is on the way; the last value is drawn twice.
    assert [shares[name][20] for name in WHERE] == [0.5, 0.5, 0.0, 0.0]
    assert [shares[name][35] for name in WHERE] == [0.75, 0.0, 0.0, 0.25]
    assert shares["at home"][48] == shares["at home"][47]
    assert "Visits do not say" in made.caption
    areas = [text for text in marks(made, "rect") if "hour of the day: 17.5;" in text]
    assert [text.split("share: ")[1].split("%")[0] for text in areas] == ["75.000000", "0.000000", "0.000000", "25.000000"]  # fmt: skip


def test_three_days_are_three_lines_with_dashes_of_their_own():
    rows = day(1800, [(50, HOME, None), (40, WORK, None), (54, HOME, None)])
    made = day_figures.where_people_are(told(rows, count=3), ("before", "during", "after"))
    columns = made.data["at work"]
    assert [columns["day"].count(name) for name in ("before", "during", "after")] == [49] * 3
    assert sum(columns["share"]) == 40
    assert len(marks(made, "line")) == 4 * 3
    dashes = made.charts[0]["encoding"]["strokeDash"]["scale"]["range"]
    assert len({tuple(one) for one in dashes}) == 3


def test_trips_by_hour_are_departures_a_person():
    made = day_figures.trips_by_hour(told(LIVED, VISITS, STILL, STILL))
    trips = made.data["bars"]["trips"]
    assert {hour: value for hour, value in enumerate(trips) if value} == {8: 0.25, 9: 0.25, 12: 0.25, 13: 0.25, 17: 0.25, 18: 0.25}  # fmt: skip
    assert "1.5 in all" in made.caption
    bars = marks(made, "rect")
    assert len(bars) == 24
    assert bars[18] == "hour of the day: 18 – 19; trips a person: 0.25; from: 18; to: 19; trips: 0.250"  # fmt: skip


def test_a_trip_after_the_day_is_none_of_it():
    late = {**day(900, [(101, HOME, None)]), "trips": [trip(87_000, 88_000, HOME, WORK)]}
    assert day_figures.trips_by_hour(told(late)) is None


def test_travel_times_are_shares_of_the_trips_of_each_mode_that_arrived():
    made = day_figures.travel_times(told(LIVED, VISITS))
    assert list(made.data) == ["walking", "cycling", "driving"]  # no one takes transit
    titles = [chart["title"] for chart in made.charts]
    assert titles == [
        "walking: 33% of trips, median 38 min",
        "cycling: 33% of trips, median 40 min",
        "driving: 33% of trips, median 20 min",
    ]
    for mode, minutes in (("walking", 2_300 / 60), ("cycling", 40.0), ("driving", 20.0)):
        bars = made.data[mode]
        (at,) = np.flatnonzero(bars["trips"])
        assert bars["left"][at] <= minutes + 1e-3
        assert minutes - 1e-3 <= bars["right"][at]
        assert bars["trips"][at] == 1.0
    assert "3 trips of lived days" in made.caption
    assert "all longer ones. Trips follow no roads: they are straight lines" in made.caption
    assert "did not arrive" not in made.caption  # the way that was given up led home
    assert len(marks(made, "rect")) == 3 * day_figures.BINS


def test_one_endless_trip_does_not_squeeze_the_others():
    trips = [trip(600 * n, 600 * n + 300, HOME, WORK) for n in range(200)]
    trips.append(trip(130_000, 130_000 + 80_000, HOME, WORK))
    long = {**day(1800, [(144, HOME, None)]), "trips": trips}
    made = day_figures.travel_times(told(long, count=3))
    bars = made.data["driving"]
    assert bars["right"][-1] == 5.0
    assert bars["trips"][-1] == 1.0
    assert sum(bars["trips"]) == 1.0


def test_the_share_on_the_way_is_that_of_the_trips():
    made = day_figures.time_on_the_way(told(LIVED, STILL, VISITS))
    share = (1_200 + 2_400 + 900 + 1_400) / 86_400
    bars = made.data["bars"]
    assert sum(bars["people"]) == 1.0  # visits have no way
    assert bars["people"][0] == 0.5
    (at,) = np.flatnonzero(np.array(bars["people"][1:])) + 1
    assert bars["left"][at] <= share <= bars["right"][at]
    assert f"On average {share / 2:.1%}, or {share * 720:.0f} minutes" in made.caption
    assert "that is above. Trips follow no roads: they are straight lines" in made.caption
    assert len(marks(made, "rect")) == day_figures.BINS


def test_every_day_of_several_has_its_own_share():
    rows = day(1800, [(47, HOME, None), (2, None, None), (95, WORK, None)])
    lived = {**rows, "trips": [trip(84_600, 86_500, HOME, WORK)]}
    made = day_figures.time_on_the_way(told(lived, count=3), ("before", "during", "after"))
    assert [chart["title"] for chart in made.charts] == ["before: mean 2.1%", "during: mean 0.1%", "after: mean 0.0%"]  # fmt: skip
    assert [np.flatnonzero(made.data[name]["people"]).size for name in made.data] == [1, 1, 1]


def test_without_lived_days_there_are_no_times():
    assert day_figures.travel_times(told(VISITS)) is None
    assert day_figures.time_on_the_way(told(VISITS)) is None
    assert day_figures.where_people_are(told(None)) is None
    assert day_figures.trips_by_hour(told(None)) is None
