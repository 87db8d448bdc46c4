"""Finds the city of a data folder: the published protobuf map, or plain tables."""

from __future__ import annotations

from pathlib import Path

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.city import map_cache, published_map, table_files
from pytest_agentbench.city.map import City
from pytest_agentbench.city.table_files import PLACE_FILES

LARGE = 100_000  # bytes of tables: smaller ones are read about as fast as the cache


def load_city(folder: Path) -> tuple[City | None, str]:
    """The city of a data folder and its source, or None and why there is none.

    The map is read where the package that defines its format is installed, else a table of places with
    what is beside it: POIs, roads, notes. What took long to read is kept in the cache.
    """
    maps = sorted(folder.glob("*.pb"))
    tables = table_files.table_files(folder)
    package = published_map.MAP_PACKAGE
    if len(maps) > 1:
        names = ", ".join(path.name for path in maps)
        raise BenchmarkError(f"{folder}: expected one map (*.pb), got {names}")
    if maps and (messages := published_map.map_messages()) is not None:
        data = map_cache.cached(maps, lambda: published_map.read_map(maps[0], messages))
        return City(data, maps[0].name), maps[0].name
    if tables:
        return read_tables(tables), tables[0].name
    if maps:
        return None, (
            f"{maps[0].name} needs the package {package} (pip install {package}), or put "
            f"{', '.join(PLACE_FILES[:-1])} or {PLACE_FILES[-1]} beside it"
        )
    return None, f"there is no map (*.pb) and none of {', '.join(PLACE_FILES)} in {folder}"


def read_tables(files: list[Path]) -> City:
    """The city of a table of places and of what is beside it."""
    if sum(path.stat().st_size for path in files) < LARGE:
        return City(table_files.read_tables(files), files[0].name)
    data = map_cache.cached(files, lambda: table_files.read_tables(files))
    return City(data, files[0].name)


def read_places(path: Path) -> City:
    """The city of a table of places alone."""
    return read_tables([path])
