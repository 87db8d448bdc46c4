"""Small cities for tests: tables, and a map in the published format."""

from __future__ import annotations

import json

PLACES = [
    {"id": 1, "x": 0.0, "y": -100.0, "category": "residential"},
    {"id": 2, "x": 1000.0, "y": 1100.0, "category": "office"},
    {"id": 3, "x": 10.0, "y": -100.0, "category": "shop"},
    {"id": "isle", "x": 9000.0, "y": 9000.0, "category": "park"},
]
# A square of streets: a, b on one side, c, d on the other, where d leads one way only.
ROADS = [
    {"id": 11, "x1": 0, "y1": 0, "x2": 1000, "y2": 0, "max_speed": 10.0},
    {"id": 12, "x1": 1000, "y1": 0, "x2": 1000, "y2": 1000, "max_speed": 20.0},
    {"id": 13, "x1": 0, "y1": 0, "x2": 0, "y2": 1000, "max_speed": 5.0},
    {"id": 14, "x1": 0, "y1": 1000, "x2": 1000, "y2": 1000, "max_speed": 15.0, "oneway": True},
]


def write_tables(folder, **tables):
    """Writes places.json and so on; a file by its name without a suffix."""
    for name, rows in {"places": PLACES, **tables}.items():
        (folder / f"{name}.json").write_text(json.dumps(rows), encoding="utf-8")
    return folder


def published_map():
    """Two roads that meet in a junction, a sidewalk along each, three areas with gates.

    ========  road 1  ========[junction]========  road 2  ========
    x: 0                   100        120                       320
    """
    from pycityproto.city.map.v2 import map_pb2 as pb

    city = pb.Map()
    city.header.name = "two roads"
    city.header.projection = "+proj=tmerc +lat_0=39.9 +lon_0=116.4"

    def lane(number, kind, x1, x2, y, speed, parent, length=0.0):
        new = city.lanes.add(
            id=number, type=kind, parent_id=parent, max_speed=speed, length=length or abs(x2 - x1)
        )
        for x in (x1, x2):
            new.center_line.nodes.add(x=x, y=y)
        return new

    def follows(a, b):
        a.successors.add(id=b.id, type=pb.LANE_CONNECTION_TYPE_HEAD)
        b.predecessors.add(id=a.id, type=pb.LANE_CONNECTION_TYPE_TAIL)

    # Driving eastwards: two lanes on road 1, of which only the second leads on.
    left = lane(1, pb.LANE_TYPE_DRIVING, 0, 100, 0, 10, 201)
    right = lane(2, pb.LANE_TYPE_DRIVING, 0, 100, -3, 10, 201)
    turn = lane(3, pb.LANE_TYPE_DRIVING, 100, 120, -3, 5, 301)
    east = lane(4, pb.LANE_TYPE_DRIVING, 120, 320, -3, 20, 202)
    follows(right, turn)
    follows(turn, east)
    city.roads.add(id=201, lane_ids=[left.id, right.id, 5])
    city.roads.add(id=202, lane_ids=[east.id, 6])
    # On foot: the sidewalk of road 2 was drawn westwards, so the two meet at its tail.
    lane(5, pb.LANE_TYPE_WALKING, 0, 120, -8, 1.5, 201)
    west = lane(6, pb.LANE_TYPE_WALKING, 320, 120, -8, 1.5, 202)
    city.lanes[4].successors.add(id=6, type=pb.LANE_CONNECTION_TYPE_TAIL)
    west.successors.add(id=5, type=pb.LANE_CONNECTION_TYPE_TAIL)
    lane(7, pb.LANE_TYPE_RAIL_TRANSIT, 0, 320, 50, 30, 203)

    def area(number, x, y, driving=None, walking=None, **fields):
        new = city.aois.add(id=number, **fields)
        for dx, dy in ((-5, -5), (5, -5), (5, 5), (-5, 5)):
            new.positions.add(x=x + dx, y=y + dy)
        if driving:
            new.driving_positions.add(lane_id=driving[0], s=driving[1])
        if walking:
            new.walking_positions.add(lane_id=walking[0], s=walking[1])
        return new

    area(500000001, 40, 20, (1, 40), (5, 40), land_use=pb.LAND_USE_TYPE_RESIDENTIAL, area=100.0)
    area(500000002, 220, -43, (4, 100), (6, 100), urban_land_use="B1")
    area(500000003, 60, 20, (1, 60), (5, 60), urban_land_use="B1")
    area(500000004, 4000, 4000)
    for number, (category, aoi) in enumerate(
        (
            ("amenity|restaurant", 500000002),
            ("shop|supermarket", 500000002),
            ("shop|supermarket", 500000002),
            ("leisure|park", 0),
        )
    ):
        poi = city.pois.add(id=700000001 + number, name=f"P{number}", category=category, aoi_id=aoi)
        poi.position.x, poi.position.y = 220 + number, -43
    return city
