"""Ways along the roads: shortest paths on the lanes of the map, by SciPy.

Driving takes the way that is fastest at the lanes' speed limits; transit takes the same way at its own
speed; walking and cycling take the shortest. An area joins the roads at its gates, everything else at the
nearest crossing; from there to the road the way is straight.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pytest_agentbench.city.columns import ranges
from pytest_agentbench.city.spatial import Points
from pytest_agentbench.city.travel import (
    DRIVEN_SHARE,
    FASTEST,
    SHORTEST,
    SPEEDS,
    WAITING,
    Position,
    Route,
)
from pytest_agentbench.city.trees import Trees

_ISLAND = 0.05  # of the nodes of the largest: a smaller component is no place to join the roads
_TIE = 1e-9  # of an edge's weight: so that no two ways are equal, whatever the version of SciPy


@dataclass(frozen=True)
class Join:
    """Where a place joins the roads: at a node, or somewhere along an edge."""

    position: Position
    straight: float  # metres from the place
    node: int = -1
    edge: int = -1
    at: float = 0.0  # metres along the edge


class Roads:
    """The roads of a map, for every mode."""

    def __init__(self, arrays: dict[str, Any], notes: dict[str, Any]) -> None:
        self._arrays = arrays
        self.lanes: Any = notes["road_lane"] if "road_lane" in notes else arrays["road_lane"]
        limits = np.clip(arrays["road_speed"], 0.1, FASTEST)
        self._driving = Network(arrays, "driving", arrays["road_metres"] / (DRIVEN_SHARE * limits))
        self._walking = Network(arrays, "walking", arrays["road_metres"])

    def route(
        self, a: Position, b: Position, mode: str, from_row: int | None, to_row: int | None
    ) -> Route | None:
        """The way by road; None where none leads there, or where it would lead along no road."""
        network = self._driving if mode in ("driving", "transit") else self._walking
        speed = SPEEDS[mode]
        # The way to the road at the mode's speed, as the weights count: seconds or metres.
        straight = 1 / speed if network.kind == "driving" else 1.0
        starts, ends = network.joins(a, from_row), network.joins(b, to_row)
        if not starts or not ends:
            return None
        start = min(starts, key=lambda join: join.straight)
        chosen = network.best(start, ends, straight)
        if chosen is None:
            return None
        end, pieces = chosen
        if not pieces:
            return None
        return self._told(a, b, start, end, pieces, mode, network)

    def _told(
        self,
        a: Position,
        b: Position,
        start: Join,
        end: Join,
        pieces: list[tuple[int, float, float]],
        mode: str,
        network: Network,
    ) -> Route:
        """The route of these pieces of edges: (edge, from metres, to metres)."""
        speed = SPEEDS[mode]
        second = WAITING.get(mode, 0.0)
        points = [[a[0], a[1], 0.0]] + ([[a[0], a[1], second]] if second else [])
        metres = start.straight
        second += start.straight / speed
        edges = np.array([edge for edge, _, _ in pieces])
        begins = np.array([begin for _, begin, _ in pieces])
        ends = np.array([end for _, _, end in pieces])
        lengths = ends - begins
        pace = network.weights[edges] / self._arrays["road_metres"][edges]
        times = lengths * (pace if mode == "driving" else 1 / speed)
        entered = second + np.cumsum(times) - times
        points += self._line(edges, begins, ends, entered, times)
        lanes = [
            [self._lane(edge), at]
            for edge, at in zip(edges.tolist(), entered.tolist(), strict=True)
        ]
        metres += float(lengths.sum()) + end.straight
        seconds = max(SHORTEST, second + float(times.sum()) + end.straight / speed)
        points.append([b[0], b[1], seconds])
        return {
            "metres": metres,
            "seconds": seconds,
            "mode": mode,
            "roads": True,
            "points": points,
            "lanes": lanes,
        }

    def _lane(self, edge: int) -> Any:
        lane = self.lanes[edge]
        return lane if isinstance(lane, str) else int(lane)

    def _line(
        self, edges: Any, begins: Any, ends: Any, entered: Any, times: Any
    ) -> list[list[float]]:
        """The points of the pieces with their seconds: each once, and both ends of the whole."""
        arrays = self._arrays
        picked = ranges(arrays["road_line_starts"][edges], arrays["road_line_starts"][edges + 1])
        counts = arrays["road_line_starts"][edges + 1] - arrays["road_line_starts"][edges]
        piece = np.repeat(np.arange(len(edges)), counts)
        along = arrays["road_along"][picked]
        # The first point of a piece is the last of the one before it.
        within = (along > begins[piece] + 1e-6) & (along < ends[piece] + 1e-6)
        piece, along = piece[within], along[within]
        share = (along - begins[piece]) / np.maximum(ends[piece] - begins[piece], 1e-9)
        table = np.column_stack(
            [arrays["road_line"][picked[within]], entered[piece] + share * times[piece]]
        )
        first = [*self.point_on(int(edges[0]), float(begins[0])), float(entered[0])]
        last = [*self.point_on(int(edges[-1]), float(ends[-1])), float(entered[-1] + times[-1])]
        points: list[list[float]] = [first, *table.tolist()]
        if points[-1] != last:
            points.append(last)
        return points

    def point_on(self, edge: int, at: float) -> Position:
        """The position so many metres along an edge."""
        return point_on(self._arrays, edge, at)


class Network:
    """The edges that one kind of traveller may use, and the shortest ways on them."""

    def __init__(self, arrays: dict[str, Any], kind: str, weights: Any) -> None:
        self.kind = kind
        self.weights = weights
        self._arrays = arrays
        self._gates: Any = [arrays.get(f"gate_{kind}_{name}") for name in ("starts", "edge", "at")]

    @cached_property
    def _trees(self) -> Trees:
        usable = np.flatnonzero(self._arrays[f"road_{self.kind}"])
        begin, end = self._arrays["road_begin"][usable], self._arrays["road_end"][usable]
        golden = (np.arange(len(usable)) * 0.6180339887498949) % 1.0
        weights = np.maximum(self.weights[usable], 1e-6) * (1 + _TIE * golden)
        return Trees(len(self._arrays["road_nodes"]), begin, end, weights, usable)

    @cached_property
    def _crossings(self) -> Points:
        """The nodes from which most others can be reached and which they can reach."""
        component, sizes = self._trees.components
        large = sizes >= max(2, _ISLAND * sizes.max(initial=0))
        return Points(self._arrays["road_nodes"], np.flatnonzero(large[component]))

    def joins(self, position: Position, row: int | None) -> list[Join]:
        """The gates of an area; of anything else the nearest crossing."""
        starts, edges, ats = self._gates
        if row is not None and starts is not None and starts[row] < starts[row + 1]:
            gates = slice(*starts[row : row + 2].tolist())
            return [
                self._gate(position, edge, at)
                for edge, at in zip(edges[gates].tolist(), ats[gates].tolist(), strict=True)
            ]
        rows, apart = self._crossings.near(*position, limit=1)
        if not len(rows):
            return []
        x, y = self._arrays["road_nodes"][rows[0]].tolist()
        return [Join((x, y), float(apart[0]), node=int(rows[0]))]

    def _gate(self, position: Position, edge: int, at: float) -> Join:
        x, y = point_on(self._arrays, edge, at)
        return Join((x, y), math.hypot(x - position[0], y - position[1]), edge=edge, at=at)

    def best(
        self, start: Join, ends: list[Join], straight: float
    ) -> tuple[Join, list[tuple[int, float, float]]] | None:
        """The end that is reached first, and the pieces of edges on the way; None: unreachable."""
        metres, begin, end = (self._arrays[f"road_{name}"] for name in ("metres", "begin", "end"))
        source = start.node
        first: list[tuple[int, float, float]] = []
        before = 0.0
        if start.edge >= 0:
            source = int(end[start.edge])
            first = [(start.edge, start.at, float(metres[start.edge]))]
            before = (first[0][2] - start.at) * self._pace(start.edge)
        costs, tree = self._trees.tree(source)
        options: list[tuple[float, int, int]] = []  # cost, number of the end, node where it is left
        for number, join in enumerate(ends):
            off = join.straight * straight
            if join.edge < 0:
                options.append((before + float(costs[join.node]) + off, number, join.node))
                continue
            if join.edge == start.edge and join.at >= start.at:
                options.append(((join.at - start.at) * self._pace(join.edge) + off, number, -1))
            node = int(begin[join.edge])
            cost = before + float(costs[node]) + join.at * self._pace(join.edge) + off
            options.append((cost, number, node))
        cost, number, node = min(options)
        if not math.isfinite(cost):
            return None
        join = ends[number]
        if node < 0:
            return join, [(join.edge, start.at, join.at)]
        path = [(edge, 0.0, float(metres[edge])) for edge in self._trees.path(tree, source, node)]
        last = [(join.edge, 0.0, join.at)] if join.edge >= 0 else []
        pieces = [piece for piece in (*first, *path, *last) if piece[2] > piece[1]]
        return join, pieces

    def _pace(self, edge: int) -> float:
        """What a metre of an edge costs."""
        return float(self.weights[edge] / self._arrays["road_metres"][edge])


def point_on(arrays: dict[str, Any], edge: int, at: float) -> Position:
    """The position so many metres along an edge."""
    begin, end = arrays["road_line_starts"][edge : edge + 2].tolist()
    along, line = arrays["road_along"][begin:end], arrays["road_line"][begin:end]
    return float(np.interp(at, along, line[:, 0])), float(np.interp(at, along, line[:, 1]))
