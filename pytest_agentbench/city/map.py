"""The city: areas, points of interest and roads, and the questions that may be asked about them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from pytest_agentbench.city.map_columns import ranges
from pytest_agentbench.city.map_data import SEPARATOR, Areas, MapData, PlaceId, Pois, made
from pytest_agentbench.city.projection import Projection
from pytest_agentbench.city.roads import Roads
from pytest_agentbench.city.spatial import Points, Shapes
from pytest_agentbench.city.travel import DETOUR, Position, Route, is_roundabout, straight_route

SELECTIONS = 64  # sets of categories whose points stay at hand

Where = Any  # an id of a place or POI, one of them as the queries return it, or a position (x, y)
Pairs = list[tuple[dict[str, Any], float]]


@dataclass(frozen=True)
class Place:
    """One place: a building or an area, at its centroid, in metres on a flat map."""

    id: PlaceId
    x: float
    y: float
    category: str = ""  # several are separated by "|"

    def plain(self) -> dict[str, Any]:
        """A copy for the agent, as JSON."""
        return {"id": self.id, "category": self.category, "x": self.x, "y": self.y}


@dataclass(frozen=True)
class Poi:
    """A point of interest: a shop, a restaurant, a stop, inside an area."""

    id: PlaceId
    x: float
    y: float
    category: str = ""  # as in OpenStreetMap: "amenity|restaurant"; the last part counts
    name: str = ""
    aoi_id: PlaceId | None = None


class City:
    """All places of a city, which are its areas. Positions are metres on a flat map."""

    def __init__(
        self, places: Iterable[Place] | MapData, name: str = "", pois: Iterable[Poi] = ()
    ) -> None:
        data = places if isinstance(places, MapData) else _data(places, pois)
        self.name = name
        self.data = data
        self._ids = data.ids("aoi_id", "place")
        self._poi_ids = data.ids("poi_id", "POI")
        self._xy, self._poi_xy = data.arrays["aoi_xy"], data.arrays["poi_xy"]
        self._category, self._poi_name = data.texts("aoi_category"), data.texts("poi_name")
        self._land_uses: list[str] = data.notes["land_uses"]
        self._poi_categories: list[str] = data.notes["poi_categories"]
        self._kinds = [kind_of(category) for category in self._poi_categories]
        self._points = Points(self._xy)
        self._projection = Projection(str(data.notes.get("projection") or ""))
        self._of_category = lru_cache(SELECTIONS)(self._category_points)
        self._of_kinds = lru_cache(SELECTIONS)(self._kind_points)

    def __len__(self) -> int:
        return len(self._ids)

    def __contains__(self, place: object) -> bool:
        return isinstance(place, (int, str)) and self._ids.row(place) is not None

    @property
    def synthetic(self) -> bool:
        """Whether the map was made up, and says so."""
        return bool(self.data.notes.get("synthetic"))

    @cached_property
    def roads(self) -> Roads | None:
        """The roads, if the map has some."""
        return Roads(self.data.arrays, self.data.notes) if self.data.has_roads else None

    @property
    def words(self) -> str:
        """How large the map is, and what trips follow, in a line of a terminal."""
        roads = "roads" if self.data.has_roads else f"no roads: straight lines times {DETOUR}"
        return f"{len(self):,} place{'' if len(self) == 1 else 's'}, {roads} ({self.name})"

    @property
    def categories(self) -> list[str]:
        """The categories of all places, in alphabetical order."""
        return list(self.data.notes["place_categories"])

    @property
    def aoi_ids(self) -> list[PlaceId]:
        """The ids of all areas; not to be changed."""
        return self._ids.values()

    @property
    def poi_ids(self) -> list[PlaceId]:
        """The ids of all POIs; not to be changed."""
        return self._poi_ids.values()

    @property
    def poi_count(self) -> int:
        return len(self._poi_ids)

    def place(self, place: PlaceId) -> Place:
        """The place with this id; ``KeyError`` if there is none."""
        return self._place(self._row(place))

    def position(self, where: Where) -> Position:
        """The (x, y) of a place's or POI's id, of one of them, or of a position itself."""
        if isinstance(where, (int, str)):
            return self._spot(where)[0]
        if isinstance(where, Mapping):
            return float(where["x"]), float(where["y"])
        x, y = where
        return float(x), float(y)

    def distance(self, a: Where, b: Where) -> float:
        """Metres between two places or positions."""
        (ax, ay), (bx, by) = self.position(a), self.position(b)
        return float(np.hypot(ax - bx, ay - by))

    def nearby(
        self,
        where: Where,
        radius: float | None = None,
        category: str | None = None,
        limit: int | None = None,
    ) -> list[Place]:
        """Places within ``radius`` metres, nearest first; of one category, if it is given."""
        points = self._points if category is None else self._of_category(category)
        rows, _ = points.near(*self.position(where), radius, limit)
        return [self._place(row) for row in rows.tolist()]

    def by_category(self, category: str, limit: int | None = None) -> list[Place]:
        """Places of a category, in the order of the data."""
        return [self._place(row) for row in self._category_rows(category)[:limit].tolist()]

    def aoi(self, aoi: PlaceId) -> dict[str, Any]:
        """An area: its polygon, its land use and its POIs; ``KeyError`` if there is none."""
        return self._aois(np.array([self._row(aoi)]))[0]

    def poi(self, poi: PlaceId) -> dict[str, Any]:
        """A point of interest; ``KeyError`` if there is none."""
        row = self._poi_ids.row(poi)
        if row is None:
            raise KeyError(f"no POI {poi!r} in the city")
        return self._pois(np.array([row]))[0]

    def aois(self, first: int = 0, count: int | None = None) -> list[dict[str, Any]]:
        """Areas in the order of the data, from ``first`` on."""
        return self._aois(_some(len(self), first, count))

    def pois(self, first: int = 0, count: int | None = None) -> list[dict[str, Any]]:
        """POIs in the order of the data, from ``first`` on."""
        return self._pois(_some(self.poi_count, first, count))

    def pois_near(
        self,
        x: float,
        y: float,
        radius: float | None = None,
        limit: int | None = None,
        categories: Iterable[str] | None = None,
        prefix: str | None = None,
    ) -> Pairs:
        """POIs and their distances, nearest first."""
        rows, apart = self._of_kinds(self._chosen(categories, prefix)).near(x, y, radius, limit)
        return list(zip(self._pois(rows), apart.tolist(), strict=True))

    def aois_near(
        self,
        x: float,
        y: float,
        radius: float,
        land_uses: Iterable[str] | None = None,
        limit: int | None = None,
    ) -> Pairs:
        """Areas and their distances, nearest first; the distance to the polygon, 0 inside."""
        wanted = None
        if land_uses is not None:
            uses = {land_uses} if isinstance(land_uses, str) else set(land_uses)
            fits = np.array([use in uses for use in self._land_uses], bool)
            wanted = fits[self.data.arrays["aoi_land_use"]]
        rows, apart = self._shapes.near(x, y, radius, wanted, limit)
        return list(zip(self._aois(rows), apart.tolist(), strict=True))

    def kinds(self, x: float | None, y: float | None, radius: float | None) -> list[str]:
        """The last parts of the categories of all POIs, or of those around a position, sorted."""
        if x is None or y is None or radius is None:
            return sorted(set(self._kinds) - {""})
        rows, _ = self._of_kinds(None).near(x, y, radius)
        codes = np.unique(self.data.arrays["poi_category"][rows]).tolist()
        return sorted({self._kinds[code] for code in codes} - {""})

    def route(self, a: Where, b: Where, mode: str) -> Route:
        """The way between two places, POIs or positions: by road, or straight where none leads there.

        A road that leads there by far too long a way does not count.
        """
        (start, from_row), (end, to_row) = self._spot(a), self._spot(b)
        by_road = self.roads and self.roads.route(start, end, mode, from_row, to_row)
        if not by_road or is_roundabout(by_road, start, end):
            return straight_route(start, end, mode)
        return by_road

    def lnglat(self, x: float, y: float) -> tuple[float, float]:
        """Longitude and latitude, of an arbitrary origin where the map has no projection."""
        return self._projection.lnglat(x, y)

    def digest(self) -> str:
        """The digest of all the map; scores are compared only where it is equal."""
        return self.data.digest()

    def _row(self, place: Any) -> int:
        row = self._ids.row(place)
        if row is None:
            raise KeyError(f"no place {place!r} in the city")
        return row

    def _spot(self, where: Where) -> tuple[Position, int | None]:
        """A position, and the row of the area whose gates lead to the roads."""
        if not isinstance(where, (int, str)):
            return self.position(where), None
        row = self._ids.row(where)
        if row is None and (poi := self._poi_ids.row(where)) is not None:
            x, y = self._poi_xy[poi].tolist()
            inside = int(self.data.arrays["poi_aoi"][poi])
            return (x, y), inside if inside >= 0 else None
        x, y = self._xy[self._row(where)].tolist()
        return (x, y), row

    def _place(self, row: int) -> Place:
        x, y = self._xy[row].tolist()
        return Place(self._ids.at(row), x, y, self._category.at(row))

    def _aois(self, rows: Any) -> list[dict[str, Any]]:
        """The areas in these rows; all at once, since a single one takes nearly as long."""
        arrays = self.data.arrays
        corners, poi_ids = self._groups("corner", rows), self._groups("inside", rows)
        points = arrays["corners"][corners[0]].tolist()
        inside = self._poi_ids.some(arrays["inside"][poi_ids[0]])
        areas = arrays["aoi_area"][rows].tolist()
        return [
            {
                "id": aoi,
                "positions": points[begin:end],
                "area": None if area != area else area,
                "land_use": self._land_uses[use],
                "poi_ids": inside[first:last],
                "x": x,
                "y": y,
            }
            for aoi, (x, y), area, use, begin, end, first, last in zip(
                self._ids.some(rows), self._xy[rows].tolist(), areas,
                arrays["aoi_land_use"][rows].tolist(), *corners[1:], *poi_ids[1:], strict=True,
            )
        ]  # fmt: skip

    def _groups(self, name: str, rows: Any) -> tuple[Any, list[int], list[int]]:
        """What belongs to each row, one after the other, and where that of each begins and ends."""
        starts = self.data.arrays[f"{name}_starts"]
        begins, ends = starts[rows], starts[rows + 1]
        last = np.cumsum(ends - begins)
        return ranges(begins, ends), (last - (ends - begins)).tolist(), last.tolist()

    def _pois(self, rows: Any) -> list[dict[str, Any]]:
        arrays = self.data.arrays
        inside = arrays["poi_aoi"][rows]
        aois: list[Any] = self._ids.some(np.maximum(inside, 0)) if len(self) else []
        return [
            {
                "id": poi,
                "name": name,
                "category": self._poi_categories[category],
                "x": x,
                "y": y,
                "aoi_id": aoi if row >= 0 else None,
            }
            for poi, name, category, (x, y), row, aoi in zip(
                self._poi_ids.some(rows), self._poi_name.some(rows),
                arrays["poi_category"][rows].tolist(), self._poi_xy[rows].tolist(),
                inside.tolist(), aois, strict=True,
            )
        ]  # fmt: skip

    @cached_property
    def _shapes(self) -> Shapes:
        arrays = self.data.arrays
        return Shapes(self._points, self._xy, arrays["corners"], arrays["corner_starts"])

    @cached_property
    def _category_numbers(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.data.notes["place_categories"])}

    def _category_rows(self, category: str) -> Any:
        number = self._category_numbers.get(category)
        starts = self.data.arrays["place_category_starts"]
        begin, end = (0, 0) if number is None else starts[number : number + 2].tolist()
        return self.data.arrays["place_category"][begin:end]

    def _category_points(self, category: str) -> Points:
        return Points(self._xy, self._category_rows(category))

    def _chosen(
        self, categories: Iterable[str] | None, prefix: str | None
    ) -> tuple[int, ...] | None:
        """The numbers of the categories that fit; None: all."""
        if categories is None and not prefix:
            return None
        named = [categories] if isinstance(categories, str) else categories
        wanted = set(self._kinds if named is None else named)
        return tuple(
            number
            for number, (kind, category) in enumerate(
                zip(self._kinds, self._poi_categories, strict=True)
            )
            if kind in wanted and category.startswith(prefix or "")
        )

    def _kind_points(self, numbers: tuple[int, ...] | None) -> Points:
        if numbers is None:
            return Points(self._poi_xy)
        fits = np.zeros(len(self._kinds), bool)
        fits[list(numbers)] = True
        return Points(self._poi_xy, np.flatnonzero(fits[self.data.arrays["poi_category"]]))


def kind_of(category: str) -> str:
    """The part of a category after the last ``|``.

    >>> kind_of("amenity|restaurant"), kind_of("park")
    ('restaurant', 'park')
    """
    return category.rpartition(SEPARATOR)[2].strip()


def _data(places: Iterable[Place], pois: Iterable[Poi]) -> MapData:
    areas, points = Areas(), Pois()
    for place in places:
        areas.add(place.id, place.x, place.y, place.category)
    for poi in pois:
        points.add(poi.id, poi.x, poi.y, poi.category, poi.name, poi.aoi_id)
    return made(areas, points)


def _some(length: int, first: int, count: int | None) -> Any:
    return np.arange(length)[first:] if count is None else np.arange(length)[first : first + count]
