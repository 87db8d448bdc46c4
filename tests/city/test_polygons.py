"""Polygons against the textbook's formulas, corner by corner."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_agentbench.city.map_columns import starts_of
from pytest_agentbench.city.polygons import centroid, distances, reaches, shape_of


@pytest.mark.parametrize(
    ("corners", "expected"),
    [
        ([(0, 0), (6, 0), (0, 3)], (2.0, 1.0, 9.0)),
        ([(0, 3), (6, 0), (0, 0)], (2.0, 1.0, 9.0)),  # the other way round
        ([(0, 0), (4, 0), (4, 4), (2, 4), (2, 2), (0, 2), (0, 0)], (7 / 3, 5 / 3, 12.0)),  # an L
        ([(5e6 + x, 4e6 + y) for x, y in [(0, 0), (2, 0), (2, 2), (0, 2)]], (5e6 + 1, 4e6 + 1, 4)),
        ([(3, 4)], (3.0, 4.0, 0.0)),
        ([(3, 4), (5, 4)], (4.0, 4.0, 0.0)),
    ],
)
def test_centroids_and_areas(corners, expected):
    assert shape_of(corners) == pytest.approx(expected, abs=1e-9)
    assert centroid(corners) == pytest.approx(expected[:2], abs=1e-9)


def to_segment(x, y, a, b):
    (ax, ay), (bx, by) = a, b
    length = (bx - ax) ** 2 + (by - ay) ** 2
    share = ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / length if length else 0.0
    share = min(1.0, max(0.0, share))
    return math.hypot(ax + share * (bx - ax) - x, ay + share * (by - ay) - y)


def is_inside(x, y, corners):
    inside = False
    for (ax, ay), (bx, by) in zip(corners, corners[1:] + corners[:1], strict=True):
        if (ay > y) != (by > y) and x < ax + (y - ay) * (bx - ax) / (by - ay):
            inside = not inside
    return inside


def textbook(x, y, corners):
    if is_inside(x, y, corners):
        return 0.0
    pairs = zip(corners, corners[1:] + corners[:1], strict=True)
    return min(to_segment(x, y, a, b) for a, b in pairs)


def ask(x, y, shapes):
    corners = np.array([corner for shape in shapes for corner in shape], float)
    starts = starts_of([len(shape) for shape in shapes])
    return distances(x, y, corners, starts, np.arange(len(shapes)))


def test_distances_by_hand():
    square = [(0, 0), (10, 0), (10, 10), (0, 10)]
    l_shape = [(0, 0), (4, 0), (4, 4), (2, 4), (2, 2), (0, 2)]
    shapes = [square, l_shape, [(3, 4)], [(0, 20), (10, 20)]]
    assert ask(5, 5, shapes).tolist() == pytest.approx([0, math.sqrt(2), math.sqrt(5), 15])
    assert ask(13, 14, shapes)[0] == 5.0
    assert ask(1, 3, shapes)[1] == 1.0  # in the notch
    assert ask(10, 5, shapes)[0] == 0.0  # on the edge


COORDINATE = st.integers(-20, 20).map(float)
SHAPE = st.lists(st.tuples(COORDINATE, COORDINATE), min_size=1, max_size=6)


@given(COORDINATE, COORDINATE, st.lists(SHAPE, min_size=1, max_size=5))
def test_distances_are_the_textbooks(x, y, shapes):
    # Between the corners' coordinates: on an edge inside and outside differ by rounding alone.
    x, y = x + 0.31, y + 0.17
    expected = [textbook(x, y, shape) for shape in shapes]
    assert ask(x, y, shapes).tolist() == pytest.approx(expected, abs=1e-9)


def test_distances_are_shapelys():
    shapely = pytest.importorskip("shapely", reason="an oracle where it is installed")
    rng = np.random.default_rng(1)
    for _ in range(200):
        angles = np.sort(rng.uniform(0, 2 * np.pi, rng.integers(3, 9)))
        radii = rng.uniform(5, 30, len(angles))
        shape = np.column_stack([radii * np.cos(angles), radii * np.sin(angles)])
        polygon = shapely.Polygon(shape)
        if not polygon.is_valid:
            continue
        x, y = rng.uniform(-40, 40, 2)
        expected = polygon.distance(shapely.Point(x, y))
        assert ask(x, y, [shape.tolist()])[0] == pytest.approx(expected, abs=1e-9)
        assert shape_of([tuple(c) for c in shape.tolist()]) == pytest.approx(
            (polygon.centroid.x, polygon.centroid.y, polygon.area), abs=1e-6
        )


def test_how_far_a_polygon_reaches():
    corners = np.array([(0.0, 0), (6, 0), (6, 8), (0, 8), (1, 1)])
    assert reaches(np.array([(3.0, 4), (1, 1)]), corners, starts_of([4, 1])).tolist() == [5.0, 0.0]
