"""Draws the demo's city: areas with polygons and land use, points of interest in them, streets.

All of it is made up. It draws from ``Random.random()`` alone, whose sequence Python promises to keep, and
rounds what passes through a logarithm.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from random import Random
from typing import Any

EXTENT = 24_000  # metres from side to side
FIRST_AREA, FIRST_POI = 500_000_000, 700_000_000  # as in the published maps
BLOCK = 1_000  # metres between two streets
ARTERIAL = 4  # every fourth street
SPEEDS = {"arterial": 16.7, "street": 11.1, "lane": 8.3}  # 60, 40 and 30 km/h
CLOSED = 0.08  # of the streets that are no arterials
NOTES = {
    "note": "Synthetic demo data of pytest-agentbench: no such city exists.",
    "synthetic": True,
    # Somewhere in the Gulf of Guinea, where no city is.
    "projection": "+proj=tmerc +lat_0=0 +lon_0=0 +x_0=12000 +y_0=12000",
}


@dataclass(frozen=True)
class Kind:
    """A kind of area: how many there are, how closely they keep to the centre, their size, their POIs."""

    count: int
    spread: float
    size: int  # metres from the centre to a side
    land_use: str  # the codes of GB 50137, as in the published maps
    most_pois: int
    pois: tuple[str, ...]


KINDS = {
    "residential": Kind(180, 0.28, 90, "R2", 3, (
        "shop|convenience", "amenity|pharmacy", "leisure|playground", "amenity|kindergarten",
        "amenity|parking", "shop|bakery")),
    "office": Kind(90, 0.15, 50, "B2", 4, (
        "office|company", "office|company", "amenity|cafe", "amenity|bank", "amenity|fast_food",
        "office|government")),
    "factory": Kind(25, 0.32, 150, "M1", 2, (
        "man_made|works", "office|company", "amenity|fuel")),
    "school": Kind(25, 0.24, 100, "A3", 3, (
        "amenity|school", "amenity|university", "amenity|library", "leisure|pitch")),
    "shop": Kind(70, 0.20, 45, "B1", 5, (
        "shop|supermarket", "shop|clothes", "shop|mall", "shop|bakery", "shop|electronics",
        "shop|books", "amenity|fast_food")),
    "restaurant": Kind(85, 0.19, 30, "B1", 4, (
        "amenity|restaurant", "amenity|restaurant", "amenity|fast_food", "amenity|cafe",
        "amenity|bar")),
    "park": Kind(35, 0.28, 180, "G1", 4, (
        "leisure|park", "leisure|playground", "leisure|pitch", "leisure|garden",
        "tourism|viewpoint")),
    "entertainment": Kind(25, 0.14, 50, "B3", 4, (
        "amenity|cinema", "amenity|theatre", "leisure|sports_centre", "leisure|fitness_centre",
        "amenity|nightclub", "tourism|museum")),
    "hospital": Kind(10, 0.24, 100, "A5", 4, (
        "amenity|hospital", "amenity|clinic", "amenity|pharmacy", "amenity|doctors")),
}  # fmt: skip


@dataclass(frozen=True)
class Area:
    id: int
    x: int
    y: int
    category: str
    half: tuple[int, int]  # width and height


def draw_areas(rng: Random) -> list[Area]:
    """Areas that do not overlap."""
    areas: list[Area] = []
    for category, kind in KINDS.items():
        for _ in range(kind.count):
            half = tuple(round(kind.size * (0.7 + 0.6 * rng.random())) for _ in range(2))
            while True:
                x, y = (round(EXTENT * (0.5 + kind.spread * normal(rng))) for _ in range(2))
                inside = all(half[n] <= (x, y)[n] <= EXTENT - half[n] for n in range(2))
                if inside and not any(_overlap(area, x, y, half) for area in areas):
                    break
            areas.append(Area(FIRST_AREA + len(areas), x, y, category, half))
    return areas


def _overlap(area: Area, x: int, y: int, half: tuple[int, int]) -> bool:
    return abs(area.x - x) < area.half[0] + half[0] and abs(area.y - y) < area.half[1] + half[1]


def places_csv(areas: list[Area]) -> str:
    lines = [
        f'{a.id},{a.x},{a.y},{a.category},{KINDS[a.category].land_use},"{_polygon(a)}"\n'
        for a in areas
    ]
    return "id,x,y,category,land_use,polygon\n" + "".join(lines)


def _polygon(area: Area) -> str:
    """A rectangle; parks and schools have their corners cut off. The centre is the centroid."""
    w, h = area.half
    corners = [(-w, -h), (w, -h), (w, h), (-w, h)]
    if area.category in ("park", "school"):
        c = min(w, h) // 2
        corners = [(c - w, -h), (w - c, -h), (w, c - h), (w, h - c),
                   (w - c, h), (c - w, h), (-w, h - c), (-w, c - h)]  # fmt: skip
    points = ", ".join(f"{area.x + x} {area.y + y}" for x, y in [*corners, corners[0]])
    return f"POLYGON (({points}))"


def pois_csv(rng: Random, areas: list[Area]) -> str:
    """One POI in each area at least: the first that its kind has."""
    lines = []
    for area in areas:
        kind = KINDS[area.category]
        for number in range(1 + int(rng.random() * (kind.most_pois + 1))):
            category = kind.pois[int(rng.random() * len(kind.pois)) if number else 0]
            x, y = (
                round(centre + half * (1.2 * rng.random() - 0.6))
                for centre, half in zip((area.x, area.y), area.half, strict=True)
            )
            name = category.rpartition("|")[2].replace("_", " ").capitalize()
            poi = FIRST_POI + len(lines)
            lines.append(f"{poi},{name} {len(lines) + 1},{category},{x},{y},{area.id}\n")
    return "id,name,category,x,y,aoi_id\n" + "".join(lines)


def roads_csv(rng: Random) -> str:
    """A grid that is a little crooked: arterials, streets, lanes on the outskirts; some are closed."""
    side = EXTENT // BLOCK + 1
    nodes = {}
    for i in range(side):
        for j in range(side):
            bent = [round(0.15 * BLOCK * (2 * rng.random() - 1)) for _ in range(2)]
            nodes[i, j] = tuple(
                min(EXTENT, max(0, at * BLOCK + off)) for at, off in zip((i, j), bent, strict=True)
            )
    streets = []
    for (i, j), a in nodes.items():
        for other in ((i + 1, j), (i, j + 1)):
            if other in nodes:
                line = j if other[0] > i else i
                arterial = line % ARTERIAL == 0
                centre = max(abs(i - side // 2), abs(j - side // 2)) <= side // 4
                kind = "arterial" if arterial else "street" if centre else "lane"
                if arterial or rng.random() >= CLOSED:
                    streets.append((*a, *nodes[other], SPEEDS[kind]))
    lines = [f"{number},{','.join(map(str, street))}\n" for number, street in enumerate(streets, 1)]
    return "id,x1,y1,x2,y2,max_speed\n" + "".join(lines)


def city_files(seed: str) -> dict[str, str]:
    """The files that make up the city, by name."""
    areas = draw_areas(Random(f"{seed} city"))
    return {
        "map.json": json.dumps(NOTES, indent=1) + "\n",
        "places.csv": places_csv(areas),
        "pois.csv": pois_csv(Random(f"{seed} pois"), areas),
        "roads.csv": roads_csv(Random(f"{seed} roads")),
    }


def normal(rng: Random) -> float:
    """A normally distributed number (Box-Muller, from plain uniform numbers)."""
    length = math.sqrt(-2.0 * math.log(1.0 - rng.random()))
    return length * math.cos(2.0 * math.pi * rng.random())


def below(rng: Random, limit: int) -> int:
    return int(rng.random() * limit)


def any_of(rng: Random, items: list[Any]) -> Any:
    return items[below(rng, len(items))]


def pick(rng: Random, shares: Any) -> Any:
    """A random item with these probabilities; the last takes what rounding leaves."""
    left = rng.random()
    for item, share in shares[:-1]:
        left -= share
        if left < 0:
            return item
    return shares[-1][0]
