"""Ways along the roads: shortest paths on the lanes of the map, by SciPy.

Driving takes the way that is fastest at the lanes' speed limits; transit takes the same way at its own
speed; walking and cycling take the shortest. An area joins the roads at its gates, everything else at the
nearest crossing; from there to the road the way is straight.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pytest_agentbench.city.map_columns import ranges
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


Piece = tuple[int, float, float]  # an edge, from so many metres to so many


@dataclass(frozen=True)
class Join:
    """Where a place joins the roads: at a node, or somewhere along an edge."""

    position: Position
    straight: float  # metres from the place
    node: int = -1
    edge: int = -1
    at: float = 0.0  # metres along the edge


@dataclass(frozen=True)
class Way:
    """A way between two joins: what it costs, and the nodes between which it follows whole edges."""

    cost: float
    start: Join
    end: Join
    source: int = -1  # -1: along a single edge
    target: int = -1


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
        # By the nearest gate, and on foot in both directions; each start takes a tree of its own.
        nearest = min(join.straight for join in starts) + 1e-3
        ways = [
            way
            for start in starts
            if start.straight <= nearest
            for way in network.ways(start, ends, straight)
        ]
        best = min(ways, key=lambda way: way.cost)
        if not math.isfinite(best.cost):
            return None
        pieces = network.pieces(best)
        return self._told(a, b, best.start, best.end, pieces, mode, network) if pieces else None

    def _told(
        self,
        a: Position,
        b: Position,
        start: Join,
        end: Join,
        pieces: list[Piece],
        mode: str,
        network: Network,
    ) -> Route:
        """The route along these pieces of edges."""
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
        points.append([*start.position, second])
        points += self._line(edges, begins, ends, entered, times)
        points[-1][:2] = end.position
        lanes = [[lane, at] for lane, at in zip(self._lanes(edges), entered.tolist(), strict=True)]
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

    def _lanes(self, edges: Any) -> list[Any]:
        if isinstance(self.lanes, list):
            return [self.lanes[edge] for edge in edges.tolist()]
        return list(self.lanes[edges].tolist())

    def _line(
        self, edges: Any, begins: Any, ends: Any, entered: Any, times: Any
    ) -> list[list[float]]:
        """The points of the pieces with their seconds, each once, after the first of all."""
        arrays = self._arrays
        picked = ranges(arrays["road_line_starts"][edges], arrays["road_line_starts"][edges + 1])
        counts = arrays["road_line_starts"][edges + 1] - arrays["road_line_starts"][edges]
        piece = np.repeat(np.arange(len(edges)), counts)
        along = arrays["road_along"][picked]
        # The first point of a piece is the last of the one before it.
        within = (along > begins[piece] + 1e-6) & (along < ends[piece] - 1e-6)
        last = np.append(piece[1:] != piece[:-1], True)
        along = np.where(last, ends[piece], along)
        within |= last
        piece, along = piece[within], along[within]
        share = (along - begins[piece]) / np.maximum(ends[piece] - begins[piece], 1e-9)
        table = np.column_stack(
            [arrays["road_line"][picked[within]], entered[piece] + share * times[piece]]
        )
        points: list[list[float]] = table.tolist()
        return points


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

    def ways(self, start: Join, ends: list[Join], straight: float) -> Iterator[Way]:
        """The shortest way to each end; ``straight`` is what a metre off the roads costs."""
        metres, begin, end = (self._arrays[f"road_{name}"] for name in ("metres", "begin", "end"))
        source, before = start.node, start.straight * straight
        if start.edge >= 0:
            source = int(end[start.edge])
            before += (float(metres[start.edge]) - start.at) * self._pace(start.edge)
        costs = self._trees.tree(source)
        for join in ends:
            off = join.straight * straight
            if join.edge < 0:
                yield Way(before + costs[join.node] + off, start, join, source, join.node)
                continue
            pace = self._pace(join.edge)
            if join.edge == start.edge and join.at >= start.at:
                ahead = (start.straight * straight) + (join.at - start.at) * pace
                yield Way(ahead + off, start, join)
            node = int(begin[join.edge])
            yield Way(before + costs[node] + join.at * pace + off, start, join, source, node)

    def pieces(self, way: Way) -> list[Piece]:
        """The pieces of edges on a way."""
        metres, start, end = self._arrays["road_metres"], way.start, way.end
        if way.source < 0:
            path: list[Piece] = [(end.edge, start.at, end.at)]
        else:
            edges = self._trees.path(way.source, way.target)
            path = [(edge, 0.0, float(metres[edge])) for edge in edges]
            if start.edge >= 0:
                path.insert(0, (start.edge, start.at, float(metres[start.edge])))
            if end.edge >= 0:
                path.append((end.edge, 0.0, end.at))
        return [piece for piece in path if piece[2] > piece[1]]

    def _pace(self, edge: int) -> float:
        """What a metre of an edge costs."""
        return float(self.weights[edge] / self._arrays["road_metres"][edge])


def point_on(arrays: dict[str, Any], edge: int, at: float) -> Position:
    """The position so many metres along an edge."""
    begin, end = arrays["road_line_starts"][edge : edge + 2].tolist()
    along, line = arrays["road_along"][begin:end], arrays["road_line"][begin:end]
    return float(np.interp(at, along, line[:, 0])), float(np.interp(at, along, line[:, 1]))
