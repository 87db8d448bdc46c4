"""Where an agent wants to go: whatever names a place, and messages that say what was expected."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pytest_agentbench.city.aims import NoSuchPlace, resolved, seconds_of
from pytest_agentbench.city.map import City, Place, Poi
from pytest_agentbench.city.view import CityView

PLACES = [Place(1, 0.0, 0.0, "home"), Place(2, 900.0, 0.0, "office"), Place(71, 0.0, 900.0, "park")]
POIS = [
    Poi(70, 905.0, 0.0, "amenity|cafe", "Bean", 2),
    Poi(71, 910.0, 0.0, "amenity|bar", "Hop", 2),  # an area has the same id
    Poi(72, 0.0, 0.0, "shop|kiosk", "", None),
]
VIEW = CityView(City(PLACES, "places.csv", POIS), 1, 2)
TEXTS = CityView(City([Place("a", 0, 0), Place("17", 5, 5)], "places.csv", [Poi("p", 1, 1, "", "", "a")]), "a", None)  # fmt: skip
MIXED = CityView(City([Place("a", 0, 0), Place(17, 5, 5)], "places.csv"), "a", None)
ANYWHERE = "there is no such place on the map (places.csv, 3 places)"
FORMS = "there is no such place: expected the id of an area or of a POI, one of them as the queries return it, or a pair"


@pytest.mark.parametrize(
    ("aim", "area_and_poi"),
    [
        (2, (2, None)),
        (2.0, (2, None)),
        (np.int64(2), (2, None)),
        ("2", (2, None)),
        (" 2 ", (2, None)),
        ("70", (2, 70)),
        (70, (2, 70)),
        ((2, None), (2, None)),
        ([2, 70], (2, 70)),
        (("2", "70"), (2, 70)),
        (71, (71, None)),  # of an area and a POI the area
        (VIEW.place(2), (2, None)),
        (VIEW.nearby(2, limit=1)[0], (2, None)),
        (VIEW.by_category("office")[0], (2, None)),
        (VIEW.aoi(71), (71, None)),
        (VIEW.poi(70), (2, 70)),
        (VIEW.poi(71), (2, 71)),  # what the queries return says which it is
        ((VIEW.aoi(2), VIEW.poi(71)), (2, 71)),
        ((2, VIEW.poi(71)), (2, 71)),
        ((VIEW.poi(70), None), (2, 70)),
        (VIEW.pois_near(900, 0, limit=1)[0], (2, 70)),  # [POI, metres]
        (VIEW.aois_near(900, 0, 10)[0], (2, None)),  # [area, 0.0]
    ],
)
def test_an_area_and_a_poi_are_found(aim, area_and_poi):
    found = resolved(VIEW, aim)
    assert found == area_and_poi
    assert all(type(one) in (int, type(None)) for one in found)


def test_texts_stay_texts_where_the_ids_are():
    assert resolved(TEXTS, "17") == ("17", None)
    assert resolved(TEXTS, "p") == ("a", "p")
    assert resolved(MIXED, "17") == (17, None)


def test_the_view_is_not_asked_about_ones_own_places():
    assert resolved(None, 3, (1, 3)) == (3, None)


@pytest.mark.parametrize(
    ("aim", "message"),
    [
        (5009, f"go_to(5009): {ANYWHERE}"),
        ("5009", f"go_to('5009'): {ANYWHERE}"),
        ((99, None), f"go_to((99, None)): {ANYWHERE}"),
        ("Pier", "go_to('Pier'): ids are whole numbers here, got the text 'Pier'"),
        (("x", None), "go_to(('x', None)): ids are whole numbers here, got the text 'x'"),
        (None, f"go_to(None): {FORMS}"),
        (True, f"go_to(True): {FORMS}"),
        (2.5, f"go_to(2.5): {FORMS}"),
        (math.nan, f"go_to(nan): {FORMS}"),
        (b"x", f"go_to(b'x'): {FORMS}"),
        ((None, None), f"go_to((None, None)): {FORMS}"),
        ([1], f"go_to([1]): {FORMS}"),
        ((1, 2, 3), f"go_to((1, 2, 3)): {FORMS}"),
        ({"x": 1.0}, f"go_to({{'x': 1.0}}): {FORMS}"),
        ((100.0, 200.0), f"go_to((100.0, 200.0)): {ANYWHERE}; a position (x, y) is no place"),
        ((1.0, 2.0), "go_to((1.0, 2.0)): there is no such POI in the area; a position (x, y) is"),
        ((2, 999), f"go_to((2, 999)): {ANYWHERE}"),
        ((1, 70), "go_to((1, 70)): there is no such POI in the area"),
        ((2, 1), "go_to((2, 1)): there is no such POI in the area"),
        (72, "go_to(72): this POI is in no area of the map"),
        ("9" * 5000, "got the text '999"),
    ],
)
def test_a_message_shows_the_call_and_what_was_expected(aim, message):
    with pytest.raises(NoSuchPlace) as error:
        resolved(VIEW, aim)
    assert message in str(error.value)
    assert str(error.value).startswith("go_to(")


def test_a_number_where_ids_are_texts():
    with pytest.raises(NoSuchPlace, match="ids are texts here, got the number 5"):
        resolved(TEXTS, 5)
    for aim in (5, "b"):
        with pytest.raises(NoSuchPlace, match=r"no such place on the map \(places.csv, 2 places\)"):
            resolved(MIXED, aim)


def test_departures_are_seconds():
    assert [seconds_of(one) for one in (5, 5.5, np.int64(7), "28800")] == [5.0, 5.5, 7.0, 28800.0]
    for wrong in ("08:00", math.nan, math.inf, [5], 10**400):
        with pytest.raises(ValueError, match="expected the departure in seconds since the start"):
            seconds_of(wrong)
