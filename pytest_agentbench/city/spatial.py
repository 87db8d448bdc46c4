"""What is near a position: points and polygons, found through SciPy's KD-tree where there are many.

Results are those of looking at every point, to the last digit and in the same order: nearest first, ties
in the order of the data. The tree only says which points are worth a look.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pytest_agentbench.city import polygons

SMALL = 2000  # so many points are looked at in 20 µs, and SciPy's import takes 0.2 s
_WIDER = 1 + 1e-9  # the tree rounds differently
_USUAL = 99  # percent of the polygons: the others are large, and looked at one by one


class Points:
    """Positions, and which of them are near."""

    def __init__(self, xy: Any, rows: Any = None) -> None:
        self._xy = xy if rows is None else xy[rows]
        self._rows = rows  # numbers of the points; None: 0, 1, 2 ...
        self._made: Any = None

    def __len__(self) -> int:
        return len(self._xy)

    def near(
        self, x: float, y: float, radius: float | None = None, limit: int | None = None
    ) -> tuple[Any, Any]:
        """The rows of the points within a radius and their distances, nearest first."""
        if limit is not None and limit <= 0:
            return np.empty(0, np.int64), np.empty(0)
        found = self._candidates(x, y, radius, limit)
        points = self._xy if found is None else self._xy[found]
        apart = np.hypot(points[:, 0] - x, points[:, 1] - y)
        if radius is not None:
            inside = apart <= radius
            apart = apart[inside]
            found = np.flatnonzero(inside) if found is None else found[inside]
        order = np.argsort(apart, kind="stable")[:limit]
        rows = order if found is None else found[order]
        return rows if self._rows is None else self._rows[rows], apart[order]

    def _candidates(
        self, x: float, y: float, radius: float | None, limit: int | None
    ) -> Any | None:
        """Points that include all that are wanted, in the order of the data; None: all points."""
        if len(self) <= SMALL or not (math.isfinite(x) and math.isfinite(y)):
            return None
        reach = math.inf if radius is None else max(0.0, radius)
        if limit is not None and limit < len(self):
            # All that are as near as the last: the tree does not say which comes first of a tie.
            far, _ = self._tree.query((x, y), k=[limit], distance_upper_bound=reach * _WIDER + 1e-9)
            reach = min(reach, float(far[0]))
        if not math.isfinite(reach):
            return None
        found = self._tree.query_ball_point((x, y), reach * _WIDER + 1e-9, return_sorted=True)
        return np.array(found, np.int64)

    @property
    def _tree(self) -> Any:
        if self._made is None:
            from scipy.spatial import cKDTree  # type: ignore[import-untyped]  # 0.2 s

            # Sliding midpoints: made in two thirds of the time, and no slower to ask.
            self._made = cKDTree(self._xy, balanced_tree=False, compact_nodes=False)
        return self._made


class Shapes:
    """Polygons, and which of them are near."""

    def __init__(self, centroids: Points, xy: Any, corners: Any, starts: Any) -> None:
        self._centroids = centroids
        self._xy, self._corners, self._starts = xy, corners, starts
        self._made: tuple[float, Any] | None = None

    def near(
        self, x: float, y: float, radius: float, wanted: Any = None, limit: int | None = None
    ) -> tuple[Any, Any]:
        """The rows of the polygons within a radius and their distances, nearest first.

        ``wanted`` says of each polygon whether it counts.
        """
        rows = self._candidates(x, y, radius)
        if wanted is not None:
            rows = rows[wanted[rows]]
        if not len(rows):
            return rows, np.empty(0)
        apart = polygons.distances(x, y, self._corners, self._starts, rows)
        inside = apart <= radius
        rows, apart = rows[inside], apart[inside]
        order = np.argsort(apart, kind="stable")[:limit]
        return rows[order], apart[order]

    def _candidates(self, x: float, y: float, radius: float) -> Any:
        usual, large = self._reach
        rows, _ = self._centroids.near(x, y, radius + usual)
        return np.union1d(rows, large)

    @property
    def _reach(self) -> tuple[float, Any]:
        """How far most polygons reach from their centroid, and those that reach farther."""
        if self._made is None:
            reach = polygons.reaches(self._xy, self._corners, self._starts)
            usual = float(np.percentile(reach, _USUAL, method="lower"))
            self._made = usual, np.flatnonzero(reach > usual)
        return self._made
