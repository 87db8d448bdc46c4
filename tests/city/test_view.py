"""What an agent is told of the city, in plain JSON."""

from __future__ import annotations

import copy
import json

import pytest

from pytest_agentbench.city.map import City, Place, Poi
from pytest_agentbench.city.view import CityView

POIS = [
    Poi(71, 10.0, 0.0, "amenity|restaurant", "Noodles", 1),
    Poi(72, 310.0, 400.0, "shop|supermarket", "", 2),
    Poi(73, 300.0, 410.0, "amenity|fast food|restaurant", "", 2),
]


@pytest.fixture
def view():
    places = [Place(1, 0.0, 0.0, "residential"), Place(2, 300.0, 400.0, "office|restaurant")]
    return CityView(City(places, "places.csv", POIS), 1, 2)


def ids(found):
    return [thing["id"] for thing, _ in found]


def test_what_travels_says_which_map_it_is(view):
    assert view["map"] == {
        "source": "places.csv",
        "aois": 2,
        "pois": 3,
        "roads": False,
        "synthetic": False,
    }
    assert len(view["digest"]) == 12
    assert json.loads(json.dumps(view)) == view


def test_areas_and_pois(view):
    assert view.aoi(2) == {
        "id": 2,
        "positions": [[300.0, 400.0]],
        "area": None,
        "land_use": "office",
        "poi_ids": [72, 73],
        "x": 300.0,
        "y": 400.0,
    }
    assert view.poi(71) == {
        "id": 71,
        "name": "Noodles",
        "category": "amenity|restaurant",
        "x": 10.0,
        "y": 0.0,
        "aoi_id": 1,
    }
    assert (view.aoi_ids(), view.poi_ids()) == ([1, 2], [71, 72, 73])
    assert [aoi["id"] for aoi in view.aois(1)] == [2]
    assert [poi["id"] for poi in view.pois(1, 1)] == [72]
    for ask, unknown in ((view.aoi, 71), (view.poi, 1)):
        with pytest.raises(KeyError):
            ask(unknown)


def test_pois_around_a_position(view):
    assert ids(view.pois_near(0, 0)) == [71, 72, 73]
    assert view.pois_near(0, 0, radius=20)[0] == [view.poi(71), 10.0]
    assert ids(view.pois_near(0, 0, categories=["restaurant"])) == [71, 73]
    assert ids(view.pois_near(0, 0, categories="restaurant")) == [71, 73]
    assert ids(view.pois_near(0, 0, prefix="amenity|fast")) == [73]
    assert ids(view.pois_near(0, 0, limit=1)) == [71]
    assert view.poi_categories() == ["restaurant", "supermarket"]
    assert view.poi_categories(0, 0, 20) == ["restaurant"]


def test_areas_around_a_position(view):
    assert [(aoi["id"], metres) for aoi, metres in view.aois_near(0, 0, 500)] == [(1, 0), (2, 500)]
    assert ids(view.aois_near(0, 0, 500, land_uses=["office"])) == [2]
    assert ids(view.aois_near(0, 0, 500, land_uses="office")) == [2]
    assert ids(view.aois_near(0, 0, 499)) == [1]
    assert ids(view.aois_near(0, 0, 500, limit=1)) == [1]


def test_routes_between_areas_pois_and_positions(view):
    assert view.route(1, 2)["metres"] == 650.0
    assert view.route(71, [10, 100], "walking")["seconds"] == pytest.approx(100)
    with pytest.raises(ValueError, match="expected a mode"):
        view.route(1, 2, "flying")


def test_longitude_and_latitude_of_an_arbitrary_origin(view):
    assert view.lnglat(0, 111_320) == [0.0, 1.0]


def test_every_method_is_open_to_agents_in_other_processes(view):
    own = {name for name in vars(CityView) if not name.startswith("_")}
    assert own - {"agentbench_methods"} == set(CityView.agentbench_methods)


def test_a_copy_of_the_context_shares_the_city_and_nothing_else(view):
    for copied in (copy.copy(view), copy.deepcopy(view)):
        assert copied == view
        assert copied.aoi(2) == view.aoi(2)
    copied["home"]["x"] = 7.0
    copied["map"]["aois"] = 0
    assert (view["home"]["x"], view["map"]["aois"]) == (0.0, 2)
