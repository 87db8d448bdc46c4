"""The city: places with a position and a category, and the questions an agent may ask about them."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_agentbench.city.travel import Route, straight_route

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

SEPARATOR = "|"  # between the categories of one place

METRES_A_DEGREE = 111_320.0  # of latitude, and of longitude at the equator

PlaceId = int | str
Where = Any  # a place's id, a place as the queries return it, or a position (x, y)


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

    @property
    def kind(self) -> str:
        """The last part of the category."""
        return self.category.rpartition(SEPARATOR)[2].strip()

    def plain(self) -> dict[str, Any]:
        """A copy for the agent, as JSON."""
        return {
            "id": self.id,
            "name": self.name,
            "category": self.category,
            "x": self.x,
            "y": self.y,
            "aoi_id": self.aoi_id,
        }


class City:
    """All places of a city. Distances are straight lines in metres."""

    roads = None
    synthetic = False

    def __init__(self, places: Iterable[Place], name: str = "", pois: Iterable[Poi] = ()) -> None:
        self.name = name
        self._places = list(places)
        self._rows = {place.id: row for row, place in enumerate(self._places)}
        if len(self._rows) < len(self._places):
            twice, _ = Counter(place.id for place in self._places).most_common(1)[0]
            raise ValueError(f"expected every place once, got {twice!r} twice")
        self._xy: Floats = np.array([(p.x, p.y) for p in self._places], np.float64).reshape(-1, 2)
        self._pois = list(pois)
        self._poi_rows = {poi.id: row for row, poi in enumerate(self._pois)}
        self._inside: dict[PlaceId | None, list[PlaceId]] = {}
        for poi in self._pois:
            self._inside.setdefault(poi.aoi_id, []).append(poi.id)
        self._categories: dict[str, list[int]] = {}
        for row, place in enumerate(self._places):
            for category in dict.fromkeys(place.category.split(SEPARATOR)):
                if category:
                    self._categories.setdefault(category, []).append(row)

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, place: object) -> bool:
        return isinstance(place, (int, str)) and place in self._rows

    @property
    def categories(self) -> list[str]:
        """The categories of all places, in alphabetical order."""
        return sorted(self._categories)

    def place(self, place: PlaceId) -> Place:
        """The place with this id; ``KeyError`` if there is none."""
        try:
            return self._places[self._rows[place]]
        except (KeyError, TypeError):
            raise KeyError(f"no place {place!r} in the city") from None

    def position(self, where: Where) -> tuple[float, float]:
        """The (x, y) of a place's id, of a place or of a position itself."""
        if isinstance(where, (int, str)):
            if where in self._poi_rows and where not in self._rows:
                poi = self._pois[self._poi_rows[where]]
                return poi.x, poi.y
            place = self.place(where)
            return place.x, place.y
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
        rows: Any = slice(None) if category is None else self._categories.get(category, [])
        chosen = np.arange(len(self))[rows]
        apart = np.hypot(*(self._xy[chosen] - self.position(where)).T)
        if radius is not None:
            chosen, apart = chosen[apart <= radius], apart[apart <= radius]
        order = np.argsort(apart, kind="stable")[:limit]
        return [self._places[row] for row in chosen[order]]

    def by_category(self, category: str, limit: int | None = None) -> list[Place]:
        """Places of a category, in the order of the data."""
        return [self._places[row] for row in self._categories.get(category, [])[:limit]]

    @property
    def aoi_ids(self) -> list[PlaceId]:
        return list(self._rows)

    @property
    def poi_ids(self) -> list[PlaceId]:
        return list(self._poi_rows)

    def aoi(self, aoi: PlaceId) -> dict[str, Any]:
        """An area with its polygon, its land use and its POIs; ``KeyError`` if there is none."""
        place = self.place(aoi)
        return {
            "id": place.id,
            "positions": [[place.x, place.y]],
            "area": None,
            "land_use": place.category.partition(SEPARATOR)[0],
            "poi_ids": list(self._inside.get(place.id, ())),
            "x": place.x,
            "y": place.y,
        }

    def poi(self, poi: PlaceId) -> dict[str, Any]:
        """A point of interest; ``KeyError`` if there is none."""
        try:
            return self._pois[self._poi_rows[poi]].plain()
        except (KeyError, TypeError):
            raise KeyError(f"no POI {poi!r} in the city") from None

    def pois_near(
        self,
        x: float,
        y: float,
        radius: float | None = None,
        limit: int | None = None,
        categories: Iterable[str] | None = None,
        prefix: str | None = None,
    ) -> list[tuple[Poi, float]]:
        """POIs and their distances, nearest first."""
        wanted = None if categories is None else set(categories)
        found = [
            (poi, float(np.hypot(poi.x - x, poi.y - y)))
            for poi in self._pois
            if (wanted is None or poi.kind in wanted) and poi.category.startswith(prefix or "")
        ]
        found = [(poi, apart) for poi, apart in found if radius is None or apart <= radius]
        return sorted(found, key=lambda pair: pair[1])[:limit]

    def aois_near(
        self,
        x: float,
        y: float,
        radius: float,
        land_uses: Iterable[str] | None = None,
        limit: int | None = None,
    ) -> list[tuple[dict[str, Any], float]]:
        """Areas and their distances, nearest first."""
        wanted = None if land_uses is None else set(land_uses)
        found = [(self.aoi(p.id), self.distance((x, y), p.id)) for p in self.nearby((x, y), radius)]
        return [pair for pair in found if wanted is None or pair[0]["land_use"] in wanted][:limit]

    def route(self, a: Where, b: Where, mode: str) -> Route:
        """The way between two places, POIs or positions."""
        return straight_route(self.position(a), self.position(b), mode)

    def lnglat(self, x: float, y: float) -> tuple[float, float]:
        """Longitude and latitude; without a projection around an arbitrary origin, (0, 0)."""
        return x / METRES_A_DEGREE, y / METRES_A_DEGREE

    def digest(self) -> str:
        """The digest of all places; scores are compared only where it is equal."""
        lines = (f"{p.id!r},{p.x!r},{p.y!r},{p.category}\n" for p in self._places)
        return hashlib.sha256("".join(lines).encode("utf-8", "backslashreplace")).hexdigest()
