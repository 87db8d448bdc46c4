"""Reads the published protobuf map: its areas, points of interest and lanes."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.city.map_data import SEPARATOR, Areas, MapData, Pois, made
from pytest_agentbench.city.polygons import shape_of
from pytest_agentbench.city.road_data import RoadBuilder, gates

MAP_MODULE = "pycityproto.city.map.v2.map_pb2"
MAP_PACKAGE = "pycityproto"
_DRIVING, _WALKING = 1, 2  # LaneType
_HEAD, _TAIL = 1, 2  # LaneConnectionType: the beginning and the end of the other lane


def map_messages() -> Any | None:
    """The module that defines the format, or None where it is not installed."""
    try:
        return importlib.import_module(MAP_MODULE)
    except ImportError:
        return None


def read_map(path: Path, messages: Any) -> MapData:
    """The map in a file."""
    try:
        city_map = messages.Map.FromString(path.read_bytes())
    except Exception as error:  # protobuf's own exceptions differ from version to version
        raise BenchmarkError(
            f"{path}: expected a city map in {MAP_PACKAGE}'s format ({error})"
        ) from None
    areas = _areas(path, city_map, messages)
    roads, notes = _roads(city_map)
    notes["projection"] = city_map.header.projection
    try:
        return made(areas, _pois(city_map), roads, notes)
    except ValueError as error:
        raise BenchmarkError(f"{path}: {error}") from None


def _areas(path: Path, city_map: Any, messages: Any) -> Areas:
    """The areas of the map. Points of interest in an area add categories to it."""
    inside: dict[int, Counter[str]] = {}
    for poi in city_map.pois:
        category = poi.category.split(SEPARATOR)[-1].strip()
        if category:
            inside.setdefault(poi.aoi_id, Counter())[category] += 1
    areas = Areas()
    nothing: Counter[str] = Counter()
    for area in city_map.aois:
        corners = [(corner.x, corner.y) for corner in area.positions]
        if not corners:
            raise BenchmarkError(f"{path}: area {area.id} has no positions")
        x, y, size = shape_of(corners)
        own = area.urban_land_use or _land_use(messages, area.land_use)
        categories = [own, *(name for name, _ in inside.get(area.id, nothing).most_common())]
        text = SEPARATOR.join(dict.fromkeys(filter(None, categories)))
        given = area.area if area.HasField("area") else size
        areas.add(area.id, x, y, text, own, given if size else None, corners)
    return areas


def _land_use(messages: Any, number: int) -> str:
    name: str = messages.LandUseType.Name(number).removeprefix("LAND_USE_TYPE_").lower()
    return "" if name == "unspecified" else name


def _pois(city_map: Any) -> Pois:
    pois = Pois()
    for poi in city_map.pois:
        at = poi.position
        pois.add(poi.id, at.x, at.y, poi.category, poi.name, poi.aoi_id)
    return pois


def _roads(city_map: Any) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """The lanes for driving and walking; None where the map has none.

    A car may change between the lanes of a road, so they begin and end in the same nodes. A walking lane
    is used in both directions. Where there are none, people walk along the driving lanes.
    """
    lanes = [lane for lane in city_map.lanes if lane.type in (_DRIVING, _WALKING)]
    lanes = [lane for lane in lanes if lane.center_line.nodes]
    if not lanes:
        return None, {}
    nodes = _joined_ends(lanes, city_map.roads)
    builder = RoadBuilder()
    on_foot = any(lane.type == _WALKING for lane in lanes)
    forth: dict[int, int] = {}
    back: dict[int, int] = {}
    for number, lane in enumerate(lanes):
        line = [(point.x, point.y) for point in lane.center_line.nodes]
        begin = builder.node(nodes[2 * number], line[0])
        end = builder.node(nodes[2 * number + 1], line[-1])
        drives = lane.type == _DRIVING
        sizes = {"metres": lane.length, "speed": lane.max_speed}
        walks = not drives or not on_foot
        forth[lane.id] = builder.add(
            lane.id, begin, end, line, **sizes, driving=drives, walking=walks
        )
        if walks:
            back[lane.id] = builder.add(lane.id, end, begin, line[::-1], **sizes, walking=True)
    arrays, notes = builder.arrays()
    lengths = arrays["road_metres"].tolist()

    def driving(area: Any) -> Iterable[tuple[int, float]]:
        for gate in area.driving_positions:
            if gate.lane_id in forth:
                edge = forth[gate.lane_id]
                yield edge, min(max(0.0, gate.s), lengths[edge])

    def walking(area: Any) -> Iterable[tuple[int, float]]:
        for gate in area.walking_positions:
            if gate.lane_id in back:
                edge = forth[gate.lane_id]
                at = min(max(0.0, gate.s), lengths[edge])
                yield edge, at
                yield back[gate.lane_id], lengths[edge] - at

    arrays |= gates("driving", (list(driving(area)) for area in city_map.aois))
    arrays |= gates("walking", (list(walking(area)) for area in city_map.aois))
    return arrays, notes


def _joined_ends(lanes: list[Any], roads: Any) -> list[int]:
    """For the beginning (2n) and the end (2n + 1) of each lane the end that it is one node with."""
    number = {lane.id: at for at, lane in enumerate(lanes)}
    joined = list(range(2 * len(lanes)))

    def root(end: int) -> int:
        while joined[end] != end:
            joined[end] = joined[joined[end]]
            end = joined[end]
        return end

    def join(a: int, b: int) -> None:
        a, b = root(a), root(b)
        joined[max(a, b)] = min(a, b)

    for at, lane in enumerate(lanes):
        for own, others, usual in (
            (2 * at + 1, lane.successors, _HEAD),
            (2 * at, lane.predecessors, _TAIL),
        ):
            for other in others:
                if other.id in number:
                    which = (other.type or usual) == _TAIL
                    join(own, 2 * number[other.id] + which)
    for road in roads:
        driving = [number[lane] for lane in road.lane_ids if lane in number]
        driving = [at for at in driving if lanes[at].type == _DRIVING]
        for at in driving[1:]:
            join(2 * driving[0], 2 * at)
            join(2 * driving[0] + 1, 2 * at + 1)
    return [root(end) for end in range(len(joined))]
