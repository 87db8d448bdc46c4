"""One trip: where the traveller is at any second, and what is kept of it."""

from __future__ import annotations

import pytest

from pytest_agentbench.city.travel import straight_route
from pytest_agentbench.city.trips import MOST_POINTS, Trip

ROADS = {
    "metres": 220.0,
    "seconds": 40.0,
    "mode": "driving",
    "roads": True,
    # 10 m to the road, 100 m on lane 7, 100 m on lane 8, 10 m to the place
    "points": [[0, 0, 0.0], [0, 10, 5.0], [100, 10, 15.0], [200, 10, 35.0], [200, 0, 40.0]],
    "lanes": [[7, 5.0], [8, 15.0]],
}


@pytest.mark.parametrize(
    ("second", "position", "metres", "lane"),
    [
        (1000, (0, 0), 0, (7, 0)),
        (1002.5, (0, 5), 5, (7, 0)),
        (1010, (50, 10), 60, (7, 50)),
        (1015, (100, 10), 110, (8, 0)),
        (1025, (150, 10), 160, (8, 50)),
        (1037.5, (200, 5), 215, (8, 100)),
        (1040, (200, 0), 220, (8, 100)),
        (9999, (200, 0), 220, (8, 100)),
    ],
)
def test_where_the_traveller_is(second, position, metres, lane):
    trip = Trip(ROADS, 1, 2, None, 1000.0)
    assert trip.ends == 1040.0
    assert trip.position_at(second) == pytest.approx(position)
    assert trip.metres_at(second) == pytest.approx(metres)
    assert trip.lane_at(second) == pytest.approx(lane)


def test_off_the_roads_there_is_no_lane_and_the_detour_counts():
    trip = Trip(straight_route((0.0, 0.0), (0.0, 100.0), "walking"), 1, 2, None, 0.0)
    assert trip.lane_at(5.0) is None
    assert trip.position_at(50.0) == pytest.approx((0, 50))
    assert trip.metres_at(50.0) == pytest.approx(65)


def test_what_is_told_of_a_trip_that_arrived_and_of_one_that_did_not():
    trip = Trip(ROADS, 1, 2, None, 1000.0)
    whole = trip.told(1040.0, True, True)
    assert whole == {
        "departure": 1000.0,
        "arrival": 1040.0,
        "from": 1,
        "to": 2,
        "mode": "driving",
        "metres": 220.0,
        "route": [[0, 0], [0, 10], [100, 10], [200, 10], [200, 0]],
    }
    half = trip.told(1010.0, False, True)
    assert (half["arrival"], half["metres"]) == (None, 60.0)
    assert half["route"] == [[0, 0], [0, 10], [50, 10]]


def test_a_long_route_is_told_in_40_points_from_its_beginning_to_its_end():
    points = [[float(n), 0.0, float(n)] for n in range(1001)]
    route = {**ROADS, "metres": 1000.0, "seconds": 1000.0, "points": points, "lanes": []}
    told = Trip(route, 1, 2, None, 0.0).told(1000.0, True, True)["route"]
    assert len(told) == MOST_POINTS
    assert (told[0], told[-1]) == ([0, 0], [1000, 0])
    assert told == sorted(told)


def test_a_trip_says_whether_it_follows_roads_where_the_day_says_otherwise():
    straight = straight_route((0.0, 0.0), (0.0, 100.0), "walking")
    found = [
        Trip(route, 1, 2, None, 0.0).told(1.0, False, roads).get("roads")
        for route in (ROADS, straight)
        for roads in (True, False)
    ]
    assert found == [None, True, False, None]
