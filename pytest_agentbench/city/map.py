"""The city: places with a position and a category, and the questions an agent may ask about them."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

NEAR_PLACES = 25  # around home and around work, in the context of every person
SEPARATOR = "|"  # between the categories of one place

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


class City:
    """All places of a city. Distances are straight lines in metres."""

    def __init__(self, places: Iterable[Place], name: str = "") -> None:
        self.name = name
        self._places = list(places)
        self._rows = {place.id: row for row, place in enumerate(self._places)}
        if len(self._rows) < len(self._places):
            twice, _ = Counter(place.id for place in self._places).most_common(1)[0]
            raise ValueError(f"expected every place once, got {twice!r} twice")
        self._xy: Floats = np.array([(p.x, p.y) for p in self._places], np.float64).reshape(-1, 2)
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

    def digest(self) -> str:
        """The digest of all places; scores are compared only where it is equal."""
        lines = (f"{p.id!r},{p.x!r},{p.y!r},{p.category}\n" for p in self._places)
        return hashlib.sha256("".join(lines).encode("utf-8", "backslashreplace")).hexdigest()


class CityView(dict[str, Any]):
    """What one person's agent is told of the city.

    A plain dict (home, work, the places around them, the categories there are), which is all that an
    agent behind a socket gets; one in this process or in a child of ours may also ask about the rest.
    """

    agentbench_methods: ClassVar[tuple[str, ...]] = ("place", "distance", "nearby", "by_category")

    def __init__(self, city: City, home: PlaceId | None, work: PlaceId | None) -> None:
        anchors = [place for place in (home, work) if place in city]
        near: dict[PlaceId, dict[str, Any]] = {}
        for anchor in anchors:
            for place in city.nearby(anchor, limit=NEAR_PLACES):
                near.setdefault(place.id, place.plain())
        super().__init__(
            home=_plain(city, home),
            work=_plain(city, work),
            places=list(near.values()),
            categories=city.categories,
        )
        self._city = city

    def place(self, place: PlaceId) -> dict[str, Any]:
        """The place with this id; ``KeyError`` if there is none."""
        return self._city.place(place).plain()

    def distance(self, a: Where, b: Where) -> float:
        """Metres between two places or positions (x, y)."""
        return self._city.distance(a, b)

    def nearby(
        self,
        where: Where,
        radius: float | None = None,
        category: str | None = None,
        limit: int | None = 25,
    ) -> list[dict[str, Any]]:
        """Places around a place or position (x, y), nearest first."""
        return _plain_all(self._city.nearby(where, radius, category, limit))

    def by_category(self, category: str, limit: int | None = None) -> list[dict[str, Any]]:
        """Places of a category, in the order of the data."""
        return _plain_all(self._city.by_category(category, limit))


def _plain(city: City, place: PlaceId | None) -> dict[str, Any] | None:
    return city.place(place).plain() if place is not None and place in city else None


def _plain_all(places: Sequence[Place]) -> list[dict[str, Any]]:
    return [place.plain() for place in places]
