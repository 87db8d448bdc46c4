"""The published map: areas, points of interest, lanes for cars and for people on foot."""

from __future__ import annotations

import importlib.util

import pytest
from city.city_parts import published_map

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.city import published_map as reader
from pytest_agentbench.city.map_files import load_city
from pytest_agentbench.city.view import CityView

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("pycityproto") is None,
    reason="needs pycityproto, which defines the map's format",
)
HOME, SHOP, NEXT_DOOR, FAR = 500000001, 500000002, 500000003, 500000004


@pytest.fixture
def load(tmp_path, monkeypatch):
    monkeypatch.setenv("AGENTBENCH_CACHE", str(tmp_path / "cache"))

    def load(city_map):
        (tmp_path / "town.pb").write_bytes(city_map.SerializeToString())
        city, source = load_city(tmp_path)
        assert source == "town.pb"
        return CityView(city, HOME, SHOP)

    return load


@pytest.fixture
def view(load):
    return load(published_map())


def test_areas(view):
    assert view.aoi(HOME) == {
        "id": HOME,
        "positions": [[35.0, 15.0], [45.0, 15.0], [45.0, 25.0], [35.0, 25.0]],
        "area": 100.0,
        "land_use": "residential",
        "poi_ids": [],
        "x": 40.0,
        "y": 20.0,
    }
    shop = view.aoi(SHOP)
    assert (shop["land_use"], shop["area"]) == ("B1", 100.0)  # computed where it is not given
    assert shop["poi_ids"] == [700000001, 700000002, 700000003]
    assert view.place(SHOP)["category"] == "B1|supermarket|restaurant"
    assert view["map"] == {
        "source": "town.pb", "aois": 4, "pois": 4, "roads": True, "synthetic": False,
    }  # fmt: skip
    assert [aoi["id"] for aoi, _ in view.aois_near(220, -43, 300, ["B1"])] == [SHOP, NEXT_DOOR]


def test_points_of_interest(view):
    assert view.poi(700000001) == {
        "id": 700000001,
        "name": "P0",
        "category": "amenity|restaurant",
        "x": 220.0,
        "y": -43.0,
        "aoi_id": SHOP,
    }
    assert view.poi(700000004)["aoi_id"] is None


def test_degrees_are_those_of_the_projection(view):
    assert view.lnglat(0, 0) == pytest.approx([116.4, 39.9])


def test_by_car_from_gate_to_gate_over_the_lane_that_leads_on(view):
    route = view.route(HOME, SHOP, "driving")
    # From the gate (40, 0) on lane 1 to its end; the lane beside it leads on, and both end in one node.
    off = 20 + 40  # to the gate, and from the gate (220, -3) to the area
    on_road = 60 / 8 + 20 / 4 + 100 / (0.8 * 16.7)
    assert route["roads"]
    assert [lane for lane, _ in route["lanes"]] == [1, 3, 4]
    assert route["seconds"] == pytest.approx(off / 8.3 + on_road)
    assert route["metres"] == pytest.approx(off + 60 + 20 + 100)
    assert route["points"][1][:2] == [40.0, 0.0]
    assert route["points"][-2][:2] == [220.0, -3.0]


def test_along_one_lane_only_ahead(view):
    ahead = view.route(HOME, NEXT_DOOR, "driving")
    assert [lane for lane, _ in ahead["lanes"]] == [1]
    assert ahead["metres"] == pytest.approx(20 + 20 + 20)
    back = view.route(NEXT_DOOR, HOME, "driving")  # no road leads back westwards
    assert (back["roads"], back["lanes"]) == (False, [])
    assert back["metres"] == pytest.approx(1.3 * 20)
    assert not view.route(SHOP, HOME, "driving")["roads"]


@pytest.mark.parametrize(("a", "b"), [(HOME, SHOP), (SHOP, HOME)])
def test_on_foot_in_both_directions(view, a, b):
    route = view.route(a, b, "walking")
    # Gates at (40, -8) and, 100 m along the lane that was drawn westwards, at (220, -8).
    assert route["metres"] == pytest.approx(28 + 80 + 100 + 35)
    assert [lane for lane, _ in route["lanes"]] == ([5, 6] if a == HOME else [6, 5])
    assert route["points"][1][:2] == ([40.0, -8.0] if a == HOME else [220.0, -8.0])


def test_on_foot_back_along_one_lane(view):
    route = view.route(NEXT_DOOR, HOME, "walking")
    assert (route["metres"], [lane for lane, _ in route["lanes"]]) == (28 + 20 + 28, [5])


def test_a_lane_with_corners_is_followed_and_its_own_length_counts(load):
    city = published_map()
    east = city.lanes[3]
    del east.center_line.nodes[:]
    for x, y in ((120, -3), (220, -3), (320, -3), (320, 97)):
        east.center_line.nodes.add(x=x, y=y)
    east.length = 600  # twice that of the line
    city.aois[1].driving_positions[0].s = 200  # so it is at the first corner, (220, -3)
    city.aois[3].driving_positions.add(
        lane_id=4, s=500
    )  # and this one in the middle of the last piece
    view = load(city)
    near, far = view.route(HOME, SHOP, "driving"), view.route(HOME, FAR, "driving")
    assert near["metres"] == pytest.approx(20 + 60 + 20 + 200 + 40)
    assert [point[:2] for point in near["points"]] == [
        [40, 20], [40, 0], [100, 0], [120, -3], [220, -3], [220, -43],
    ]  # fmt: skip
    assert [point[:2] for point in far["points"]][3:] == [
        [120, -3], [220, -3], [320, -3], [320, 47], [4000, 4000],
    ]  # fmt: skip
    entered = far["lanes"][-1][1]
    pace = 1 / (0.8 * 16.7)  # 200 m of the lane's length to each corner
    assert [point[2] - entered for point in far["points"][3:-1]] == pytest.approx(
        [0, 200 * pace, 400 * pace, 500 * pace]
    )


def test_an_area_without_gates_joins_at_the_nearest_crossing(view):
    route = view.route(HOME, FAR, "walking")
    assert route["roads"]
    nearest = ((4000 - 320) ** 2 + (4000 + 8) ** 2) ** 0.5
    assert route["metres"] == pytest.approx(28 + 80 + 200 + nearest)


def test_without_sidewalks_people_walk_along_the_lanes(load):
    city = published_map()
    driving = [lane for lane in city.lanes if lane.type == 1]
    del city.lanes[:]
    city.lanes.extend(driving)
    view = load(city)
    route = view.route([320, -3], [0, -3], "walking")
    assert route["roads"]
    assert route["metres"] == pytest.approx(320, abs=4)


def test_a_map_without_lanes_has_no_roads(load):
    city = published_map()
    del city.lanes[:]
    view = load(city)
    assert not view["map"]["roads"]
    assert not view.route(HOME, SHOP)["roads"]


def test_an_area_needs_positions_and_an_id_of_its_own(load):
    city = published_map()
    del city.aois[1].positions[:]
    with pytest.raises(BenchmarkError, match=r"town\.pb: area 500000002 has no positions"):
        load(city)
    city = published_map()
    city.aois[1].id = HOME
    with pytest.raises(BenchmarkError, match=r"town\.pb: expected every place once, got 500000001"):
        load(city)


def test_a_lane_or_gate_that_is_not_there_is_left_out(load):
    city = published_map()
    city.aois[0].driving_positions.add(lane_id=999, s=5)
    city.lanes[0].successors.add(id=999)
    city.lanes.add(id=88, type=1)  # without a line
    assert load(city).route(HOME, SHOP)["roads"]


def test_the_messages_are_those_of_the_package():
    messages = reader.map_messages()
    assert (messages.LANE_TYPE_DRIVING, messages.LANE_TYPE_WALKING) == (1, 2)
    assert messages.LANE_CONNECTION_TYPE_HEAD == reader._HEAD
    assert messages.LANE_CONNECTION_TYPE_TAIL == reader._TAIL
