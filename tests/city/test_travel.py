"""How long a way takes."""

from __future__ import annotations

import pytest

from pytest_agentbench.city import travel
from pytest_agentbench.city.travel import MODES, checked_mode, share_of, straight_route


@pytest.mark.parametrize(
    ("mode", "seconds"),
    [
        ("walking", 1300 / 1.3),
        ("driving", 1300 / 8.3),
        ("cycling", 1300 / 4.2),
        ("transit", 300 + 1300 / 6.0),
    ],
)
def test_a_kilometre_in_a_straight_line_is_1300_metres_at_the_speed_of_the_mode(mode, seconds):
    route = straight_route((100.0, 0.0), (100.0, 1000.0), mode)
    assert (route["metres"], route["mode"], route["roads"], route["lanes"]) == (
        1300,
        mode,
        False,
        [],
    )
    assert route["seconds"] == pytest.approx(seconds)
    assert route["points"][0] == [100.0, 0.0, 0.0]
    assert route["points"][-1] == [100.0, 1000.0, route["seconds"]]


def test_who_waits_for_the_bus_waits_where_the_way_begins():
    assert straight_route((1.0, 2.0), (9.0, 9.0), "transit")["points"][1] == [1.0, 2.0, 300.0]


def test_every_mode_has_a_speed():
    assert set(travel.SPEEDS) == set(MODES)


def test_a_trip_takes_a_second_at_least():
    assert straight_route((1.0, 1.0), (1.0, 1.0), "driving")["seconds"] == 1.0


@pytest.mark.parametrize("mode", ["flying", None, 3, ["walking"]])
def test_an_unknown_mode_is_refused_with_those_there_are(mode):
    with pytest.raises(ValueError, match="expected a mode of walking, driving, cycling, transit"):
        checked_mode(mode)


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(-5, (0, 0.0)), (0, (0, 0.0)), (5, (0, 0.5)), (10, (1, 0.0)), (25, (2, 0.25)), (90, (2, 1.0))],
)
def test_the_stretch_of_a_route(seconds, expected):
    assert share_of([0.0, 10.0, 20.0, 40.0], seconds) == expected


def test_a_stretch_that_takes_no_time_is_done():
    assert share_of([0.0, 0.0], 0.0) == (0, 1.0)
