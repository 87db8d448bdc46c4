"""The clock, the surroundings and the person in motion, as asbench's agents ask for them."""

from __future__ import annotations

import asyncio

import pytest
from small_city import BANK, CAFE, FAR, HOME, KIOSK, PARK, WORK, context

from pytest_agentbench.agents.asbench.environment import Environment
from pytest_agentbench.agents.errors import NotProvided
from pytest_agentbench.city.life import Life, NoSuchPlace


@pytest.fixture
def life():
    told = context(step=1800, steps=100, weather=["The weather is sunny", "Wind"])
    return Life(told["city"], told["profile"], told["simulation"])


@pytest.fixture
def environment(life):
    return Environment(life, 7)


def go(environment, *args, **options):
    asyncio.run(environment.set_aoi_schedules(7, *args, **options))


def test_the_clock(life, environment):
    for _ in range(50):
        life.end_tick()
    assert environment.get_datetime() == (1, 3600)
    assert environment.get_datetime(True) == (1, "01:00:00")
    assert environment.get_datetime(format_time=True, format="%H:%M") == (1, "01:00")
    assert environment.get_tick() == 90_000


def test_the_weather_is_that_of_the_day(life, environment):
    assert environment.sense("weather") == "The weather is sunny"
    assert environment.sense("mood") == "Don't know"
    assert environment.get_environment().splitlines() == [
        "weather: The weather is sunny", "temperature: The temperature is 23C", "Is it workday: True",
        "other_information: ",
    ]  # fmt: skip
    for _ in range(48):
        life.end_tick()
    assert environment.sense("weather") == "Wind"


def test_what_an_agent_sets_is_its_own(life, environment):
    environment.update_environment("news", ["rain"])
    environment.set_environment({"mood": {"joy": 1}})
    assert environment.sense("news") == ["rain"]
    assert environment.get_environment().splitlines()[-2:] == [
        "news elements: ['rain']",
        "mood.joy: 1",
    ]
    assert Environment(life, 8).sense("news") == "Don't know"


def test_pois_are_found_by_groups_and_by_categories(environment):
    def around(kinds, radius=5000):
        return [poi["id"] for poi in environment.get_around_poi((0, 0), radius, kinds)]

    assert around("restaurant") == [CAFE]  # a group that has cafes in it
    assert around(["kiosk", "financial service"]) == [KIOSK, BANK]
    assert around(["kiosk", "financial service"], 600) == [KIOSK]
    assert around([]) == around("gym") == []
    assert environment.get_poi_categories() == ["bank", "cafe", "kiosk"]
    assert environment.get_poi_categories(center=(0, 500), radius=10) == ["kiosk"]
    assert environment.get_poi_categories(radius=600) == ["kiosk"]  # around the origin
    assert environment.poi_id_2_aoi_id == {CAFE: WORK, BANK: WORK, KIOSK: PARK}
    assert environment.get_poi_cate() is environment.poi_cate
    assert environment.get_aoi_ids() == [HOME, WORK, PARK, FAR]


def test_a_person_at_a_place_and_on_the_way(life, environment):
    lng, lat = life.view.lnglat(0.0, 0.0)
    assert environment.motion() == {
        "id": 7,
        "status": 1,
        "position": {
            "aoi_position": {"aoi_id": HOME},
            "xy_position": {"x": 0.0, "y": 0.0},
            "longlat_position": {"longitude": lng, "latitude": lat},
        },
    }
    go(environment, FAR)
    life.end_tick()
    on_the_way = asyncio.run(environment.get_person(7))["person"]["motion"]
    assert on_the_way["status"] == 2
    assert on_the_way["position"].keys() == {"xy_position", "longlat_position"}  # no lanes here
    assert on_the_way["position"]["xy_position"]["y"] == pytest.approx(1800 * 8.3 / 1.3)
    go(environment, (PARK, KIOSK), modes=[5])
    for _ in range(5):
        life.end_tick()
    assert environment.motion()["position"]["aoi_position"] == {"aoi_id": PARK, "poi_id": KIOSK}


def test_lanes_are_told_where_the_person_is_on_one(life, environment, monkeypatch):
    go(environment, FAR)
    life.end_tick()
    monkeypatch.setattr(type(life), "lane", (12, 3.5))
    assert environment.motion()["position"]["lane_position"] == {"lane_id": 12, "s": 3.5}


@pytest.mark.parametrize(
    ("target", "mode", "place", "poi", "told"),
    [
        (WORK, None, WORK, None, "driving"),
        (CAFE, 1, WORK, CAFE, "walking"),
        ((WORK, None), "walk", WORK, None, "walking"),
        ((WORK, CAFE), "TRIP_MODE_BUS_WALK", WORK, CAFE, "transit"),
    ],
)
def test_targets_and_modes_have_several_forms(life, environment, target, mode, place, poi, told):
    go(environment, target, modes=None if mode is None else [mode])
    life.end_tick()
    assert (life.here, life.here_poi) == (place, poi)
    assert life.told()["trips"][0]["mode"] == told


def test_several_targets_are_visited_in_turn(life, environment):
    go(environment, [WORK, PARK, HOME], departure_times=[0, 5400.0], modes=[2, 1])
    places = []
    for _ in range(5):
        life.end_tick()
        places.append(life.here)
    # The third has no departure: at once, after the walk of 1,118 m * 1.3 / 1.3 m/s = 18.6 minutes.
    assert places == [WORK, WORK, WORK, HOME, HOME]
    assert [trip["mode"] for trip in life.told()["trips"]] == ["driving", "walking", "driving"]
    assert [trip["to"] for trip in life.told()["trips"]] == [WORK, PARK, HOME]


async def go_to_aoi(environment, target):
    await environment.set_aoi_schedules(7, target_positions=target)


def test_a_place_that_is_not_there_is_told_with_the_call_as_the_agent_knows_it(environment):
    nowhere = r"\(5009\): there is no such place on the map \(places\.csv, 4 places\)"
    with pytest.raises(NoSuchPlace, match=f"^go_to_aoi{nowhere}"):
        asyncio.run(go_to_aoi(environment, 5009))
    with pytest.raises(NoSuchPlace, match=f"^set_aoi_schedules{nowhere}"):
        go(environment, [5009])
    with pytest.raises(NoSuchPlace, match=r"^go_to_aoi\(None\): there is no such place"):
        asyncio.run(go_to_aoi(environment, None))


def test_nobody_else_can_be_moved(environment):
    with pytest.raises(ValueError, match=r"get_person: expected the agent's own id \(7\), got 8"):
        asyncio.run(environment.get_person(8))
    with pytest.raises(ValueError, match="set_aoi_schedules: expected the agent's own id"):
        asyncio.run(environment.set_aoi_schedules(8, WORK))


def test_what_the_city_does_not_have_is_refused(environment):
    with pytest.raises(NotProvided, match=r"environment\.economy_client: .*no economy"):
        _ = environment.economy_client
    with pytest.raises(NotProvided, match=r"environment\.city_client: .*no simulator"):
        _ = environment.city_client
    with pytest.raises(NotProvided, match=r"register_aoi_message: .*do not meet"):
        environment.register_aoi_message(1, WORK, "hello")
    with pytest.raises(NotProvided, match=r"reset_person_position: .*travel takes time"):
        asyncio.run(environment.reset_person_position(7, aoi_id=WORK))
    with pytest.raises(NotProvided, match=r"projector\(longitude, latitude\)"):
        environment.projector(116.0, 40.0)


def test_a_call_that_was_never_published_is_an_attribute_error(environment):
    with pytest.raises(AttributeError):  # public agents try it, and go on without
        environment.get_aoi_xy(WORK)


def test_small_things(life, environment):
    assert environment.sense_aoi(WORK) == ""
    assert environment.get_log_list() == []
    assert asyncio.run(environment.add_person({})) == {}
    assert environment.projector(0.0, 0.0, inverse=True) == tuple(life.view.lnglat(0.0, 0.0))
