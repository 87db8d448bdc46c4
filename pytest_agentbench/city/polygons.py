"""Polygons: their centroids and areas, and how far a position is from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pytest_agentbench.city.map_columns import ranges


def centroid(corners: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The centroid of a polygon; without an area, the mean of its corners.

    >>> centroid([(0, 0), (4, 0), (4, 2), (0, 2)])
    (2.0, 1.0)
    >>> centroid([(1, 1), (3, 1)])
    (2.0, 1.0)
    """
    x, y, _ = shape_of(corners)
    return x, y


def shape_of(corners: Sequence[tuple[float, float]]) -> tuple[float, float, float]:
    """The centroid of a polygon, x and y, and its area.

    >>> shape_of([(0, 0), (4, 0), (4, 2), (0, 2)])
    (2.0, 1.0, 8.0)
    """
    # Relative to the first corner: map coordinates are large, buildings are small.
    x0, y0 = corners[0]
    points = [(x - x0, y - y0) for x, y in corners]
    area = sum_x = sum_y = 0.0
    for (ax, ay), (bx, by) in zip(points, [*points[1:], points[0]], strict=True):
        cross = ax * by - bx * ay
        area += cross
        sum_x += (ax + bx) * cross
        sum_y += (ay + by) * cross
    if abs(area) < 1e-9:
        count = len(corners)
        return sum(x for x, _ in corners) / count, sum(y for _, y in corners) / count, 0.0
    return x0 + sum_x / (3 * area), y0 + sum_y / (3 * area), abs(area) / 2


def distances(x: float, y: float, corners: Any, starts: Any, rows: Any) -> Any:
    """Metres from a position to each of these polygons; 0 inside of one.

    A polygon of one corner is a point, one of two a line. ``corners`` has those of all polygons, and
    ``starts`` where each begins.
    """
    begins, ends = starts[rows], starts[rows + 1]
    picked = ranges(begins, ends)
    firsts = np.cumsum(ends - begins) - (ends - begins)
    a = corners[picked] - (x, y)
    after = np.arange(1, len(picked) + 1)
    after[np.append(firsts[1:], len(picked)) - 1] = firsts  # the last corner joins the first
    b = a[after]
    along = b - a
    squared = np.einsum("ij,ij->i", along, along)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.clip(-np.einsum("ij,ij->i", a, along) / squared, 0.0, 1.0)
    share[squared == 0.0] = 0.0
    nearest = a + share[:, None] * along
    apart = np.minimum.reduceat(np.hypot(nearest[:, 0], nearest[:, 1]), firsts)
    # A ray to the right leaves a polygon one time more often than it enters, if it begins inside.
    crosses = (a[:, 1] > 0) != (b[:, 1] > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        where = a[:, 0] - a[:, 1] * along[:, 0] / along[:, 1]
    inside = np.add.reduceat((crosses & (where > 0)).astype(np.int64), firsts) % 2 == 1
    apart[inside] = 0.0
    return apart


def reaches(xy: Any, corners: Any, starts: Any) -> Any:
    """The distance of each polygon's farthest corner from its centroid."""
    counts = starts[1:] - starts[:-1]
    apart = np.hypot(*(corners - np.repeat(xy, counts, axis=0)).T)
    return np.maximum.reduceat(apart, starts[:-1])
