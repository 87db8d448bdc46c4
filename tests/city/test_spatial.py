"""The index gives what looking at every point gives, in the same order."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_agentbench.city import polygons, spatial
from pytest_agentbench.city.map_columns import starts_of
from pytest_agentbench.city.spatial import Points, Shapes


@pytest.fixture
def tree_always(monkeypatch):
    monkeypatch.setattr(spatial, "SMALL", 0)


def textbook(xy, x, y, radius, limit):
    apart = [float(np.hypot(px - x, py - y)) for px, py in xy]
    found = [row for row in range(len(xy)) if radius is None or apart[row] <= radius]
    found.sort(key=lambda row: (apart[row], row))
    return found[:limit], [apart[row] for row in found[:limit]]


# Whole numbers on a small field: many points in one place, many at one distance.
FIELDS = {"crowded": 6, "wide": 400}


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("radius", [None, 0, 2.5, 30, float("inf"), -1])
@pytest.mark.parametrize("limit", [None, 0, 1, 7, 5000])
def test_points_are_those_of_looking_at_all(tree_always, field, radius, limit):
    rng = np.random.default_rng(2)
    xy = rng.integers(0, FIELDS[field], (300, 2)).astype(float)
    points = Points(xy)
    for x, y in rng.integers(-2, FIELDS[field] + 2, (10, 2)).tolist():
        rows, apart = points.near(x, y, radius, limit)
        assert (rows.tolist(), apart.tolist()) == textbook(xy, x, y, radius, limit)


def test_some_of_the_points(tree_always):
    rng = np.random.default_rng(3)
    xy = rng.uniform(0, 100, (200, 2))
    some = np.arange(0, 200, 3)
    rows, apart = Points(xy, some).near(50, 50, limit=5)
    expected, distances = textbook(xy[some], 50, 50, None, 5)
    assert rows.tolist() == some[expected].tolist()
    assert apart.tolist() == distances


def test_few_points_need_no_scipy(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "scipy.spatial", None)
    xy = np.random.default_rng(4).uniform(0, 100, (spatial.SMALL, 2))
    assert len(Points(xy).near(5, 5, limit=3)[0]) == 3
    with pytest.raises(ImportError):
        Points(np.zeros((spatial.SMALL + 1, 2))).near(5, 5, limit=3)


def test_no_points_and_no_position(tree_always):
    rows, _ = Points(np.empty((0, 2))).near(1, 2, limit=3)
    assert rows.tolist() == []
    rows, _ = Points(np.zeros((3, 2))).near(float("nan"), 2, radius=5)
    assert rows.tolist() == []


@pytest.mark.parametrize("small", [0, 10**6])
def test_polygons_are_those_of_looking_at_all(monkeypatch, small):
    monkeypatch.setattr(spatial, "SMALL", small)
    rng = np.random.default_rng(5)
    centres = rng.uniform(0, 1000, (250, 2))
    sizes = np.where(rng.random(250) < 0.02, 300, rng.uniform(2, 30, 250))  # a few are huge
    box = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
    corners = (centres[:, None] + sizes[:, None, None] * box).reshape(-1, 2)
    starts = starts_of([4] * 250)
    shapes = Shapes(Points(centres), centres, corners, starts)
    odd = np.arange(250) % 2 == 1
    for x, y in rng.uniform(-50, 1050, (20, 2)).tolist():
        apart = polygons.distances(x, y, corners, starts, np.arange(250))
        for radius, wanted, limit in ((0, None, None), (40, None, 3), (90, odd, None)):
            rows, metres = shapes.near(x, y, radius, wanted, limit)
            expected = sorted(
                (apart[row], row)
                for row in range(250)
                if apart[row] <= radius and (wanted is None or odd[row])
            )[:limit]
            assert rows.tolist() == [row for _, row in expected]
            assert metres.tolist() == [metre for metre, _ in expected]
