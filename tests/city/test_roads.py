"""Ways along the roads: by hand on a square of streets, and against the textbook on random ones."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from city.city_parts import PLACES, ROADS, write_tables

from pytest_agentbench.city.map_files import load_city
from pytest_agentbench.city.travel import SPEEDS, straight_route
from pytest_agentbench.city.trips import Trip
from pytest_agentbench.city.view import CityView


@pytest.fixture
def city(tmp_path):
    return load_city(write_tables(tmp_path, roads=ROADS))[0]


@pytest.fixture
def view(city):
    return CityView(city, 1, 2)


def test_by_car_the_fastest_way_at_four_fifths_of_the_limit(view):
    route = view.route(1, 2, "driving")
    to_the_road = 100 / 8.3  # and the same from it
    first, second = 1000 / (0.8 * 10), 1000 / (0.8 * 16.7)  # nobody drives 20 m/s
    assert route["roads"]
    assert view["map"]["roads"]
    assert route["metres"] == 2200
    assert route["seconds"] == pytest.approx(2 * to_the_road + first + second)
    assert [lane for lane, _ in route["lanes"]] == [11, 12]
    assert [at for _, at in route["lanes"]] == pytest.approx([to_the_road, to_the_road + first])
    expected = [
        (0, -100, 0),
        (0, 0, to_the_road),
        (1000, 0, to_the_road + first),
        (1000, 1000, to_the_road + first + second),
        (1000, 1100, route["seconds"]),
    ]
    assert np.allclose(route["points"], expected)


def test_a_one_way_street_is_for_cars_only(view):
    assert [lane for lane, _ in view.route([0, 1000], [1000, 1000])["lanes"]] == [14]
    assert [lane for lane, _ in view.route([1000, 1000], [0, 1000])["lanes"]] == [12, 11, 13]
    on_foot = view.route([1000, 1000], [0, 1000], "walking")
    assert [lane for lane, _ in on_foot["lanes"]] == [14]
    assert (on_foot["metres"], on_foot["seconds"]) == (1000, pytest.approx(1000 / 1.3))


@pytest.mark.parametrize("mode", ["walking", "cycling"])
def test_on_foot_and_by_bicycle_the_shortest_way_at_one_speed(view, mode):
    route = view.route(1, 2, mode)
    assert route["metres"] == 2200
    assert route["seconds"] == pytest.approx(2200 / SPEEDS[mode])


def test_transit_waits_and_takes_the_roads_of_cars(view):
    route = view.route(1, 2, "transit")
    assert route["seconds"] == pytest.approx(300 + 2200 / 6.0)
    assert route["points"][:2] == [[0, -100, 0], [0, -100, 300]]
    assert [lane for lane, _ in route["lanes"]] == [11, 12]


def test_who_would_use_no_road_goes_straight(view):
    route = view.route(1, 3, "walking")  # both join the roads at the same crossing
    assert not route["roads"]
    assert route["metres"] == pytest.approx(1.3 * 10)


def test_a_place_far_from_any_road_walks_to_it(view):
    route = view.route("isle", 1, "walking")
    assert route["roads"]
    assert route["metres"] == pytest.approx(math.hypot(8000, 8000) + 2000 + 100)


def test_what_no_road_reaches_is_reached_straight(tmp_path):
    # A second island of streets, as large as the first.
    further = [{**road, "id": road["id"] + 100} for road in ROADS]
    for road in further:
        for key in ("x1", "y1", "x2", "y2"):
            road[key] += 9000
    city, _ = load_city(write_tables(tmp_path, roads=ROADS + further))
    route = city.route(1, "isle", "driving")
    assert (route["roads"], route["lanes"]) == (False, [])
    assert route["metres"] == pytest.approx(1.3 * math.hypot(9000, 9100))
    assert city.route([9000, 9000], [10000, 9000], "driving")["roads"]


def test_a_few_stray_streets_are_no_place_to_join_the_roads(tmp_path):
    many = [
        {"id": n, "x1": 100 * n, "y1": 0, "x2": 100 * n + 100, "y2": 0, "max_speed": 10}
        for n in range(60)
    ]
    stray = {"id": 99, "x1": 0, "y1": -90, "x2": 50, "y2": -90, "max_speed": 10}
    city, _ = load_city(write_tables(tmp_path, roads=[*many, stray]))
    route = city.route(1, [3000, 0], "driving")
    assert route["roads"]
    assert route["metres"] == pytest.approx(100 + 3000)


def test_lanes_may_have_names(tmp_path):
    roads = [{**road, "id": f"street {road['id']}"} for road in ROADS]
    city, _ = load_city(write_tables(tmp_path, roads=roads))
    assert [lane for lane, _ in city.route(1, 2, "driving")["lanes"]] == ["street 11", "street 12"]


def grid(side):
    """Streets of 100 m, as many each way, with all corners at right angles."""
    corners = list(itertools.product(range(side), range(side)))
    ends = [((i, j), (i + di, j + dj)) for i, j in corners for di, dj in ((1, 0), (0, 1))]
    return [
        {"id": number, "x1": 100 * a[0], "y1": 100 * a[1], "x2": 100 * b[0], "y2": 100 * b[1],
         "max_speed": 10}
        for number, (a, b) in enumerate((a, b) for a, b in ends if max(b) < side)
    ]  # fmt: skip


def test_equal_ways_are_told_apart_in_the_same_way_each_time(tmp_path):
    """On a grid nearly all shortest ways have equals."""
    side = range(6)
    roads = grid(6)
    folder = write_tables(tmp_path, roads=roads)
    first, second = load_city(folder)[0], load_city(folder)[0]
    ends = list(itertools.product(side, side))
    ways = [
        ([100 * a, 100 * b], [100 * c, 100 * d]) for (a, b), (c, d) in itertools.product(ends, ends)
    ]
    told = [first.route(*way, "driving") for way in ways]
    again = [second.route(*way, "driving") for way in reversed(ways)]
    assert told == again[::-1]
    for (a, b), route in zip(ways, told, strict=True):
        expected = abs(a[0] - b[0]) + abs(a[1] - b[1])
        assert route["metres"] == pytest.approx(expected)  # ties are broken, lengths are exact


def test_no_two_ways_are_equal(tmp_path):
    """Whatever the order in which SciPy looks at them: one edge leads to each node on its best way."""
    folder = write_tables(tmp_path, roads=grid(5))
    city, _ = load_city(folder)
    trees = city.roads._driving._trees
    for source in range(25):
        costs = trees.tree(source)
        for node in range(25):
            into = [
                costs[int(a)] + weight
                for a, b, weight in zip(trees._begin, trees._end, trees._weights, strict=True)
                if b == node and node != source
            ]
            assert sum(cost <= costs[node] + 1e-12 for cost in into) == (node != source)


def textbook(edges, nodes, source):
    """Bellman-Ford."""
    costs = dict.fromkeys(nodes, math.inf)
    costs[source] = 0.0
    for _ in nodes:
        for a, b, cost in edges:
            costs[b] = min(costs[b], costs[a] + cost)
    return costs


@pytest.mark.parametrize("seed", range(4))
def test_ways_are_the_textbooks(tmp_path, seed):
    rng = np.random.default_rng(seed)
    spots = rng.integers(0, 3000, (25, 2)).tolist()
    ring = [(n, (n + 1) % 25) for n in range(25)]  # so that all is connected
    pairs = ring + [tuple(rng.choice(25, 2, replace=False).tolist()) for _ in range(25)]
    roads = [
        {"id": number, "x1": spots[a][0], "y1": spots[a][1], "x2": spots[b][0], "y2": spots[b][1],
         "max_speed": float(rng.uniform(5, 25)), "oneway": bool(number >= 25 and rng.random() < 0.5)}
        for number, (a, b) in enumerate(pairs)
    ]  # fmt: skip
    city, _ = load_city(write_tables(tmp_path, roads=roads))
    driving, walking = [], []
    for (a, b), road in zip(pairs, roads, strict=True):
        metres = math.dist(spots[a], spots[b])
        seconds = metres / (0.8 * min(16.7, road["max_speed"]))
        driving.append((a, b, seconds))
        if not road["oneway"]:
            driving.append((b, a, seconds))
        walking += [(a, b, metres), (b, a, metres)]
    for _ in range(20):
        here, there = rng.uniform(0, 3000, (2, 2)).tolist()
        a, b = (min(range(25), key=lambda n: math.dist(spots[n], at)) for at in (here, there))
        off = math.dist(here, spots[a]) + math.dist(there, spots[b])
        route, on_foot = (
            city.roads.route(tuple(here), tuple(there), mode, None, None)
            for mode in ("driving", "walking")
        )
        if a == b:
            assert route is on_foot is None
            continue
        assert route["seconds"] == pytest.approx(off / 8.3 + textbook(driving, range(25), a)[b])
        assert on_foot["metres"] == pytest.approx(off + textbook(walking, range(25), a)[b])
        for one in (route, on_foot):
            check_whole(one, here, there)
            taken = city.route(here, there, one["mode"])
            too_far = one["metres"] > max(1000, 3 * math.dist(here, there))
            assert taken == (straight_route(here, there, one["mode"]) if too_far else one)


def check_whole(route, here, there):
    """Points and lanes are in the order of time, and as long as the route says."""
    points = route["points"]
    times = [point[2] for point in points]
    assert points[0] == [*here, 0.0]
    assert points[-1] == [*there, route["seconds"]]
    assert times == sorted(times)
    length = sum(math.dist(a[:2], b[:2]) for a, b in itertools.pairwise(points))
    assert length == pytest.approx(route["metres"])
    entered = [at for _, at in route["lanes"]]
    assert entered == sorted(entered)
    trip = Trip(route, 1, 2, None, 0.0)
    for lane, at in route["lanes"]:
        found, along = trip.lane_at(at)
        assert found == lane
        assert along == pytest.approx(0, abs=1e-6)


def test_the_places_of_the_square_are_what_the_tests_take_them_for():
    assert [place["id"] for place in PLACES] == [1, 2, 3, "isle"]


def test_far_round_by_road_is_no_way(tmp_path):
    """Two streets 5 km off: by them it would be 5 + 2 + 5 km for 2 km."""
    roads = [
        {"id": 1, "x1": 0, "y1": 5000, "x2": 1000, "y2": 5000},
        {"id": 2, "x1": 1000, "y1": 5000, "x2": 2000, "y2": 5000},
    ]
    places = [
        {"id": n, "x": x, "y": y, "category": ""}
        for n, (x, y) in enumerate([(0, 0), (2000, 0), (0, 4501), (500, 4501)])
    ]
    city, _ = load_city(write_tables(tmp_path, places=places, roads=roads))
    for mode in ("walking", "driving"):
        route = city.route(0, 1, mode)
        assert (route["roads"], route["lanes"]) == (False, [])
        assert route["metres"] == pytest.approx(1.3 * 2000)
    assert not city.route([400, 4501], [600, 4501], "walking")["roads"]  # 2,279 m by road for 200
    assert city.route([0, 4000], [2000, 4000], "walking")["metres"] == pytest.approx(4000)  # twice


def test_a_short_way_round_the_block_is_a_way(tmp_path):
    roads = [{"id": 1, "x1": 0, "y1": 0, "x2": 200, "y2": 0}]
    city, _ = load_city(write_tables(tmp_path, roads=roads))
    route = city.route([90, 10], [110, 10], "walking")  # 20 m, but under a kilometre nobody wonders
    assert route["roads"]
    assert route["metres"] == pytest.approx(200 + 2 * math.hypot(90, 10))
