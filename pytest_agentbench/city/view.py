"""What one person's agent is told of the city, and the questions that it may ask."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, ClassVar

from pytest_agentbench.city.map import City, Place, Where
from pytest_agentbench.city.map_data import PlaceId
from pytest_agentbench.city.travel import Route, checked_mode

NEAR_PLACES = 25  # around home and around work, in the context of every person
SHORT_DIGEST = 12  # characters


class CityView(dict[str, Any]):
    """What one person's agent is told of the city.

    A plain dict (home, work, the places around them, the categories there are, what map it is), which is
    all that an agent behind a socket gets; one in this process or in a child of ours may also ask about
    the rest. Whatever the methods take and return is JSON.
    """

    agentbench_methods: ClassVar[tuple[str, ...]] = (
        "place", "distance", "nearby", "by_category", "aoi", "poi", "aois", "pois", "aoi_ids", "poi_ids",
        "pois_near", "aois_near", "poi_categories", "route", "lnglat",
    )  # fmt: skip

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
            digest=city.digest()[:SHORT_DIGEST],
            map={
                "source": city.name,
                "aois": len(city),
                "pois": city.poi_count,
                "roads": city.data.has_roads,
                "synthetic": city.synthetic,
            },
        )
        self._city = city

    def __copy__(self) -> CityView:
        return self._with(dict(self))

    def __deepcopy__(self, memo: Any) -> CityView:
        """A copy of an agent's context shares the city, which nobody can change."""
        return self._with(copy.deepcopy(dict(self), memo))

    def _with(self, told: dict[str, Any]) -> CityView:
        view = CityView.__new__(CityView)
        view.update(told)
        view._city = self._city
        return view

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

    def aoi(self, aoi: PlaceId) -> dict[str, Any]:
        """An area: its polygon, its land use, the POIs in it; ``KeyError`` if there is none."""
        return self._city.aoi(aoi)

    def poi(self, poi: PlaceId) -> dict[str, Any]:
        """A point of interest; ``KeyError`` if there is none."""
        return self._city.poi(poi)

    def aois(self, first: int = 0, count: int | None = None) -> list[dict[str, Any]]:
        """Areas in the order of the data, from ``first`` on."""
        return self._city.aois(first, count)

    def pois(self, first: int = 0, count: int | None = None) -> list[dict[str, Any]]:
        """POIs in the order of the data, from ``first`` on."""
        return self._city.pois(first, count)

    def aoi_ids(self) -> list[PlaceId]:
        """The ids of all areas."""
        return list(self._city.aoi_ids)

    def poi_ids(self) -> list[PlaceId]:
        """The ids of all POIs."""
        return list(self._city.poi_ids)

    def pois_near(
        self,
        x: float,
        y: float,
        radius: float | None = None,
        limit: int | None = None,
        categories: Sequence[str] | None = None,
        prefix: str | None = None,
    ) -> list[list[Any]]:
        """POIs around a position and their distances in metres, nearest first.

        ``categories`` names last parts of categories ("restaurant"), ``prefix`` how the whole begins.
        """
        found = self._city.pois_near(x, y, radius, limit, categories, prefix)
        return [[poi, metres] for poi, metres in found]

    def aois_near(
        self,
        x: float,
        y: float,
        radius: float,
        land_uses: Sequence[str] | None = None,
        limit: int | None = None,
    ) -> list[list[Any]]:
        """Areas around a position and their distances in metres, nearest first; 0 inside of one."""
        return [[aoi, m] for aoi, m in self._city.aois_near(x, y, radius, land_uses, limit)]

    def poi_categories(
        self, x: float | None = None, y: float | None = None, radius: float | None = None
    ) -> list[str]:
        """The last parts of the categories of all POIs, or of those around a position, sorted."""
        return self._city.kinds(x, y, radius)

    def route(self, a: Where, b: Where, mode: str = "driving") -> Route:
        """The way between two places, POIs or positions (x, y): metres, seconds, points and lanes."""
        return self._city.route(a, b, checked_mode(mode))

    def lnglat(self, x: float, y: float) -> list[float]:
        """Longitude and latitude of a position; of an arbitrary origin where the map has none."""
        return list(self._city.lnglat(x, y))


def _plain(city: City, place: PlaceId | None) -> dict[str, Any] | None:
    return city.place(place).plain() if place is not None and place in city else None


def _plain_all(places: Sequence[Place]) -> list[dict[str, Any]]:
    return [place.plain() for place in places]
