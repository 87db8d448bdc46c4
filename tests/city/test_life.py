"""One person's days: every number here was worked out by hand.

On the map of these tests driving takes 1.3 / 8.3 seconds a metre: 1,000 m take 156.6 s.
"""

from __future__ import annotations

import json

import numpy as np
import pytest

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.city.life import Life, Moment, NoSuchPlace
from pytest_agentbench.city.map import City, Place, Poi
from pytest_agentbench.city.view import CityView

KILOMETRE = 1300 / 8.3  # seconds of driving
PLACES = [
    Place(1, 0.0, 0.0, "residential"),
    Place(2, 1000.0, 0.0, "office"),
    Place(3, 0.0, 12_000.0, "park"),
    Place("pier", 0.0, 500.0, "harbour"),
]
POIS = [Poi(71, 1005.0, 0.0, "amenity|cafe", "Bean", 2), Poi(72, 0, 0, "shop|kiosk", "", None)]
PROFILE = {"id": 9, "home": 1, "work": 2, "age": 40}


class OnlyMethods(dict):
    """A view as another process has it: a dict, and calls whose values went through JSON."""

    def __init__(self, view):
        super().__init__(json.loads(json.dumps(view)))
        self._view = view

    def __getattr__(self, name):
        assert name in CityView.agentbench_methods
        method = getattr(self._view, name)
        return lambda *args, **kwargs: json.loads(
            json.dumps(method(*json.loads(json.dumps(args)), **json.loads(json.dumps(kwargs))))
        )


@pytest.fixture(params=[CityView, lambda *parts: OnlyMethods(CityView(*parts))])
def view(request):
    return request.param(City(PLACES, "places.csv", POIS), 1, 2)


@pytest.fixture
def live(view):
    def live(profile=PROFILE, **simulation):
        return Life(view, profile, {"step": 900, "steps": 101, **simulation})

    return live


def tick(life, *actions):
    moment = life.begin_tick()
    for action in actions:
        action()
    life.end_tick()
    return moment


def test_the_first_tick_is_midnight_at_home(live):
    life = live(weather=["sunny"])
    assert (life.here, life.position, life.home, life.work) == (1, (0.0, 0.0), 1, 2)
    assert (life.mode, life.destination, life.lane, life.here_poi, life.intention) == (None,) * 5
    assert life.now == Moment(0, 0, 0)
    assert life.profile == PROFILE
    assert life.weather == "sunny"


def test_the_clock_runs_over_midnight(live):
    life = live()
    moments = [tick(life) for _ in range(98)]
    assert str(moments[30]) == "day 0, 07:30"
    assert str(moments[95]) == "day 0, 23:45"
    assert (str(moments[97]), moments[97].since_start) == ("day 1, 00:15", 97 * 900)


def test_the_weather_is_that_of_the_day_and_the_last_one_stays(live):
    life = live(step=43_200, weather=["calm", "storm"])
    seen = []
    for _ in range(6):
        seen.append(life.weather)
        tick(life)
    assert seen == ["calm", "calm", "storm", "storm", "storm", "storm"]
    assert live().weather == ""


def test_a_short_trip_is_over_by_the_next_tick(live):
    life = live()
    tick(life, lambda: life.intend("sleep"))
    tick(life, lambda: life.intend("work"), lambda: life.go_to(2))
    assert (life.here, life.position, life.mode, life.destination) == (
        2,
        (1000.0, 0.0),
        None,
        None,
    )
    tick(life)
    told = life.told()
    assert told["rows"] == [
        [0, 1, "sleep", 0.0, 0.0],
        [900, 1, "work", 0.0, 0.0],  # where the tick began; what is intended since
        [1800, 2, "work", 1000.0, 0.0],
    ]
    assert told["trips"] == [
        {
            "departure": 900.0,
            "arrival": round(900 + KILOMETRE, 1),
            "from": 1,
            "to": 2,
            "mode": "driving",
            "metres": 1300.0,
            "route": [[0.0, 0.0], [1000.0, 0.0]],
        }
    ]
    assert (told["step"], told["roads"]) == (900, False)
    assert json.loads(json.dumps(told)) == told


def test_a_long_trip_is_on_the_way_for_ticks(live):
    life = live()  # 15,600 m at 8.3 m/s: 1,879.5 s
    tick(life, lambda: life.go_to(3))
    assert (life.here, life.mode, life.destination) == (None, "driving", 3)
    assert life.position == pytest.approx((0.0, 12_000 * 900 * 8.3 / 15_600))
    tick(life)
    assert life.here is None
    tick(life)
    assert (life.here, life.mode, life.position) == (3, None, (0.0, 12_000.0))
    assert [row[1] for row in life.told()["rows"]] == [1, None, None]


def test_a_trip_that_is_replaced_ends_where_it_was(live):
    life = live()
    tick(life, lambda: life.go_to(3))
    tick(life, lambda: life.go_to(1, "walking"))
    first, second = life.told()["trips"]
    travelled = 900 * 8.3
    assert (first["to"], first["arrival"], first["metres"]) == (3, None, round(travelled, 1))
    assert (second["from"], second["to"], second["departure"]) == (None, 1, 900.0)
    assert second["arrival"] is None  # on foot it takes 5,746 s
    assert second["metres"] == round(900 * 1.3, 1)
    for _ in range(6):
        tick(life)
    assert life.here == 1
    assert life.told()["trips"][1]["arrival"] == round(900 + travelled / 1.3, 1)


def test_saying_it_again_on_the_way_changes_nothing(live):
    once, again = live(), live()
    for number in range(4):
        tick(once, *([lambda: once.go_to(3)] if number == 0 else []))
        tick(again, lambda: again.go_to(3))
    assert once.told() == again.told()
    assert len(once.told()["trips"]) == 1


def test_going_where_one_is_makes_no_trip_and_cancels_what_was_planned(live):
    life = live()
    tick(life, lambda: life.go_to(2), lambda: life.go_to(1))
    tick(life)
    assert life.told()["trips"] == []
    assert life.here == 1


def test_the_last_word_in_a_tick_counts(live):
    life = live()
    tick(life, lambda: life.go_to(3), lambda: life.go_to(2))
    assert life.here == 2
    assert [trip["to"] for trip in life.told()["trips"]] == [2]


def test_a_later_departure_waits(live):
    life = live()
    tick(life, lambda: life.go_to(2, departure=2000))
    tick(life)
    assert life.here == 1
    tick(life)
    assert life.here == 2
    assert life.told()["trips"][0]["departure"] == 2000.0


def test_who_departs_when_a_tick_begins_is_still_there_then(live):
    life = live()
    tick(life, lambda: life.go_to(2, departure=900))
    assert (life.here, life.mode) == (1, None)
    tick(life)
    assert life.here == 2
    assert life.told()["rows"][1][1] == 1


def test_what_is_under_way_goes_on_until_the_later_departure(live):
    life = live()
    tick(life, lambda: life.go_to(3))
    tick(life, lambda: life.go_to(1, departure=1000))
    first, second = life.told()["trips"]
    assert (first["metres"], second["departure"]) == (round(1000 * 8.3, 1), 1000.0)


def test_a_schedule_is_kept_one_trip_after_the_other(live):
    life = live()
    stops = [(2, "driving", None), (71, "driving", 100), (1, "walking", 700), (3, "driving", 710)]
    tick(life, lambda: life.schedule(stops))
    for _ in range(5):
        tick(life)
    trips = life.told()["trips"]
    # To the cafe in place 2 there is no trip. On foot home: 1,000 s; then at once to the park.
    assert [(t["from"], t["to"], t["departure"], t["arrival"]) for t in trips] == [
        (1, 2, 0.0, round(KILOMETRE, 1)),
        (2, 1, 700.0, 1700.0),
        (1, 3, 1700.0, round(1700 + 12 * KILOMETRE, 1)),
    ]


def test_staying_cancels_the_plan_and_not_the_trip_under_way(live):
    life = live()
    tick(life, lambda: life.go_to(2, departure=1000), life.stay)
    tick(life)
    assert life.here == 1
    tick(life, lambda: life.go_to(3))
    tick(life, life.stay)
    assert (life.here, life.destination) == (None, 3)


def test_a_poi_is_a_place_in_its_area(live):
    for place in (71, (2, 71), [2, 71], np.int64(71), 71.0):
        life = live()
        tick(life, lambda life=life, place=place: life.go_to(place))
        assert (life.here, life.here_poi, life.position) == (2, 71, (1000.0, 0.0))
        assert type(life.here_poi) is int
    tick(life, lambda: life.go_to((2, None)))
    assert (life.here, life.here_poi, len(life.told()["trips"])) == (2, None, 1)
    tick(life, lambda: life.go_to("pier"))
    assert (life.here, life.here_poi) == ("pier", None)


def test_a_place_that_is_not_on_the_map_changes_nothing(live):
    life = live()
    life.go_to(2)
    with pytest.raises(NoSuchPlace, match=r"^go_to\(5009\): there is no such place on the map"):
        life.go_to(5009)
    tick(life)
    assert life.here == 2


def test_a_place_as_the_queries_return_it_is_a_place(live):
    life = live()
    tick(life, lambda: life.go_to(life.nearby(2, limit=1)[0]))
    assert (life.here, life.here_poi) == (2, None)
    tick(life, lambda: life.go_to(life.pois_near(1000, 0, limit=1, categories=["cafe"])[0]))
    assert (life.here, life.here_poi) == (2, 71)
    tick(life, lambda: life.schedule([(life.aoi(1), "driving", None)]))
    assert life.here == 1


def test_a_departure_that_is_no_number_of_seconds_is_refused(live):
    life = live()
    with pytest.raises(ValueError, match=r"departure in seconds since the start .* got '08:00'"):
        life.go_to(2, departure="08:00")
    tick(life)
    assert life.here == 1


def test_an_unknown_mode_is_refused_and_changes_nothing(live):
    life = live()
    life.go_to(2)
    with pytest.raises(ValueError, match="expected a mode of walking"):
        life.go_to(3, mode="flying")
    tick(life)
    assert life.here == 2


def test_the_questions_of_the_view_are_those_of_the_life(live, view):
    life = live()
    assert life.nearby(1, limit=2) == view.nearby(1, limit=2)
    assert life.distance(1, 2) == 1000.0
    assert life.route(1, 2, "walking")["seconds"] == pytest.approx(1000)
    assert life.aoi(2)["poi_ids"] == [71]
    assert life.place(2) == view.place(2) == PLACES[1].plain()
    assert life.poi(71) == view.poi(71)
    assert life.poi(71)["name"] == "Bean"
    assert life.pois_near(*life.position, radius=2000, categories=["cafe"])[0][1] == 1005.0
    with pytest.raises(AttributeError, match="'teleport'"):
        life.teleport(3)


def test_without_a_city_the_message_says_what_is_missing():
    with pytest.raises(BenchmarkError, match=r"expected a map \(\*\.pb\) or a table of places"):
        Life(None, PROFILE, {"step": 900, "steps": 2})
    reason = "there is no map (*.pb) in data"
    with pytest.raises(BenchmarkError, match=r"tick by tick needs one: there is no map"):
        Life(None, PROFILE, {"step": 900, "steps": 2, "no_city": reason})


@pytest.mark.parametrize(
    ("anchors", "message"),
    [
        (
            {"home": 5034},
            "home 5034 of person 9 is not on the map (places.csv, 4 places): expected ",
        ),
        ({"home": 1, "work": "x"}, "work 'x' of person 9 is not on the map (places.csv, 4 places)"),
        ({"home": None}, "person 9 has no home, and the days begin there"),
    ],
)
def test_a_home_or_work_off_the_map_is_named(anchors, message):
    profile = {"id": 9, "work": None, **anchors}
    view = CityView(City(PLACES, "places.csv"), profile["home"], profile["work"])
    with pytest.raises(BenchmarkError) as error:
        Life(view, profile, {"step": 900, "steps": 2})
    assert message in str(error.value)


def test_who_has_no_work_lives_as_well():
    view = CityView(City(PLACES), 1, None)
    assert Life(view, {"id": 1, "home": 1}, {"step": 900, "steps": 2}).work is None
