"""Shapes on a flat map: shapely's where it is installed, else small ones with what agents use of them."""

from __future__ import annotations

import importlib
import importlib.util
import math
from collections.abc import Iterator, Sequence
from typing import Any

XY = tuple[float, float]


class Point:
    """A position."""

    area = length = 0.0

    def __init__(self, x: float, y: float) -> None:
        self.x, self.y = float(x), float(y)

    @property
    def centroid(self) -> Point:
        return self

    @property
    def coords(self) -> list[XY]:
        return [(self.x, self.y)]

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        return (self.x, self.y, self.x, self.y)

    def distance(self, other: Any) -> float:
        """Metres to another shape: 0 inside of it."""
        if isinstance(other, Point):
            return math.dist((self.x, self.y), (other.x, other.y))
        return float(other.distance(self))

    def __repr__(self) -> str:
        return f"<POINT ({self.x:g} {self.y:g})>"


class Polygon:
    """An area with straight edges."""

    def __init__(self, corners: Sequence[XY]) -> None:
        self.coords = [(float(x), float(y)) for x, y in corners]
        if self.coords[0] != self.coords[-1]:
            self.coords.append(self.coords[0])

    def _edges(self) -> Iterator[tuple[XY, XY]]:
        return zip(self.coords, self.coords[1:], strict=False)

    @property
    def exterior(self) -> Polygon:
        return self

    @property
    def area(self) -> float:
        return abs(sum(ax * by - bx * ay for (ax, ay), (bx, by) in self._edges())) / 2

    @property
    def length(self) -> float:
        return sum(math.dist(a, b) for a, b in self._edges())

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        xs, ys = zip(*self.coords, strict=True)
        return (min(xs), min(ys), max(xs), max(ys))

    @property
    def centroid(self) -> Point:
        """The centre of mass; of a polygon without area, that of its corners."""
        # About the first corner: with coordinates of millions of metres, products would lose digits.
        x0, y0 = self.coords[0]
        twice = sx = sy = 0.0
        for (ax, ay), (bx, by) in self._edges():
            cross = (ax - x0) * (by - y0) - (bx - x0) * (ay - y0)
            twice += cross
            sx += (ax + bx - 2 * x0) * cross
            sy += (ay + by - 2 * y0) * cross
        if not twice:
            xs, ys = zip(*self.coords[:-1], strict=True)
            return Point(sum(xs) / len(xs), sum(ys) / len(ys))
        return Point(x0 + sx / (3 * twice), y0 + sy / (3 * twice))

    def contains(self, point: Any) -> bool:
        """Whether a position lies inside, by the edges that a ray from it crosses."""
        x, y = position_of(point)
        inside = False
        for (ax, ay), (bx, by) in self._edges():
            if (ay > y) != (by > y) and x < ax + (y - ay) / (by - ay) * (bx - ax):
                inside = not inside
        return inside

    def distance(self, other: Any) -> float:
        """Metres to a position, 0 inside; of another area, to its centroid."""
        point = other if isinstance(other, Point) else other.centroid
        if self.contains(point):
            return 0.0
        return min(_from_edge((point.x, point.y), a, b) for a, b in self._edges())

    def __repr__(self) -> str:
        return f"<POLYGON of {len(self.coords) - 1} corners>"


def _from_edge(point: XY, a: XY, b: XY) -> float:
    (px, py), (ax, ay), (bx, by) = point, a, b
    squared = (bx - ax) ** 2 + (by - ay) ** 2
    along = 0.0 if not squared else ((px - ax) * (bx - ax) + (py - ay) * (by - ay)) / squared
    t = min(1.0, max(0.0, along))
    return math.dist(point, (ax + t * (bx - ax), ay + t * (by - ay)))


def has_shapely() -> bool:
    return importlib.util.find_spec("shapely") is not None


def shape_of(corners: Sequence[XY], is_area: bool) -> Any:
    """A polygon, or the point that an area without one has."""
    whole = is_area and len(corners) >= 3
    if has_shapely():
        geometry: Any = importlib.import_module("shapely.geometry")
        return geometry.Polygon(corners) if whole else geometry.Point(corners[0])
    return Polygon(corners) if whole else Point(*corners[0])


def position_of(where: Any) -> XY:
    """The (x, y) of a pair, of a dict with x and y, or of anything that has both: a point."""
    if isinstance(where, dict):
        return float(where["x"]), float(where["y"])
    if hasattr(where, "x") and hasattr(where, "y"):
        return float(where.x), float(where.y)
    x, y = where
    return float(x), float(y)
