"""``environment.map`` of an asbench agent: areas and POIs as the dicts that such agents read.

All areas together are large, and agents ask for them at every tick. They are fetched once for a city in
each process, and every person's map has the same dicts, as in asbench.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from pytest_agentbench.agents.asbench.absent import not_here
from pytest_agentbench.agents.asbench.flat_shapes import XY, position_of, shape_of
from pytest_agentbench.agents.asbench.poi_groups import POI_GROUPS

_PAGE = 20_000  # areas or POIs fetched at once: some MB, where they come by message
_MOST_CITIES = 4  # kept in a process
_SHAPES = ("shapely_xy", "shapely_lnglat")


class _WithShapes(dict[str, Any]):
    """A dict whose shapes are made when they are asked for: there are many, and few are looked at."""

    _corners: list[XY]
    _is_area: bool
    _lnglat: Callable[[float, float], Any]

    def __missing__(self, key: str) -> Any:
        if key not in _SHAPES:
            raise KeyError(key)
        corners = self._corners
        if key == "shapely_lnglat":
            corners = [tuple(self._lnglat(x, y)) for x, y in corners]
        self[key] = shape_of(corners, self._is_area)
        return self[key]

    def get(self, key: str, default: Any = None) -> Any:
        return self[key] if key in self else default  # noqa: SIM401 -- this is get

    def __contains__(self, key: object) -> bool:
        return key in _SHAPES or super().__contains__(key)

    def __reduce__(self) -> Any:  # a copy is a plain dict, with its shapes
        return dict, ({**self, **{key: self[key] for key in _SHAPES}},)


class _Known:
    """What a process knows of one city. ``view`` is that of the person who came last.

    In a process of the agent's own, a view serves for one call only.
    """

    def __init__(self) -> None:
        self.view: Any = None
        self.lock = threading.RLock()
        self.aois: dict[Any, dict[str, Any]] = {}
        self.pois: dict[Any, dict[str, Any]] = {}
        self.lists: dict[str, list[dict[str, Any]]] = {}
        self.ids: list[Any] | None = None

    def aoi(self, plain: dict[str, Any]) -> dict[str, Any]:
        found = self.aois.get(plain["id"])
        return self.aois.setdefault(plain["id"], self._area(plain)) if found is None else found

    def poi(self, plain: dict[str, Any]) -> dict[str, Any]:
        found = self.pois.get(plain["id"])
        return self.pois.setdefault(plain["id"], self._point(plain)) if found is None else found

    def all(self, what: str) -> list[dict[str, Any]]:
        """All ``aois`` or ``pois``, in the order of the map."""
        with self.lock:
            if what not in self.lists:
                fetch, made = getattr(self.view, what), self.aoi if what == "aois" else self.poi
                whole: list[dict[str, Any]] = []
                while page := fetch(len(whole), _PAGE):
                    whole += map(made, page)
                self.lists[what] = whole
                # The dict by id in the same order.
                setattr(self, what, {one["id"]: one for one in whole})
            return self.lists[what]

    def aoi_ids(self) -> list[Any]:
        with self.lock:
            if self.ids is None:
                self.ids = self.view.aoi_ids()
            return list(self.ids)

    def _lnglat(self, x: float, y: float) -> Any:
        return self.view.lnglat(x, y)

    def _area(self, plain: dict[str, Any]) -> dict[str, Any]:
        corners = [(x, y) for x, y in plain["positions"]] or [(plain["x"], plain["y"])]
        is_area = plain["area"] is not None
        area = _WithShapes(
            id=plain["id"],
            positions=[{"x": x, "y": y} for x, y in corners],
            urban_land_use=plain["land_use"] or "",
            poi_ids=plain["poi_ids"],
            **({"area": plain["area"]} if is_area else {}),
        )
        area._corners, area._is_area, area._lnglat = corners, is_area, self._lnglat
        return area

    def _point(self, plain: dict[str, Any]) -> dict[str, Any]:
        x, y = plain["x"], plain["y"]
        names = ("id", "name", "category", "aoi_id")
        poi = _WithShapes({name: plain[name] for name in names}, position={"x": x, "y": y})
        poi._corners, poi._is_area, poi._lnglat = [(x, y)], False, self._lnglat
        return poi


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
    """The map as asbench's agents ask it. Positions are metres on a flat map."""

    def __init__(self, view: Any) -> None:
        self._view = view
        self._known = _of(view)

    poi_cate = POI_GROUPS

    def get_poi_cate(self) -> dict[str, list[str]]:
        return POI_GROUPS

    @property
    def aois(self) -> dict[Any, dict[str, Any]]:
        self._known.all("aois")
        return self._known.aois

    @property
    def pois(self) -> dict[Any, dict[str, Any]]:
        self._known.all("pois")
        return self._known.pois

    def get_all_aois(self) -> list[dict[str, Any]]:
        # A new list: an agent that shuffles its own must not shuffle those of other people.
        return list(self._known.all("aois"))

    def get_all_pois(self) -> list[dict[str, Any]]:
        return list(self._known.all("pois"))

    def aoi_ids(self) -> list[Any]:
        return self._known.aoi_ids()

    def get_aoi(self, aoi_id: Any) -> dict[str, Any]:
        """An area; ``KeyError`` if there is none."""
        found = self._known.aois.get(aoi_id)
        return self._known.aoi(self._view.aoi(aoi_id)) if found is None else found

    def get_poi(self, poi_id: Any) -> dict[str, Any]:
        """A POI; ``KeyError`` if there is none."""
        found = self._known.pois.get(poi_id)
        return self._known.poi(self._view.poi(poi_id)) if found is None else found

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
        made = self._known.poi
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
        return [(self._known.aoi(aoi), metres) for aoi, metres in found]

    @property
    def header(self) -> dict[str, Any]:
        """The name of the map, and its edges in metres."""
        corners = [corner for aoi in self.get_all_aois() for corner in aoi["positions"]]
        xs, ys = [corner["x"] for corner in corners], [corner["y"] for corner in corners]
        edges = {"west": min(xs), "south": min(ys), "east": max(xs), "north": max(ys)}
        return {"name": self._view["map"]["source"], **edges}

    def get_map_header(self) -> dict[str, Any]:
        return self.header

    def get_projector(self) -> str:
        not_here(
            "map.get_projector",
            "environment.projector(x, y, inverse=True) gives longitude and latitude",
        )
