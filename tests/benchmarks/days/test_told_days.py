"""Days are read as they were lived: where, when, which way."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.lived_days import CITY, HOME, PUB, SHOP, WORK, day, trip
from benchmarks.told_people import LIVED, VISITS, people, records

from pytest_agentbench.benchmarks.days import told_days
from pytest_agentbench.benchmarks.days.told_days import WHERE, stays_of, ways_of

AT_HOME, AT_WORK, ELSEWHERE, ON_THE_WAY = range(4)


def test_stays_begin_and_end_with_the_trips_to_the_second():
    found = [(stay.place, stay.start, stay.end, stay.intention) for stay in stays_of(LIVED)]
    assert found == [
        (HOME, 0, 28_800, "sleep"),
        (WORK, 30_000, 61_200, "work"),
        (SHOP, 63_600, 65_700, "shopping"),
        (HOME, 68_000, 86_400, "home activity"),
    ]


def test_a_stay_is_told_apart_by_its_intention_and_ends_with_the_day():
    found = stays_of(day(900, [(10, HOME, "sleep"), (91, HOME, None)]))
    assert [(one.start, one.end, one.intention) for one in found] == [
        (0, 9_000, "sleep"),
        (9_000, 86_400, None),
    ]


def test_whoever_arrives_at_a_tick_and_leaves_at_once_does_not_stay():
    told = {**day(900, [(1, HOME, "a"), (1, SHOP, "a"), (94, HOME, "a")]), "trips": [trip(100, 900, HOME, SHOP), trip(900, 1_500, SHOP, HOME)]}  # fmt: skip
    assert [(one.place, one.start, one.end) for one in stays_of(told)] == [
        (HOME, 0, 100),
        (HOME, 1_500, 86_400),
    ]


def test_ways_say_whether_and_where_they_ended():
    found = [(way.departure, way.end, way.arrived, way.start, way.to) for way in ways_of(LIVED)]
    assert found == [
        (28_800, 30_000, True, HOME, WORK),
        (61_200, 63_600, True, WORK, SHOP),
        (65_700, 66_600, False, SHOP, PUB),  # given up for the next one
        (66_600, 68_000, True, None, HOME),
    ]


def test_whoever_is_on_the_way_at_the_end_is_so_until_then():
    told = {**day(1800, [(47, HOME, None), (1, None, None)]), "trips": [trip(84_600, None, HOME, WORK)]}  # fmt: skip
    assert [(way.end, way.arrived) for way in ways_of(told)] == [(86_400, False)]


def test_visits_last_until_the_next_one_and_a_way_takes_no_time():
    found = [(stay.place, stay.start, stay.end, stay.intention) for stay in stays_of(VISITS)]
    assert found == [
        (HOME, 0, 32_400, 1), (WORK, 32_400, 43_200, 4), ((450.0, 10.0), 43_200, 46_800, 6),
        (HOME, 46_800, 50_000, 2), (HOME, 50_000, 86_400, 1),
    ]  # fmt: skip
    ways = ways_of(VISITS)
    assert [(way.departure, way.end, way.start, way.to, way.mode) for way in ways] == [
        (32_400, 32_400, HOME, WORK, None),
        (43_200, 43_200, WORK, (450.0, 10.0), None),
        (46_800, 46_800, (450.0, 10.0), HOME, None),
    ]


def test_where_a_person_is_at_each_half_hour_is_what_the_rows_say():
    _, told = people(LIVED, VISITS)
    lived, visits = (person.where[0] for person in told.people)
    expected = [LIVED["rows"][2 * slot][1] for slot in range(48)]
    codes = {HOME: AT_HOME, WORK: AT_WORK, None: ON_THE_WAY}
    assert lived.tolist() == [codes.get(place, ELSEWHERE) for place in expected]
    assert visits.tolist() == [AT_HOME] * 18 + [AT_WORK] * 6 + [ELSEWHERE] * 2 + [AT_HOME] * 22
    # Who departs at 17:00 is still there in the row of that tick.
    assert [WHERE[code] for code in lived[34:36]] == ["at work", "on the way"]


def test_a_person_in_numbers():
    _, told = people(LIVED, VISITS)
    lived, visits = told.people
    assert (lived.lived, lived.places, lived.metres) == (True, 3, 3_350.0)
    assert lived.on_the_way == [1_200 + 2_400 + 900 + 1_400]
    assert (visits.lived, visits.places, visits.metres, list(visits.on_the_way)) == (False, 3, 0, [])  # fmt: skip
    # The way that was given up and the next one are one trip, to where it ended.
    assert [(one.leaves, one.arrives, one.target) for one in lived.trips] == [
        (28_800, 30_000, WORK),
        (61_200, 63_600, SHOP),
        (65_700, 68_000, HOME),
    ]
    assert [one.leaves for one in visits.trips] == [32_400, 43_200, 46_800]


def test_facts_are_there_for_whom_positions_are_given():
    dataset, told = people(LIVED)
    assert told.people[0].facts is None
    found = told_days.read_people(dataset, records(LIVED), position=CITY.position)
    assert found.people[0].facts["trips"] == [3]
    assert found.people[0].facts["on_the_way"] == [found.people[0].on_the_way[0] / 86_400]


def test_days_are_told_apart_and_a_way_over_midnight_counts_on_both():
    rows = day(1800, [(47, HOME, None), (2, None, None), (95, WORK, None)])
    told = {**rows, "trips": [trip(84_600, 86_500, HOME, WORK)]}
    _, read = people(told, count=3)
    (person,) = read.people
    assert person.where.shape == (3, 48)
    assert person.where[:, 0].tolist() == [AT_HOME, ON_THE_WAY, AT_WORK]
    assert person.on_the_way == [1_800, 100, 0]
    assert [len(ways_of(told, number)) for number in range(3)] == [1, 0, 0]
    assert [(one.start, one.end) for one in stays_of(told, 1)] == [(100, 86_400)]
    assert [(one.start, one.end) for one in stays_of(told, 2)] == [(0, 86_400)]


def test_it_says_how_many_told_their_day():
    _, told = people(LIVED, None, VISITS)
    assert (len(told.people), told.asked, told.answers) == (2, 3, 3)
    assert told.words == "2 of 3 valid answers tell their day."
    assert people(LIVED)[1].words == "All 1 valid answers tell their day."


def test_of_very_many_people_a_spread_is_read(monkeypatch):
    monkeypatch.setattr(told_days, "MOST_PEOPLE", 5)
    _, told = people(*[LIVED] * 101)
    assert [person.record.sample for person in told.people] == [f"user[{n}]" for n in (0, 25, 50, 75, 100)]  # fmt: skip
    assert told.words == "5 of 5 valid answers, a spread of 101, tell their day."


def test_an_answer_without_a_day_is_none():
    (record,) = records(None)
    assert told_days.told(record.answer) is None
    assert told_days.told(3) is None


@pytest.mark.parametrize(("total", "most"), [(1, 5), (7, 7), (100, 30)])
def test_a_spread_has_both_ends_and_no_one_twice(total, most):
    found = told_days.spread(total, most)
    assert (found[0], found[-1]) == (0, total - 1)
    assert len(set(found)) == len(found) == min(total, most)
    assert np.ptp(np.diff(found)) <= 1 if len(found) > 1 else True


def test_it_says_whether_trips_follow_roads():
    by_road = {**LIVED, "roads": True}
    some = {**by_road, "trips": [{**LIVED["trips"][0], "roads": False}, *LIVED["trips"][1:]]}
    lines = "straight lines, whose lengths count 1.3 times."
    assert people(by_road, VISITS)[1].by_road == " Trips follow the roads."
    assert people(LIVED)[1].by_road == f" Trips follow no roads: they are {lines}"
    assert people(by_road, some)[1].by_road == (
        f" Trips follow the roads, except for 1 of 8: {lines}"
    )
    assert people(by_road, LIVED)[1].by_road.startswith(
        " Trips follow the roads, except for 4 of 8"
    )
    still = day(900, [(101, HOME, None)])
    assert people(VISITS, still)[1].by_road == ""
