"""Roads as arrays: directed edges between nodes, each on a lane and with the line that it follows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from pytest_agentbench.city.map_columns import starts_of

USUAL_LIMIT = 13.9  # metres a second, 50 km/h: where the map gives a lane no speed limit
_SHORTEST = 0.01  # metres

Line = Sequence[tuple[float, float]]


class RoadBuilder:
    """Collects lanes between ends that are known by any key; :meth:`arrays` has them all."""

    def __init__(self) -> None:
        self._nodes: dict[Any, int] = {}
        self._positions: list[tuple[float, float]] = []
        self._edges: list[tuple[int, int, float, float, Any, bool, bool]] = []
        self._lines: list[Line] = []

    def node(self, key: Any, position: tuple[float, float]) -> int:
        """The number of a node, which is where it was first said to be."""
        number = self._nodes.setdefault(key, len(self._nodes))
        if number == len(self._positions):
            self._positions.append(position)
        return number

    def add(
        self,
        lane: Any,
        begin: int,
        end: int,
        line: Line,
        *,
        metres: float = 0.0,
        speed: float = 0.0,
        driving: bool = False,
        walking: bool = False,
    ) -> int:
        """The number of a new edge along a line, in the direction of its points."""
        points = line if len(line) > 1 else [*line, *line]
        length = metres if metres > 0 else sum(map(math.dist, points, points[1:]))
        limit = speed if speed > 0 else USUAL_LIMIT
        self._edges.append((begin, end, max(_SHORTEST, length), limit, lane, driving, walking))
        self._lines.append(points)
        return len(self._edges) - 1

    def __len__(self) -> int:
        return len(self._edges)

    def arrays(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Arrays for the map, and its notes: the lanes where their ids are no numbers."""
        begin, end, metres, speed, lanes, driving, walking = zip(*self._edges, strict=True)
        line = np.array([point for points in self._lines for point in points], np.float64)
        starts = starts_of([len(points) for points in self._lines])
        arrays = {
            "road_nodes": np.array(self._positions, np.float64),
            "road_begin": np.array(begin, np.int64),
            "road_end": np.array(end, np.int64),
            "road_metres": np.array(metres, np.float64),
            "road_speed": np.array(speed, np.float64),
            "road_driving": np.array(driving, bool),
            "road_walking": np.array(walking, bool),
            "road_line": line,
            "road_line_starts": starts,
            "road_along": _scaled(line, starts, np.array(metres, np.float64)),
        }
        if all(type(lane) is int for lane in lanes):
            return {**arrays, "road_lane": np.array(lanes, np.int64)}, {}
        return arrays, {"road_lane": list(lanes)}


def gates(kind: str, joined: Iterable[Sequence[tuple[int, float]]]) -> dict[str, Any]:
    """Where areas join the roads: for each the edges and the metres along them."""
    pairs = [list(one) for one in joined]
    flat = [pair for one in pairs for pair in one]
    return {
        f"gate_{kind}_starts": starts_of([len(one) for one in pairs]),
        f"gate_{kind}_edge": np.array([edge for edge, _ in flat], np.int64),
        f"gate_{kind}_at": np.array([at for _, at in flat], np.float64),
    }


def _scaled(line: Any, starts: Any, metres: Any) -> Any:
    """The metres along its edge of every point: 0 at the first, the edge's length at the last."""
    steps = np.append(0.0, np.hypot(*np.diff(line, axis=0).T))
    steps[starts[:-1]] = 0.0
    total = np.cumsum(steps)
    counts = np.diff(starts)
    along = total - np.repeat(total[starts[:-1]], counts)
    lengths = along[starts[1:] - 1]
    # A line that has no length is passed in one jump, at its end.
    factor = np.divide(metres, lengths, out=np.zeros_like(metres), where=lengths > 0)
    along *= np.repeat(factor, counts)
    along[starts[1:] - 1] = metres
    return along
