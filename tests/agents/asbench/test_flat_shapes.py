"""Our small shapes say what shapely's say."""

from __future__ import annotations

import pytest

from pytest_agentbench.agents.asbench import flat_shapes
from pytest_agentbench.agents.asbench.flat_shapes import Point, Polygon, position_of, shape_of

SQUARE = [(0.0, 0.0), (4.0, 0.0), (4.0, 4.0), (0.0, 4.0)]
BAY = [(10.0, 0.0), (14.0, 0.0), (14.0, 3.0), (12.0, 1.0), (10.0, 3.0)]


def test_a_square_by_hand():
    square = Polygon(SQUARE)
    assert (square.area, square.length, square.bounds) == (16.0, 16.0, (0.0, 0.0, 4.0, 4.0))
    assert (square.centroid.x, square.centroid.y) == (2.0, 2.0)
    assert square.contains(Point(1, 3))
    assert not square.contains((5, 3))
    assert square.distance(Point(1, 3)) == 0.0
    assert square.distance(Point(7, 8)) == 5.0
    assert Point(7, 8).distance(square) == 5.0
    assert square.exterior.coords == [*SQUARE, SQUARE[0]]


def test_a_point_by_hand():
    point = Point(3, 4)
    assert point.distance(Point(0, 0)) == 5.0
    assert point.centroid is point
    assert (point.area, point.bounds, point.coords) == (0.0, (3, 4, 3, 4), [(3, 4)])


@pytest.mark.parametrize("corners", [SQUARE, BAY, [(x + 4e6, y + 5e6) for x, y in BAY]])
def test_they_agree_with_shapely(corners):
    geometry = pytest.importorskip("shapely.geometry")
    ours, theirs = Polygon(corners), geometry.Polygon(corners)
    assert ours.area == pytest.approx(theirs.area, rel=1e-6)
    assert ours.length == pytest.approx(theirs.length)
    assert ours.bounds == theirs.bounds
    assert (ours.centroid.x, ours.centroid.y) == pytest.approx(
        (theirs.centroid.x, theirs.centroid.y), abs=1e-6
    )
    x0, y0 = corners[0]
    for x in range(-3, 18, 2):
        for y in range(-3, 8, 2):
            at = (x0 + x + 0.3, y0 + y + 0.4)
            expected = theirs.distance(geometry.Point(at))
            assert ours.distance(Point(*at)) == pytest.approx(expected, abs=1e-6)


def test_a_polygon_without_area_has_the_centre_of_its_corners():
    line = Polygon([(0.0, 0.0), (2.0, 0.0), (4.0, 0.0)])
    assert (line.centroid.x, line.centroid.y, line.area) == (2.0, 0.0, 0.0)


@pytest.mark.parametrize("installed", [True, False])
def test_shapes_are_shapelys_where_it_is_installed(monkeypatch, installed):
    if installed:
        pytest.importorskip("shapely")
    monkeypatch.setattr(flat_shapes, "has_shapely", lambda: installed)
    area, point = shape_of(SQUARE, True), shape_of(SQUARE, False)
    assert type(area).__module__.startswith("shapely") is installed
    assert (area.centroid.x, area.centroid.y, area.area) == (2.0, 2.0, 16.0)
    assert (point.x, point.y) == (0.0, 0.0)
    assert shape_of(SQUARE[:2], True).area == 0.0  # two corners are no area


def test_positions_have_several_forms():
    assert position_of((1, 2)) == position_of([1.0, 2.0]) == (1.0, 2.0)
    assert position_of({"x": 1, "y": 2}) == position_of(Point(1, 2)) == (1.0, 2.0)
