"""``environment.map`` of an asbench agent: areas and POIs as the dicts that such agents read.

All areas together are large, and agents ask for them at every tick. What is known of a city is fetched
once in each process, and nobody can change it. The dicts are each person's own: an agent that writes into
them changes nobody else's day. They have little in them until somebody looks.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from pytest_agentbench.agents.asbench.absent import not_here
from pytest_agentbench.agents.asbench.flat_shapes import XY, position_of, shape_of
from pytest_agentbench.agents.asbench.lazy_dict import LazyDict
from pytest_agentbench.agents.asbench.poi_groups import copied_groups

_PAGE = 20_000  # areas or POIs fetched at once: some MB, where they come by message
_MOST_CITIES = 4  # kept in a process
_Projection = Callable[[float, float], Any]


class _Aoi(NamedTuple):
    """What is known of an area; its corners are one position where it has no polygon."""

    id: Any
    corners: tuple[XY, ...]
    land_use: str
    poi_ids: tuple[Any, ...]
    area: float | None

    @classmethod
    def of(cls, plain: dict[str, Any]) -> _Aoi:
        corners = tuple((x, y) for x, y in plain["positions"]) or ((plain["x"], plain["y"]),)
        return cls(
            plain["id"], corners, plain["land_use"] or "", tuple(plain["poi_ids"]), plain["area"]
        )


class _Poi(NamedTuple):
    """What is known of a POI."""

    id: Any
    name: Any
    category: Any
    aoi_id: Any
    corners: tuple[XY]

    @classmethod
    def of(cls, plain: dict[str, Any]) -> _Poi:
        place = ((plain["x"], plain["y"]),)
        return cls(plain["id"], plain["name"], plain["category"], plain["aoi_id"], place)


class _WithShapes(LazyDict):
    """A dict that has shapes as well, which are seen by whoever asks for them alone."""

    __slots__ = ("_known", "_lnglat")
    HIDDEN = ("shapely_xy", "shapely_lnglat")
    is_area = False

    def __init__(self, known: Any, lnglat: _Projection) -> None:
        super().__init__("id", known.id)
        self._known = known
        self._lnglat = lnglat

    def make(self, key: str) -> Any:
        if key not in self.HIDDEN:
            return getattr(self._known, key)
        corners = self._known.corners
        if key == "shapely_lnglat":
            corners = [tuple(self._lnglat(x, y)) for x, y in corners]
        return shape_of(corners, self.is_area)


class _AoiDict(_WithShapes):
    __slots__ = ()
    SHOWN = ("id", "positions", "urban_land_use", "poi_ids", "area")

    @property
    def is_area(self) -> bool:  # type: ignore[override]
        return self._known.area is not None

    def make(self, key: str) -> Any:
        if key == "positions":
            return [{"x": x, "y": y} for x, y in self._known.corners]
        if key == "urban_land_use":
            return self._known.land_use
        if key == "poi_ids":
            return list(self._known.poi_ids)
        if key == "area" and not self.is_area:
            raise KeyError(key)
        return super().make(key)


class _PoiDict(_WithShapes):
    __slots__ = ()
    SHOWN = ("id", "name", "category", "aoi_id", "position")

    def make(self, key: str) -> Any:
        if key == "position":
            ((x, y),) = self._known.corners
            return {"x": x, "y": y}
        return super().make(key)


class _Known:
    """What a process knows of one city. ``view`` is that of the person who came last.

    In a process of the agent's own, a view serves for one call only.
    """

    def __init__(self) -> None:
        self.view: Any = None
        self.lock = threading.RLock()
        self._aois: tuple[_Aoi, ...] | None = None
        self._pois: tuple[_Poi, ...] | None = None
        self._ids: tuple[Any, ...] | None = None

    @property
    def aois(self) -> tuple[_Aoi, ...]:
        """All areas, in the order of the map."""
        with self.lock:
            if self._aois is None:
                self._aois = tuple(map(_Aoi.of, _paged(self.view.aois)))
            return self._aois

    @property
    def pois(self) -> tuple[_Poi, ...]:
        with self.lock:
            if self._pois is None:
                self._pois = tuple(map(_Poi.of, _paged(self.view.pois)))
            return self._pois

    @property
    def aoi_ids(self) -> tuple[Any, ...]:
        with self.lock:
            if self._ids is None:
                self._ids = tuple(self.view.aoi_ids())
            return self._ids

    def lnglat(self, x: float, y: float) -> Any:
        return self.view.lnglat(x, y)


def _paged(fetch: Callable[[int, int], list[dict[str, Any]]]) -> list[dict[str, Any]]:
    whole: list[dict[str, Any]] = []
    while page := fetch(len(whole), _PAGE):
        whole += page
    return whole


_lock = threading.Lock()
_known: dict[str, _Known] = {}


def _of(view: Any) -> _Known:
    with _lock:
        digest = view["digest"]
        known = _known.pop(digest, None) or _Known()
        _known[digest] = known  # the last one used stays longest
        while len(_known) > _MOST_CITIES:
            del _known[next(iter(_known))]
        known.view = view
        return known


class MapData:
    """The map as asbench's agents ask it, one for each person. Positions are metres on a flat map."""

    def __init__(self, view: Any) -> None:
        self._view = view
        self._known = _of(view)
        self._aois: dict[Any, dict[str, Any]] = {}
        self._pois: dict[Any, dict[str, Any]] = {}
        self._all_aois: list[dict[str, Any]] | None = None
        self._all_pois: list[dict[str, Any]] | None = None
        self._groups: dict[str, list[str]] | None = None

    @property
    def poi_cate(self) -> dict[str, list[str]]:
        if self._groups is None:
            self._groups = copied_groups()
        return self._groups

    def get_poi_cate(self) -> dict[str, list[str]]:
        return self.poi_cate

    @property
    def aois(self) -> dict[Any, dict[str, Any]]:
        if self._all_aois is None:
            self._aois = self._every(self._known.aois, self._aois, _AoiDict)
            self._all_aois = list(self._aois.values())
        return self._aois

    @property
    def pois(self) -> dict[Any, dict[str, Any]]:
        if self._all_pois is None:
            self._pois = self._every(self._known.pois, self._pois, _PoiDict)
            self._all_pois = list(self._pois.values())
        return self._pois

    def _every(
        self, known: Iterable[Any], had: dict[Any, dict[str, Any]], kind: type[_WithShapes]
    ) -> dict[Any, dict[str, Any]]:
        """By id in the order of the map, with those that the person has already."""
        project = self._known.lnglat
        return {one.id: had[one.id] if one.id in had else kind(one, project) for one in known}

    def get_all_aois(self) -> list[dict[str, Any]]:
        _ = self.aois
        return list(self._all_aois or ())

    def get_all_pois(self) -> list[dict[str, Any]]:
        _ = self.pois
        return list(self._all_pois or ())

    def aoi_ids(self) -> list[Any]:
        return list(self._known.aoi_ids)

    def aoi_ids_of_pois(self) -> dict[Any, Any]:
        """The area of each POI."""
        return {poi.id: poi.aoi_id for poi in self._known.pois}

    def get_aoi(self, aoi_id: Any) -> dict[str, Any]:
        """An area; ``KeyError`` if there is none."""
        found = self._aois.get(aoi_id)
        return self._aoi(self._view.aoi(aoi_id)) if found is None else found

    def get_poi(self, poi_id: Any) -> dict[str, Any]:
        """A POI; ``KeyError`` if there is none."""
        found = self._pois.get(poi_id)
        return self._poi(self._view.poi(poi_id)) if found is None else found

    def _aoi(self, plain: dict[str, Any]) -> dict[str, Any]:
        found = self._aois.get(plain["id"])
        if found is None:
            found = self._aois[plain["id"]] = _AoiDict(_Aoi.of(plain), self._known.lnglat)
        return found

    def _poi(self, plain: dict[str, Any]) -> dict[str, Any]:
        found = self._pois.get(plain["id"])
        if found is None:
            found = self._pois[plain["id"]] = _PoiDict(_Poi.of(plain), self._known.lnglat)
        return found

    def query_pois(
        self,
        center: Any,
        radius: float | None = None,
        category_prefix: str | None = None,
        limit: int | None = None,
        return_distance: bool = True,
        categories: list[str] | None = None,
    ) -> list[Any]:
        """POIs around a position, nearest first, with their distances unless they are not wanted."""
        x, y = position_of(center)
        found = self._view.pois_near(x, y, radius, limit, categories, category_prefix)
        made = self._poi
        if return_distance:
            return [(made(poi), metres) for poi, metres in found]
        return [made(poi) for poi, _ in found]

    def query_aois(
        self,
        center: Any,
        radius: float,
        urban_land_uses: list[str] | None = None,
        limit: int | None = None,
    ) -> list[tuple[dict[str, Any], float]]:
        """Areas around a position and their distances, nearest first."""
        x, y = position_of(center)
        found = self._view.aois_near(x, y, radius, urban_land_uses, limit)
        return [(self._aoi(aoi), metres) for aoi, metres in found]

    @property
    def header(self) -> dict[str, Any]:
        """The name of the map, and its edges in metres."""
        xs, ys = zip(*(corner for aoi in self._known.aois for corner in aoi.corners), strict=True)
        edges = {"west": min(xs), "south": min(ys), "east": max(xs), "north": max(ys)}
        return {"name": self._view["map"]["source"], **edges}

    def get_map_header(self) -> dict[str, Any]:
        return self.header

    def get_projector(self) -> str:
        not_here(
            "map.get_projector",
            "environment.projector(x, y, inverse=True) gives longitude and latitude",
        )
