"""The form of a lived day: what passes, and what is refused with which words."""

from __future__ import annotations

import copy
import json
import math

import numpy as np
import pytest
from answer_strategies import Boxed, spoiled
from benchmarks.lived_days import CITY, HOME, PUB, WORK, day, trip
from hypothesis import given

from pytest_agentbench.base.errors import InvalidAnswer
from pytest_agentbench.benchmarks.days.lived_day import TICK_TIMEOUT, Grid, check_day

GRID = Grid(900, 3, 5)
STAYS = [(2, HOME, "sleep"), (1, None, "work"), (1, WORK, "work")]
DAY = day(900, STAYS, trips=[trip(1700, 2500, HOME, WORK)], roads=True)


def changed(*path, value):
    made = copy.deepcopy(DAY)
    holder = made
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    return made


def test_a_day_passes_in_plain_form():
    kept = check_day(DAY, CITY, GRID)
    assert kept == {key: DAY[key] for key in ("rows", "trips", "roads")}
    assert json.loads(json.dumps(kept)) == kept
    assert check_day(kept, CITY, GRID) == kept  # as a record has it, without the step


def test_numpys_numbers_and_tuples_are_numbers_and_lists():
    rows = [(np.int64(r[0]), r[1], r[2], np.float32(r[3]), np.float64(r[4])) for r in DAY["rows"]]
    made = {**DAY, "rows": rows, "step": np.int64(900), "roads": np.bool_(True)}
    assert check_day(made, CITY, GRID) == check_day(DAY, CITY, GRID)
    whole = check_day(changed("rows", 0, value=[0.0, float(HOME), None, 0, 0]), CITY, GRID)
    assert whole["rows"][0] == [0, HOME, None, 0.0, 0.0]
    assert type(whole["rows"][0][0]) is type(whole["rows"][0][1]) is int


def test_a_long_intention_is_cut_and_no_label():
    kept = check_day(changed("rows", 1, 2, value="sleep " * 1000), CITY, GRID)
    assert kept["rows"][1][2] == ("sleep " * 34)[:200]


def test_a_trip_may_begin_on_the_way_and_not_arrive():
    trips = [
        trip(0, None, HOME, WORK, metres=0),
        trip(900, None, None, PUB, mode="walking"),
        {key: value for key, value in trip(900, 1000, None, HOME).items() if key != "route"},
    ]
    kept = check_day({**DAY, "trips": trips}, CITY, GRID)["trips"]
    assert [(t["from"], t["arrival"], t["mode"]) for t in kept] == [
        (HOME, None, "driving"),
        (None, None, "walking"),
        (None, 1000, "driving"),
    ]
    assert kept[2]["route"] == []


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (changed("step", value=1800), "expected step as 900, the seconds of a tick, got 1800"),
        (changed("step", value="900"), "the seconds of a tick, got '900'"),
        (
            changed("rows", value=None),
            "expected rows as 3 to 5 rows, one every 900 seconds, got None",
        ),
        (changed("rows", value=DAY["rows"][:2]), "one every 900 seconds, got 2 rows"),
        (changed("rows", value=DAY["rows"] * 2), "one every 900 seconds, got 8 rows"),
        (
            changed("rows", 1, value=[900, HOME, "sleep"]),
            "expected row 1 as [seconds, place id or null, intention or null, x, y], got 3 values",
        ),
        (changed("rows", 1, value=7), "intention or null, x, y], got 7"),
        (
            changed("rows", 2, 0, value=900),
            "expected row 2 at second 1800 (tick 2 of 900 seconds), got 900",
        ),
        (changed("rows", 2, 0, value=math.nan), "(tick 2 of 900 seconds), got nan"),
        (
            changed("rows", 0, 0, value=False),
            "row 0 at second 0 (tick 0 of 900 seconds), got False",
        ),
        (
            changed("rows", 3, 1, value=5009),
            "expected the id of a place of the city (4 places) or null in row 3, got 5009",
        ),
        (changed("rows", 3, 1, value=True), "or null in row 3, got True"),
        (changed("rows", 3, 1, value=[1.0, 2.0]), "or null in row 3, got [1.0, 2.0]"),
        (
            changed("rows", 3, 2, value=4),
            "expected a text or null as the intention in row 3, got 4",
        ),
        (
            changed("rows", 3, 3, value=math.inf),
            "expected a finite position in metres as x in row 3, got inf",
        ),
        (changed("rows", 3, 4, value=None), "position in metres as y in row 3, got None"),
        (changed("rows", 3, 4, value=1e300), "position in metres as y in row 3, got 1e+300"),
        (changed("trips", value=None), "expected trips as a list of at most 50, got None"),
        (changed("trips", value=[DAY["trips"][0]] * 51), "of at most 50, got 51 trips"),
        (
            changed("trips", 0, value={"to": HOME}),
            "expected departure, arrival, from, to, mode, metres in trip 0, got {'to': 500000001}",
        ),
        (
            changed("trips", 0, "departure", value=-1),
            "expected departure in trip 0 as seconds since the start, 0 to 4500, got -1",
        ),
        (
            changed("trips", 0, "arrival", value=1000),
            "expected arrival in trip 0 as null or seconds since the start, from its departure (1700) "
            "to 4500, got 1000",
        ),
        (
            changed("trips", value=[trip(0, 900, HOME, WORK), trip(800, 1000, WORK, HOME)]),
            "expected trips one after the other: trip 1 to depart after trip 0, got 800",
        ),
        (
            changed("trips", 0, "to", value=None),
            "expected the id of a place of the city (4 places) or null in to of trip 0, got None",
        ),
        (changed("trips", 0, "from", value="nowhere"), "or null in from of trip 0, got 'nowhere'"),
        (
            changed("trips", 0, "mode", value="rocket"),
            "expected mode in trip 0 as one of walking, driving, cycling, transit, got 'rocket'",
        ),
        (changed("trips", 0, "mode", value=["driving"]), "cycling, transit, got ['driving']"),
        (
            changed("trips", 0, "metres", value=-2),
            "expected metres in trip 0 as a finite number of at least 0, got -2",
        ),
        (
            changed("trips", 0, "route", value=[[0, 0]] * 41),
            "expected route in trip 0 as at most 40 points [x, y], got 41 points",
        ),
        (
            changed("trips", 0, "route", value=[[0, 0, 0]]),
            "expected points [x, y] as route in trip 0, got 3 values",
        ),
        (
            changed("trips", 0, "route", value=[[0, math.nan]]),
            "expected a finite position in metres as y in route of trip 0, got nan",
        ),
        (
            changed("trips", value=[]),
            "expected a trip to every place after the first: none leads to that of row 3, got 500000002",
        ),
        (
            changed("roads", value="yes"),
            "expected roads as true (trips follow the roads) or false, got 'yes'",
        ),
    ],
)
def test_what_is_no_day_is_refused_with_what_was_expected(answer, message):
    with pytest.raises(InvalidAnswer) as error:
        check_day(answer, CITY, GRID)
    assert message in str(error.value)


@given(spoiled(DAY).map(Boxed))
def test_whatever_comes_is_a_day_or_refused(boxed):
    try:
        kept = check_day(boxed.answer, CITY, GRID)
    except InvalidAnswer:
        return
    assert json.loads(json.dumps(kept, allow_nan=False)) == kept
    assert check_day(kept, CITY, GRID) == kept


def test_a_tick_may_take_as_long_as_a_number_of_seconds_says():
    assert (TICK_TIMEOUT.default, TICK_TIMEOUT.parse("2.5"), TICK_TIMEOUT.parse(3)) == (
        None,
        2.5,
        3,
    )
    with pytest.raises(ValueError):  # noqa: PT011 -- options.py says the rest
        TICK_TIMEOUT.parse(0)


def test_a_trip_may_say_that_it_follows_no_roads():
    for said, kept in ((False, {"roads": False}), (True, {}), (np.bool_(False), {"roads": False})):
        checked = check_day(changed("trips", 0, "roads", value=said), CITY, GRID)
        assert checked["trips"] == [{**DAY["trips"][0], **kept}]
        assert check_day(checked, CITY, GRID) == checked  # out of a record
    with pytest.raises(InvalidAnswer, match=r"roads in trip 0 as true .* or false, got 'no'"):
        check_day(changed("trips", 0, "roads", value="no"), CITY, GRID)
