"""The queries that an agent may put to the city."""

from __future__ import annotations

import pytest
from city.city_parts import ROADS, write_tables

from pytest_agentbench.city.map import City, Place, Poi
from pytest_agentbench.city.map_files import load_city
from pytest_agentbench.city.view import NEAR_PLACES, CityView


@pytest.fixture
def city():
    return City(
        [
            Place(1, 0.0, 0.0, "residential"),
            Place(2, 300.0, 400.0, "office|restaurant"),
            Place("pier", 0.0, 900.0, "restaurant"),
            Place(4, 0.0, 900.0),
        ]
    )


@pytest.fixture
def view(city):
    return CityView(city, 1, 2)


def ids(places):
    return [place["id"] for place in places]


def test_nearby_is_sorted_by_distance_and_ties_keep_the_order_of_the_data(view):
    assert ids(view.nearby(1)) == [1, 2, "pier", 4]
    assert ids(view.nearby("pier")) == ["pier", 4, 2, 1]
    assert ids(view.nearby((0, 900.0))) == ["pier", 4, 2, 1]


def test_nearby_may_be_narrowed(view):
    assert ids(view.nearby(1, radius=500)) == [1, 2]
    assert ids(view.nearby(1, radius=499.9)) == [1]
    assert ids(view.nearby(1, category="restaurant")) == [2, "pier"]
    assert ids(view.nearby(1, radius=600, category="restaurant")) == [2]
    assert ids(view.nearby(1, limit=2)) == [1, 2]
    assert view.nearby(1, category="zoo") == []


def test_categories_of_one_place_are_separate(view):
    assert view["categories"] == ["office", "residential", "restaurant"]
    assert ids(view.by_category("restaurant")) == [2, "pier"]
    assert ids(view.by_category("restaurant", limit=1)) == [2]
    assert view.by_category("zoo") == []


def test_distance_takes_ids_positions_and_places(view):
    assert view.distance(1, 2) == 500.0
    assert view.distance(view.place(2), (0, 0)) == 500.0
    assert view.distance("pier", 4) == 0.0


def test_an_unknown_place_is_a_key_error_that_names_it(view):
    with pytest.raises(KeyError, match="no place 99 in the city"):
        view.distance(1, 99)
    with pytest.raises(KeyError, match="no place 'Pier' in the city"):
        view.place("Pier")


def test_what_a_query_returns_is_the_agents_own(view):
    view.place(1)["x"] = 7.0
    view.nearby(1)[0]["x"] = 7.0
    assert view.place(1)["x"] == 0.0


def test_the_context_holds_the_nearest_places_of_home_and_work_once_each():
    line = [Place(n, 100.0 * n, 0.0) for n in range(200)]
    view = CityView(City(line), 0, 199)
    assert len(view["places"]) == 2 * NEAR_PLACES
    assert ids(view["places"])[0] == 0
    assert ids(view["places"])[NEAR_PLACES] == 199
    near = CityView(City(line), 0, 1)
    assert len(ids(near["places"])) == len(set(ids(near["places"]))) < 2 * NEAR_PLACES


def test_a_place_twice_is_refused():
    with pytest.raises(ValueError, match="expected every place once, got 3 twice"):
        City([Place(3, 0, 0), Place(1, 0, 0), Place(3, 1, 1)])


def test_the_map_in_words_says_what_trips_follow(tmp_path):
    straight = "no roads: straight lines times 1.3"
    assert City([Place(1, 0, 0)], "a.csv").words == f"1 place, {straight} (a.csv)"
    city = City([Place(1, 0, 0), Place(2, 5, 5)], "a.csv", [Poi(7, 0, 0)])
    assert city.words == f"2 places, {straight} (a.csv)"
    by_road, _ = load_city(write_tables(tmp_path, roads=ROADS))
    assert by_road.words == f"{len(by_road)} places, roads (places.json)"
