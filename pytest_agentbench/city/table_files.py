"""Reads a city from plain tables: places, and beside them POIs and roads."""

from __future__ import annotations

import contextlib
import csv
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_agentbench.base.compressed import check_parquet
from pytest_agentbench.base.errors import BenchmarkError, expect, shown
from pytest_agentbench.base.files import parsed_json, read_json
from pytest_agentbench.base.plain import LARGEST, is_id
from pytest_agentbench.city.map_data import Areas, MapData, Pois, made
from pytest_agentbench.city.polygons import shape_of
from pytest_agentbench.city.road_data import RoadBuilder
from pytest_agentbench.city.spatial import Points, Shapes

FORMATS = (".parquet", ".csv", ".json")
PLACE_FILES = tuple(f"places{suffix}" for suffix in FORMATS)
POI_FILES = tuple(f"pois{suffix}" for suffix in FORMATS)
ROAD_FILES = tuple(f"roads{suffix}" for suffix in FORMATS)
NOTES_FILE = "map.json"  # {"projection": "+proj=tmerc ...", "synthetic": true}
PLACE_COLUMNS = ("id", "x", "y", "category")
POI_COLUMNS = ("id", "name", "category", "x", "y", "aoi_id")
ROAD_COLUMNS = ("id", "x1", "y1", "x2", "y2", "max_speed", "oneway")
BESIDE = (
    200.0  # metres: a POI without an aoi_id belongs to the nearest area, but not to one far off
)
_NUMBER = r"[-+0-9.eE]+"
_POLYGON = re.compile(r"\s*POLYGON\s*(?:Z\s*)?\(\s*\(([^()]+)\)", re.IGNORECASE)
_YES, _NO = (True, 1, "1", "true", "yes"), (False, 0, None, "0", "false", "no", "")


def table_in(folder: Path, names: Sequence[str]) -> Path | None:
    """The first of these files that is there."""
    return next((folder / name for name in names if (folder / name).is_file()), None)


def table_files(folder: Path) -> list[Path]:
    """The files that make up the city of a folder, places first; none where there are no places."""
    places = table_in(folder, PLACE_FILES)
    if places is None:
        return []
    others = (table_in(folder, names) for names in (POI_FILES, ROAD_FILES, (NOTES_FILE,)))
    return [places, *(path for path in others if path is not None)]


def read_tables(files: Sequence[Path]) -> MapData:
    """The city of the tables that :func:`table_files` found."""
    by_name = {path.stem: path for path in files}
    areas = read_areas(by_name["places"])
    pois = _read_pois(by_name["pois"], areas) if "pois" in by_name else Pois()
    roads, notes = _read_roads(by_name["roads"]) if "roads" in by_name else (None, {})
    if "map" in by_name:
        notes |= _read_notes(by_name["map"])
    try:
        return made(areas, pois, roads, notes)
    except ValueError as error:
        where = by_name["pois"] if "every POI" in str(error) else by_name["places"]
        raise BenchmarkError(f"{where}: {error}") from None


def read_areas(path: Path) -> Areas:
    """A table of places: id, x and y in metres, category (may be empty, several joined by ``|``).

    A column ``polygon`` has their outlines as WKT; then x and y may be missing, and are the centroid's.
    A column ``land_use`` has their land use; without it the first category is that.
    """
    areas = Areas()
    for number, row in enumerate(_table(path, "places")):
        where = f"{path}: place {number}"
        corners = _corners(where, row) if isinstance(row, Mapping) else []
        x, y, size = shape_of(corners) if corners else (None, None, 0.0)
        given = {"x": x, "y": y, **_given(row)} if corners else row
        place, (px, py) = _placed(where, given, PLACE_COLUMNS, ("id", "x", "y"))
        use = given.get("land_use")
        category = str(given.get("category") or "")
        areas.add(place, px, py, category, None if use is None else str(use), size or None, corners)
    return areas


def _read_pois(path: Path, areas: Areas) -> Pois:
    """A table of POIs: id, name, category, x, y, and the id of the area that each is in."""
    pois = Pois()
    known = set(areas.ids)
    lacking = []
    for number, row in enumerate(_table(path, "POIs")):
        where = f"{path}: POI {number}"
        poi, (x, y) = _placed(where, row, POI_COLUMNS, ("id", "x", "y"))
        aoi = row.get("aoi_id")
        expect(aoi is None or is_id(aoi), where, "the id of an area (or nothing) as aoi_id", aoi)
        if aoi is None:
            lacking.append(number)
        elif aoi not in known:
            raise BenchmarkError(
                f"{where}: expected the id of a place in the table of places (or nothing) as aoi_id, got "
                f"{shown(aoi)}"
            )
        category, name = str(row.get("category") or ""), row.get("name")
        pois.add(poi, x, y, category, "" if name is None else str(name), aoi)
    if lacking:
        _find_areas(pois, lacking, areas)
    return pois


def _find_areas(pois: Pois, lacking: Sequence[int], areas: Areas) -> None:
    arrays = made(areas, Pois()).arrays
    xy = arrays["aoi_xy"]
    shapes = Shapes(Points(xy), xy, arrays["corners"], arrays["corner_starts"])
    for number in lacking:
        rows, _ = shapes.near(pois.xs[number], pois.ys[number], BESIDE, limit=1)
        pois.aois[number] = areas.ids[rows[0]] if len(rows) else None


def _read_roads(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """A table of roads: straight pieces from (x1, y1) to (x2, y2), which meet where both are equal.

    ``max_speed`` is in metres a second. A road with ``oneway`` is driven from its first point to its
    second; on foot it is used both ways.
    """
    builder = RoadBuilder()
    for number, row in enumerate(_table(path, "roads")):
        where = f"{path}: road {number}"
        road, a = _placed(where, row, ROAD_COLUMNS, ("id", "x1", "y1"))
        _, b = _placed(where, row, ROAD_COLUMNS, ("id", "x2", "y2"))
        far = max(map(abs, (*a, *b)))
        expect(far <= LARGEST, where, f"positions of at most {LARGEST:g} metres", far)
        speed = _speed(where, row.get("max_speed"))
        oneway = row.get("oneway")
        oneway = oneway.strip().lower() if isinstance(oneway, str) else oneway
        expect(oneway in (*_YES, *_NO), where, "true or false as oneway", oneway)
        begin, end = (builder.node((round(x, 1), round(y, 1)), (x, y)) for x, y in (a, b))
        builder.add(road, begin, end, [a, b], speed=speed, driving=True, walking=True)
        both = oneway in _NO
        builder.add(road, end, begin, [b, a], speed=speed, driving=both, walking=True)
    return builder.arrays()


def _speed(where: str, value: Any) -> float:
    if value is None:
        return 0.0
    try:
        speed = float(value)
    except (TypeError, ValueError, OverflowError):
        speed = math.nan
    expect(0 < speed < math.inf, where, "metres a second above 0 as max_speed", value)
    return speed


def _read_notes(path: Path) -> dict[str, Any]:
    notes = read_json(path, "a projection of the map")
    expect(isinstance(notes, dict), path, "an object with projection and synthetic", notes)
    projection, synthetic = notes.get("projection", ""), notes.get("synthetic", False)
    expect(isinstance(projection, str), path, "a PROJ text as projection", projection)
    expect(isinstance(synthetic, bool), path, "true or false as synthetic", synthetic)
    return {"projection": projection, "synthetic": synthetic}


def _corners(where: str, row: Mapping[str, Any]) -> list[tuple[float, float]]:
    """The outline of a place, without the last corner, which is the first again."""
    text = row.get("polygon")
    if text is None or text == "":
        return []
    found = _POLYGON.match(text) if isinstance(text, str) else None
    try:
        points = [point.split() for point in found[1].split(",")] if found else []
        corners = [(float(point[0]), float(point[1])) for point in points]
    except (ValueError, IndexError):
        corners = []
    finite = all(math.isfinite(value) for corner in corners for value in corner)
    expect(len(corners) > 2 and finite, where, 'a polygon as "POLYGON ((x y, x y, x y, …))"', text)
    return corners[:-1] if corners[0] == corners[-1] else corners


def _given(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if value is not None}


def _placed(
    where: str, row: Any, columns: Sequence[str], needed: tuple[str, str, str]
) -> tuple[Any, tuple[float, float]]:
    """The id and the position in a row."""
    given = row if isinstance(row, Mapping) else {}
    missing = [name for name in needed if given.get(name) is None]
    if missing:
        raise BenchmarkError(
            f"{where}: expected {', '.join(columns)}; no {missing[0]} in {shown(row)}"
        )
    place = row["id"]
    named = isinstance(place, (int, str)) and not isinstance(place, bool)
    expect(named, where, "a whole number or a name as id", place)
    _, *keys = needed
    try:
        x, y = (float(row[key]) for key in keys)
    except (TypeError, ValueError, OverflowError):
        x = y = math.nan
    if not (math.isfinite(x) and math.isfinite(y)):
        got = ", ".join(f"{key}={shown(row[key])}" for key in keys)
        raise BenchmarkError(f"{where}: expected {' and '.join(keys)} in metres, got {got}")
    return place, (x, y)


def _table(path: Path, what: str) -> list[Any]:
    """The rows of a table, at least one."""
    try:
        rows = list(_rows(path, what))
    except BenchmarkError:
        raise
    except Exception as error:  # whatever the reader of the format says
        raise BenchmarkError(
            f"{path}: cannot be read as a table of {what}: {error!s:.500}"
        ) from None
    if not rows:
        raise BenchmarkError(f"{path}: expected {what}, got none")
    return rows


def _rows(path: Path, what: str) -> Iterable[Any]:
    if path.suffix == ".json":
        rows = parsed_json(path.read_text(encoding="utf-8"))
        if not isinstance(rows, list):
            raise BenchmarkError(f"{path}: expected a list of {what}, got a {type(rows).__name__}")
        return rows
    if path.suffix != ".parquet":
        return _csv_rows(path)
    import polars as pl

    check_parquet(path)
    try:
        table = pl.read_parquet(path)
    except pl.exceptions.PanicException as error:  # not an Exception; the file is broken
        raise ValueError(f"{error!s:.200}") from None
    return table.iter_rows(named=True)


def _csv_rows(path: Path) -> list[dict[str, Any]]:
    """Without Polars, whose import (0.2 s) is most of a short run. A column is of one type."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, strict=True)
        head = next(reader, [])
        rows = [row for row in reader if row]
    for number, row in enumerate(rows):
        if len(row) != len(head):
            raise ValueError(f"row {number} has {len(row)} fields, and the head has {len(head)}")
    columns = [_typed([row[at] for row in rows]) for at in range(len(head))]
    return [dict(zip(head, row, strict=True)) for row in zip(*columns, strict=True)]


def _typed(texts: Sequence[str]) -> list[Any]:
    """Whole numbers if all are, else numbers, else texts; an empty text is none."""
    kinds: tuple[Callable[[str], Any], ...] = (int, float)
    if any("_" in text for text in texts):  # Python reads 1_000
        kinds = ()
    for kind in kinds:
        with contextlib.suppress(ValueError):
            return [kind(text) if text else None for text in texts]
    return [text or None for text in texts]
