"""A day on the map: what is drawn is what was lived."""

from __future__ import annotations

import pytest
from benchmarks.drawn import marks
from benchmarks.lived_days import HOME, PUB, SHOP, WORK, day
from benchmarks.told_people import LIVED, VISITS, people

from pytest_agentbench.benchmarks.days import day_maps
from pytest_agentbench.reports import charts

LABELS = ("sleep", "home activity", "other", "work", "shopping", "eating out")


def figure(*days, **more):
    dataset, told = people(*days, count=len(more.get("days", "x")))
    return day_maps.day_on_the_map(dataset, told, **more)


def rows(columns):
    return list(zip(*columns.values(), strict=True))


def test_places_have_numbers_in_the_order_of_the_day_and_say_what_they_are():
    (frame,) = figure(LIVED).picker.frames.values()
    assert rows(frame["places"]) == [
        (1, "1 home", "home", 0.0, 0.0, 0.0, 13.11),  # 28,800 + 18,400 seconds
        (2, "2 work", "work", 0.6, 0.8, 8.33, 8.67),
        (3, "3 shop", "elsewhere", 0.3, 0.0, 17.67, 0.58),
    ]


def test_ways_have_their_route_their_mode_and_their_hours():
    (frame,) = figure(LIVED).picker.frames.values()
    assert rows(frame["trips"]) == [
        (0, "1 home", "2 work", 8.0, 8.333, "driving", 1.0, "a route"),
        (1, "2 work", "3 shop", 17.0, 17.667, "cycling", 2.0, "a route"),
        (2, "3 shop", "3 shop", 18.25, 18.5, "walking", 0.1, "a route"),  # given up
        (3, "1 home", "1 home", 18.5, 18.889, "walking", 0.25, "a route"),  # began on the way
    ]
    route = rows(frame["route"])
    assert [point[1:] for point in route if point[0] == 1] == [(0.6, 0.8), (0.45, 0.4), (0.3, 0.0)]
    assert len(route) == sum(len(trip["route"]) for trip in LIVED["trips"])


def test_the_map_is_a_square_around_everything_also_of_whoever_stays_at_home():
    (frame,) = figure(LIVED).picker.frames.values()
    ends = {name: value for name, (value,) in frame["frame"].items()}
    assert ends["x1"] - ends["x0"] == pytest.approx(ends["y1"] - ends["y0"], abs=0.002)
    assert ends["x0"] < 0.0 < 0.6 < ends["x1"]
    assert ends["y0"] < 0.0 < 0.8 < ends["y1"]
    (still,) = figure(day(900, [(101, HOME, None)])).picker.frames.values()
    assert {name: value for name, (value,) in still["frame"].items()} == {"x0": -0.2, "x1": 0.2, "y0": -0.2, "y1": 0.2}  # fmt: skip


def test_it_is_drawn_place_by_place_way_by_way():
    made = figure(LIVED)
    assert [text.partition("; ")[2] for text in marks(made, "symbol")] == [
        "y (km): 0; hour of the day: 0; kind: home; place: 1 home; first at: 00:00; hours there: 13.1",
        "y (km): 0.8; hour of the day: 8.33; kind: work; place: 2 work; first at: 08:20; hours there: 8.7",
        "y (km): 0; hour of the day: 17.67; kind: elsewhere; place: 3 shop; first at: 17:40; hours there: 0.6",
    ]  # fmt: skip
    assert [text.split("number: ")[1][0] for text in marks(made, "text")] == ["1", "2", "3"]
    ways = [text for text in marks(made, "line") if "trip: " in text]
    assert len(ways) == 4
    assert "between: 2 work; and: 3 shop; from: 17:00; until: 17:40; mode: cycling; km: 2.0" in ways[1]  # fmt: skip
    stays = [text for text in marks(made, "rect") if "place: " in text]
    assert [text.rpartition("intention: ")[2] for text in stays] == [
        "sleep", "work", "shopping", "home activity",
    ]  # fmt: skip
    assert [text.split("mode: ")[1] for text in marks(made, "rule")] == [
        "driving; km: 1.0", "cycling; km: 2.0", "walking; km: 0.1", "walking; km: 0.3",
    ]  # fmt: skip


def test_visits_have_straight_dashed_lines_between_places_of_the_map():
    made = figure(VISITS, intentions=LABELS)
    (frame,) = made.picker.frames.values()
    assert [row[1:5] for row in rows(frame["places"])] == [
        ("1 home", "home", 0.0, 0.0),
        ("2 work", "work", 0.6, 0.8),
        ("3", "elsewhere", 0.45, 0.01),  # a position has no name
    ]
    assert [row[-3:] for row in rows(frame["trips"])] == [("not told", None, "a straight line")] * 3  # fmt: skip
    assert rows(frame["route"])[:2] == [(0, 0.0, 0.0), (0, 0.6, 0.8)]
    assert frame["stays"]["intention"] == ["sleep", "work", "eating out", "home activity", "sleep"]
    assert "dashed lines join their places" in made.caption
    lived = figure(LIVED).caption
    assert "dashed" not in lived
    assert "on the way (lines). Trips follow no roads: they are straight lines" in lived
    assert made.charts[1]["layer"][1]["encoding"]["strokeDash"]["legend"] is None  # no mode to tell
    assert len(marks(made, "rule")) == 3


def test_every_day_of_several_has_its_own_map():
    rows_of = day(1800, [(50, HOME, None), (40, WORK, None), (54, PUB, None)])
    made = figure(rows_of, days=("before", "during", "after"))
    assert made.picker.labels == ("person", "day")
    ((label, frames),) = made.picker.frames.items()
    assert label == "user[0] (3 places, 2.0 km in 3 days)"
    assert {name: frame["places"]["name"] for name, frame in frames.items()} == {
        "before": ["1 home"],
        "during": ["1 home", "2 work", "3 restaurant"],
        "after": ["1 restaurant"],
    }
    assert "place: 1 restaurant" in marks(made, "symbol", day="after")[0]


def test_the_picker_has_thirty_people_from_the_most_places_to_the_fewest():
    stays = [[(101, HOME, None)], [(50, HOME, None), (51, WORK, None)], [(50, HOME, None), (20, WORK, None), (31, SHOP, None)]]  # fmt: skip
    made = figure(*[day(900, stays[n % 3]) for n in range(100)])
    labels = list(made.picker.frames)
    assert len(labels) == day_maps.MOST_SHOWN
    counts = [int(label.split("(")[1].split()[0]) for label in labels]
    assert counts == sorted(counts, reverse=True)
    assert (counts[0], counts[-1]) == (3, 1)
    assert labels[-1].endswith("(1 place, 0.0 km)")
    assert "In the picker: 30 of 100 people" in made.caption
    assert charts.checked(made)


def test_nobody_who_tells_a_day_no_map():
    assert figure(None, None) is None
