"""The map as asbench's agents read it."""

from __future__ import annotations

import copy
import json

import pytest
from small_city import BANK, CAFE, CITY, HOME, KIOSK, PARK, WORK, CountedView

from pytest_agentbench.agents.asbench import city_map
from pytest_agentbench.agents.asbench.city_map import MapData
from pytest_agentbench.agents.errors import NotProvided
from pytest_agentbench.city.map import City, Place
from pytest_agentbench.city.view import CityView


@pytest.fixture(autouse=True)
def _nothing_known(monkeypatch):
    monkeypatch.setattr(city_map, "_known", {})


@pytest.fixture
def view():
    return CountedView(CityView(CITY, HOME, WORK))


def test_an_area_is_a_dict_with_shapes(view):
    area = MapData(view).get_aoi(WORK)
    assert area["id"] == WORK
    assert area["poi_ids"] == [CAFE, BANK]
    assert area["positions"] == [{"x": 1000.0, "y": 0.0}]
    assert area["urban_land_use"].lower() == area["urban_land_use"] == "office"
    assert (area["shapely_xy"].centroid.x, area["shapely_xy"].centroid.y) == (1000.0, 0.0)
    lng, lat = view.lnglat(1000.0, 0.0)
    assert (area["shapely_lnglat"].centroid.x, area["shapely_lnglat"].centroid.y) == (lng, lat)
    assert area.get("shapely_xy") is area["shapely_xy"]
    assert "shapely_xy" in area
    assert "area" not in area  # it is a point
    assert area.get("pois", []) == []
    with pytest.raises(KeyError):
        _ = area["type"]


def test_a_poi_is_a_dict_with_a_position(view):
    poi = MapData(view).get_poi(CAFE)
    assert (poi["name"], poi["category"], poi["aoi_id"]) == ("Bean", "amenity|cafe", WORK)
    assert poi["position"] == {"x": 1005.0, "y": 0.0}
    assert (poi["shapely_xy"].x, poi["shapely_xy"].y) == (1005.0, 0.0)


def test_an_area_can_be_copied_and_printed(view):
    area = MapData(view).get_aoi(WORK)
    assert json.loads(json.dumps(area)) == {
        "id": WORK,
        "positions": [{"x": 1000.0, "y": 0.0}],
        "urban_land_use": "office",
        "poi_ids": [CAFE, BANK],
    }
    assert copy.deepcopy(area)["shapely_xy"].x == 1000.0
    poi = MapData(view).get_poi(CAFE)
    assert str(poi) == str({
        "id": CAFE, "name": "Bean", "category": "amenity|cafe", "aoi_id": WORK,
        "position": {"x": 1005.0, "y": 0.0},
    })  # fmt: skip


def test_unknown_ids_are_key_errors_as_in_asbench(view):
    for look in (MapData(view).get_aoi, MapData(view).get_poi):
        with pytest.raises(KeyError):
            look(1)


def test_everything_is_fetched_once_for_all_people(view, monkeypatch):
    monkeypatch.setattr(city_map, "_PAGE", 3)
    first = MapData(view)
    ids = [area["id"] for area in first.get_all_aois()]
    assert ids == list(first.aois) == first.aoi_ids() == view.aoi_ids()
    assert [poi["id"] for poi in first.get_all_pois()] == list(first.pois) == [CAFE, BANK, KIOSK]
    assert view.calls.count("aois") == 3  # two pages, and one that is empty
    other = CountedView(CityView(CITY, PARK, None))
    second = MapData(other)
    assert second.get_all_aois() == first.get_all_aois()
    assert second.get_all_pois() == first.get_all_pois()
    assert second.aoi_ids() == ids
    assert second.get_aoi(WORK) is second.aois[WORK] is second.get_all_aois()[1]
    assert second.get_poi(CAFE) is second.pois[CAFE] is second.get_all_pois()[0]
    assert other.calls == []


def test_an_area_that_a_person_has_stays_the_same_when_all_are_asked_for(view):
    own = MapData(view)
    area, poi = own.get_aoi(WORK), own.get_poi(CAFE)
    ((near, _),) = own.query_pois((1005, 0), radius=1)
    assert near is poi
    assert own.aois[WORK] is own.get_all_aois()[1] is area
    assert own.pois[CAFE] is poi


def test_what_a_person_writes_nobody_else_sees(view):
    before = MapData(view)
    told = json.dumps([before.get_all_aois(), before.get_all_pois(), before.get_poi_cate()])
    writer = MapData(view)
    for one in [*writer.get_all_aois(), *writer.get_all_pois()]:
        for key in ("positions", "poi_ids", "position", "shapely_xy"):
            if key in one and hasattr(one[key], "clear"):
                one[key].clear()
        one["name"], one["visited"] = "mine", True
        del one["id"]
    writer.aois.clear()
    writer.pois.clear()
    writer.get_poi_cate()["restaurant"].clear()
    writer.poi_cate.clear()
    after = MapData(view)
    for other in (before, after):
        assert (
            json.dumps([other.get_all_aois(), other.get_all_pois(), other.get_poi_cate()]) == told
        )
        assert other.get_aoi(WORK)["shapely_xy"].x == 1000.0


def test_lists_are_each_persons_own(view):
    one, other = MapData(view), MapData(view)
    one.get_all_aois().clear()
    one.get_all_pois().clear()
    one.aoi_ids().clear()
    assert (len(other.get_all_aois()), len(other.get_all_pois()), len(other.aoi_ids())) == (4, 3, 4)


def test_shapes_ask_the_view_of_the_person_who_came_last(view):
    area = MapData(view).get_aoi(WORK)
    later = CountedView(CityView(CITY, HOME, WORK))
    MapData(later)
    view.calls.clear()
    assert area["shapely_lnglat"] is not None
    assert (view.calls, later.calls) == ([], ["lnglat"])


def test_another_city_has_its_own_areas_and_few_cities_are_kept(view):
    MapData(view).get_all_aois()
    for number in range(6):
        other = CityView(City([Place(number, 0.0, 0.0)]), number, None)
        assert [area["id"] for area in MapData(other).get_all_aois()] == [number]
    assert len(city_map._known) == city_map._MOST_CITIES


def test_queries_give_the_nearest_first(view):
    found = MapData(view)
    assert [(poi["id"], metres) for poi, metres in found.query_pois((1004, 0), radius=50)] == [
        (CAFE, 1.0), (BANK, 9.0),
    ]  # fmt: skip
    assert [poi["id"] for poi in found.query_pois({"x": 0, "y": 500}, return_distance=False)] == [
        KIOSK, BANK, CAFE,
    ]  # fmt: skip
    shop = found.query_pois((0, 0), category_prefix="shop", limit=1, return_distance=False)
    assert shop == [found.get_poi(KIOSK)]
    assert [(area["id"], metres) for area, metres in found.query_aois((0, 100), 450)] == [
        (HOME, 100.0), (PARK, 400.0),
    ]  # fmt: skip
    parks = found.query_aois((0, 0), 40_000, urban_land_uses=["park"])
    assert [area["id"] for area, _ in parks] == [PARK]


def test_the_header_has_the_edges_and_no_projection_is_told(view):
    assert MapData(view).get_map_header() == {
        "name": "places.csv", "west": 0.0, "south": 0.0, "east": 1000.0, "north": 30_000.0,
    }  # fmt: skip
    with pytest.raises(NotProvided, match=r"map\.get_projector: .*environment\.projector"):
        MapData(view).get_projector()
    assert MapData(view).get_poi_cate()["restaurant"]
