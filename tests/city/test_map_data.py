"""A city as arrays, and its digest."""

from __future__ import annotations

import hashlib

import pytest
from city.city_parts import ROADS, write_tables

from pytest_agentbench.city.map import City, Place, Poi
from pytest_agentbench.city.map_files import load_city

PLACES = [Place(1, 0.0, 0.5, "home"), Place("b", 1e-9, 4e6, "shop|\ud800"), Place(5, 1.0, 1.0)]


def test_the_digest_of_places_alone_stays_what_it_was():
    """Baselines of runs hold it: one line a place, as Python writes its values."""
    text = "1,0.0,0.5,home\n'b',1e-09,4000000.0,shop|\\ud800\n5,1.0,1.0,\n"
    assert City(PLACES).digest() == hashlib.sha256(text.encode()).hexdigest()


def test_pois_and_roads_are_part_of_the_digest(tmp_path):
    poi = Poi(7, 0.0, 1.0, "shop|kiosk", "Ecke", 1)
    cities = [City(PLACES), City(PLACES, "", [poi])]
    for change in (
        {"id": 8}, {"id": "7"}, {"x": 0.1}, {"category": "shop|mall"}, {"name": "E"}, {"aoi_id": 5},
    ):  # fmt: skip
        cities.append(City(PLACES, "", [Poi(**{**vars(poi), **change})]))
    for number, roads in enumerate(
        (ROADS, ROADS[:-1], [{**ROADS[0], "max_speed": 3}], [{**ROADS[0], "id": "x"}])
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        cities.append(load_city(write_tables(folder, roads=roads))[0])
    digests = [city.digest() for city in cities]
    assert len(set(digests)) == len(digests)


def test_areas_know_their_pois_and_pois_their_area():
    pois = [
        Poi(70, 0, 0, aoi_id="b"),
        Poi(71, 0, 0),
        Poi(72, 0, 0, aoi_id=99),
        Poi(73, 0, 0, aoi_id="b"),
    ]
    city = City(PLACES, "", pois)
    assert [city.aoi(place)["poi_ids"] for place in (1, "b", 5)] == [[], [70, 73], []]
    assert [city.poi(poi)["aoi_id"] for poi in (70, 71, 72, 73)] == ["b", None, None, "b"]


def test_a_poi_twice_is_refused():
    with pytest.raises(ValueError, match="expected every POI once, got 7 twice"):
        City(PLACES, "", [Poi(7, 0, 0), Poi(7, 1, 1)])
