"""Reads a city from a data folder: the published protobuf map, or a plain table of places."""

from __future__ import annotations

import contextlib
import csv
import importlib
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_agentbench.base.compressed import check_parquet
from pytest_agentbench.base.errors import BenchmarkError, expect, shown
from pytest_agentbench.base.files import parsed_json
from pytest_agentbench.city.map import SEPARATOR, City, Place

PLACE_FILES = ("places.parquet", "places.csv", "places.json")
PLACE_COLUMNS = ("id", "x", "y", "category")
MAP_MODULE = "pycityproto.city.map.v2.map_pb2"
MAP_PACKAGE = "pycityproto"


def load_city(folder: Path) -> tuple[City | None, str]:
    """The city of a data folder and its source, or None and why there is none.

    The map is read where the package that defines its format is installed, else a table of places.
    """
    maps = sorted(folder.glob("*.pb"))
    tables = [folder / name for name in PLACE_FILES if (folder / name).is_file()]
    if len(maps) > 1:
        names = ", ".join(path.name for path in maps)
        raise BenchmarkError(f"{folder}: expected one map (*.pb), got {names}")
    if maps and (messages := _map_messages()) is not None:
        return City(_map_places(maps[0], messages), maps[0].name), maps[0].name
    if tables:
        return read_places(tables[0]), tables[0].name
    if maps:
        return None, (
            f"{maps[0].name} needs the package {MAP_PACKAGE} (pip install {MAP_PACKAGE}), or put "
            f"{', '.join(PLACE_FILES[:-1])} or {PLACE_FILES[-1]} beside it"
        )
    return None, f"there is no map (*.pb) and none of {', '.join(PLACE_FILES)} in {folder}"


def _map_messages() -> Any | None:
    try:
        return importlib.import_module(MAP_MODULE)
    except ImportError:
        return None


def _map_places(path: Path, messages: Any) -> Iterator[Place]:
    """The areas of the map. Points of interest in an area add categories to it."""
    try:
        city_map = messages.Map.FromString(path.read_bytes())
    except Exception as error:  # protobuf's own exceptions differ from version to version
        raise BenchmarkError(
            f"{path}: expected a city map in {MAP_PACKAGE}'s format ({error})"
        ) from None
    inside: dict[int, Counter[str]] = {}
    for poi in city_map.pois:
        category = poi.category.split(SEPARATOR)[-1].strip()
        if category:
            inside.setdefault(poi.aoi_id, Counter())[category] += 1
    for area in city_map.aois:
        corners = [(corner.x, corner.y) for corner in area.positions]
        if not corners:
            raise BenchmarkError(f"{path}: area {area.id} has no positions")
        x, y = centroid(corners)
        own = area.urban_land_use or _land_use(messages, area.land_use)
        categories = [own, *(name for name, _ in inside.get(area.id, Counter()).most_common())]
        yield Place(area.id, x, y, SEPARATOR.join(dict.fromkeys(filter(None, categories))))


def _land_use(messages: Any, number: int) -> str:
    name: str = messages.LandUseType.Name(number).removeprefix("LAND_USE_TYPE_").lower()
    return "" if name == "unspecified" else name


def centroid(corners: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The centroid of a polygon; without an area, the mean of its corners.

    >>> centroid([(0, 0), (4, 0), (4, 2), (0, 2)])
    (2.0, 1.0)
    >>> centroid([(1, 1), (3, 1)])
    (2.0, 1.0)
    """
    # Relative to the first corner: map coordinates are large, buildings are small.
    x0, y0 = corners[0]
    points = [(x - x0, y - y0) for x, y in corners]
    area = sum_x = sum_y = 0.0
    for (ax, ay), (bx, by) in zip(points, [*points[1:], points[0]], strict=True):
        cross = ax * by - bx * ay
        area += cross
        sum_x += (ax + bx) * cross
        sum_y += (ay + by) * cross
    if abs(area) < 1e-9:
        return sum(x for x, _ in corners) / len(corners), sum(y for _, y in corners) / len(corners)
    return x0 + sum_x / (3 * area), y0 + sum_y / (3 * area)


def read_places(path: Path) -> City:
    """A table of places: id, x and y in metres, category (may be empty, several joined by ``|``)."""
    try:
        rows = list(_rows(path))
    except BenchmarkError:
        raise
    except Exception as error:  # whatever the reader of the format says
        raise BenchmarkError(
            f"{path}: cannot be read as a table of places: {error!s:.500}"
        ) from None
    if not rows:
        raise BenchmarkError(f"{path}: expected places, got none")
    places = [_place(path, number, row) for number, row in enumerate(rows)]
    try:
        return City(places, path.name)
    except ValueError as error:
        raise BenchmarkError(f"{path}: {error}") from None


def _rows(path: Path) -> Iterable[Any]:
    if path.suffix == ".json":
        rows = parsed_json(path.read_text(encoding="utf-8"))
        if not isinstance(rows, list):
            raise BenchmarkError(f"{path}: expected a list of places, got a {type(rows).__name__}")
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
            raise ValueError(f"place {number} has {len(row)} fields, and the head has {len(head)}")
    columns = [_typed([row[at] for row in rows]) for at in range(len(head))]
    return [dict(zip(head, row, strict=True)) for row in zip(*columns, strict=True)]


def _typed(texts: Sequence[str]) -> list[Any]:
    """Whole numbers if all are, else numbers, else texts; an empty text is none."""
    kinds = (int, float) if not any("_" in text for text in texts) else ()  # Python reads 1_000
    for kind in kinds:
        with contextlib.suppress(ValueError):
            return [kind(text) if text else None for text in texts]
    return [text or None for text in texts]


def _place(path: Path, number: int, row: Any) -> Place:
    where = f"{path}: place {number}"
    given = row if isinstance(row, Mapping) else {}
    missing = [name for name in PLACE_COLUMNS[:3] if given.get(name) is None]
    if missing:
        raise BenchmarkError(
            f"{where}: expected {', '.join(PLACE_COLUMNS)}; no {missing[0]} in {shown(row)}"
        )
    place = row["id"]
    named = isinstance(place, (int, str)) and not isinstance(place, bool)
    expect(named, where, "a whole number or a name as id", place)
    try:
        x, y = float(row["x"]), float(row["y"])
    except (TypeError, ValueError, OverflowError):
        x = y = math.nan
    if not (math.isfinite(x) and math.isfinite(y)):
        raise BenchmarkError(
            f"{where}: expected x and y in metres, got x={shown(row['x'])}, y={shown(row['y'])}"
        )
    return Place(place, x, y, str(row.get("category") or ""))
