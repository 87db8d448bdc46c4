"""A city as arrays: what is read from files, kept in the cache and mapped by every worker."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pytest_agentbench.city.map_columns import Ids, Texts, coded, starts_of

SEPARATOR = "|"  # between the categories of one place

PlaceId = int | str


@dataclass
class MapData:
    """Arrays by name, and what is no array: names, the projection, ids that are texts."""

    arrays: dict[str, Any]
    notes: dict[str, Any]

    def ids(self, name: str, what: str) -> Ids:
        values = self.arrays.get(name)
        return Ids(self.notes[name] if values is None else values, what)

    def texts(self, name: str) -> Texts:
        return Texts(self.arrays[name], self.arrays[f"{name}_starts"])

    @property
    def has_roads(self) -> bool:
        return "road_begin" in self.arrays

    def digest(self) -> str:
        """Of all places; with POIs and roads, of those as well. Polygons belong to the places."""
        if "digest" not in self.notes:
            self.notes["digest"] = self._digest()
        return str(self.notes["digest"])

    def _digest(self) -> str:
        ids, xy = self.ids("aoi_id", "place").values(), self.arrays["aoi_xy"].tolist()
        lines = (
            f"{place!r},{x!r},{y!r},{category}\n"
            for place, (x, y), category in zip(
                ids, xy, self.texts("aoi_category").values(), strict=True
            )
        )
        text = "".join(lines).encode("utf-8", "backslashreplace")
        places = hashlib.sha256(text).hexdigest()
        # Whoever has a table of places alone has had this digest in baselines for long.
        further = sorted(
            name for name in self.arrays if name.startswith(("poi_", "road_", "gate_"))
        )
        if not self.has_roads and not len(self.arrays["poi_xy"]):
            return places
        digest = hashlib.sha256(places.encode())
        for name in further:
            digest.update(name.encode())
            digest.update(np.ascontiguousarray(self.arrays[name]).tobytes())
        for name in ("poi_id", "poi_categories", "road_lane"):
            digest.update(repr(self.notes.get(name)).encode("utf-8", "backslashreplace"))
        return digest.hexdigest()


@dataclass
class Areas:
    """The columns of the areas, while they are read."""

    ids: list[Any] = field(default_factory=list)
    xs: list[float] = field(default_factory=list)
    ys: list[float] = field(default_factory=list)
    categories: list[str] = field(default_factory=list)
    land_uses: list[str] = field(default_factory=list)
    areas: list[float] = field(default_factory=list)  # NaN: a point
    corners: list[tuple[float, float]] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)  # corners of each

    def add(
        self,
        place: PlaceId,
        x: float,
        y: float,
        category: str,
        land_use: str | None = None,
        area: float | None = None,
        corners: Sequence[tuple[float, float]] = (),
    ) -> None:
        self.ids.append(place)
        self.xs.append(x)
        self.ys.append(y)
        self.categories.append(category)
        self.land_uses.append(category.partition(SEPARATOR)[0] if land_use is None else land_use)
        self.areas.append(float("nan") if area is None else area)
        self.corners.extend(corners or ((x, y),))
        self.counts.append(len(corners) or 1)


@dataclass
class Pois:
    """The columns of the points of interest, while they are read."""

    ids: list[Any] = field(default_factory=list)
    xs: list[float] = field(default_factory=list)
    ys: list[float] = field(default_factory=list)
    categories: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    aois: list[Any] = field(default_factory=list)  # ids of areas; None: in none

    def add(
        self, poi: PlaceId, x: float, y: float, category: str, name: str, aoi: PlaceId | None
    ) -> None:
        self.ids.append(poi)
        self.xs.append(x)
        self.ys.append(y)
        self.categories.append(category)
        self.names.append(name)
        self.aois.append(aoi)


def made(
    areas: Areas,
    pois: Pois,
    roads: dict[str, Any] | None = None,
    notes: dict[str, Any] | None = None,
) -> MapData:
    """The city of these columns; ``ValueError`` where an id comes twice."""
    data = MapData({}, dict(notes or {}))
    aoi_ids, poi_ids = Ids(areas.ids), Ids(pois.ids, "POI")
    _keep_ids(data, "aoi_id", aoi_ids)
    _keep_ids(data, "poi_id", poi_ids)
    _keep_texts(data, "aoi_category", areas.categories)
    _keep_texts(data, "poi_name", pois.names)
    data.notes["land_uses"], land_use = coded(areas.land_uses)
    data.notes["poi_categories"], category = coded(pois.categories)
    belongs = _rows_of(aoi_ids, pois.aois)
    inside = np.argsort(belongs, kind="stable")
    count = np.bincount(belongs[belongs >= 0], minlength=len(aoi_ids))
    names, starts, rows = _by_category(areas.categories)
    data.notes["place_categories"] = names
    data.arrays |= {
        "aoi_xy": _xy(areas.xs, areas.ys),
        "aoi_area": np.array(areas.areas, np.float64),
        "aoi_land_use": land_use,
        "corners": np.array(areas.corners, np.float64).reshape(-1, 2),
        "corner_starts": starts_of(areas.counts),
        "poi_xy": _xy(pois.xs, pois.ys),
        "poi_category": category,
        "poi_aoi": belongs,
        "inside": inside[len(inside) - int(count.sum()) :],  # without those in no area
        "inside_starts": starts_of(count),
        "place_category": rows,
        "place_category_starts": starts,
        **(roads or {}),
    }
    return data


def _rows_of(ids: Ids, wanted: list[Any]) -> Any:
    rows: dict[Any, int | None] = {value: ids.row(value) for value in dict.fromkeys(wanted)}
    found = [rows[value] for value in wanted]
    return np.array([-1 if row is None else row for row in found], np.int32)


def _keep_ids(data: MapData, name: str, ids: Ids) -> None:
    if ids.array is None:
        data.notes[name] = ids.values()
    else:
        data.arrays[name] = ids.array


def _keep_texts(data: MapData, name: str, texts: Iterable[str]) -> None:
    kept = Texts.of(texts)
    data.arrays[name], data.arrays[f"{name}_starts"] = kept.data, kept.starts


def _xy(xs: list[float], ys: list[float]) -> Any:
    return np.array([xs, ys], np.float64).T.copy()


def _by_category(categories: Sequence[str]) -> tuple[list[str], Any, Any]:
    """The categories in alphabetical order, and the rows of each."""
    found: dict[str, list[int]] = {}
    for row, texts in enumerate(categories):
        for name in dict.fromkeys(texts.split(SEPARATOR)):
            if name:
                found.setdefault(name, []).append(row)
    names = sorted(found)
    rows = [row for name in names for row in found[name]]
    return names, starts_of([len(found[name]) for name in names]), np.array(rows, np.int64)
