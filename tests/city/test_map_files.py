"""Where the city comes from: the published map, or a plain table of places."""

from __future__ import annotations

import importlib.util
import json

import polars as pl
import pytest

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.city import map_files, published_map
from pytest_agentbench.city.map_files import load_city

ROWS = [
    {"id": 7, "x": 0.0, "y": 10.0, "category": "residential"},
    {"id": 8, "x": 300.0, "y": 410.0, "category": "shop|restaurant"},
]
WITHOUT_PACKAGE = importlib.util.find_spec("pycityproto") is None


def write(path, rows):
    frame = pl.DataFrame(rows)
    if path.suffix == ".csv":
        frame.write_csv(path)
    elif path.suffix == ".parquet":
        frame.write_parquet(path)
    else:
        path.write_text(json.dumps(rows))
    return path


@pytest.mark.parametrize("name", map_files.PLACE_FILES)
def test_a_table_of_places_in_every_format(tmp_path, name):
    city, source = load_city(write(tmp_path / name, ROWS).parent)
    assert source == name
    assert [city.place(row["id"]).plain() for row in ROWS] == ROWS
    assert city.categories == ["residential", "restaurant", "shop"]


def test_without_a_city_the_reason_says_what_to_put_where(tmp_path):
    assert load_city(tmp_path) == (
        None,
        f"there is no map (*.pb) and none of places.parquet, places.csv, places.json in {tmp_path}",
    )


def test_a_map_without_its_package_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setattr(published_map, "MAP_MODULE", "pycityproto_is_not_here.map_pb2")
    (tmp_path / "beijing.pb").write_bytes(b"")
    assert load_city(tmp_path) == (
        None,
        "beijing.pb needs the package pycityproto (pip install pycityproto), or put "
        "places.parquet, places.csv or places.json beside it",
    )
    write(tmp_path / "places.csv", ROWS)
    city, source = load_city(tmp_path)
    assert (len(city), source) == (2, "places.csv")


def test_two_maps_are_one_too_many(tmp_path):
    (tmp_path / "a.pb").touch()
    (tmp_path / "b.pb").touch()
    with pytest.raises(BenchmarkError, match=r"expected one map \(\*\.pb\), got a\.pb, b\.pb"):
        load_city(tmp_path)


@pytest.mark.skipif(WITHOUT_PACKAGE, reason="needs pycityproto, which defines the map's format")
def test_the_published_map_is_read(tmp_path):
    from pycityproto.city.geo.v2.geo_pb2 import XYPosition
    from pycityproto.city.map.v2 import map_pb2

    def area(number, x, y, **fields):
        corners = [
            XYPosition(x=x + dx, y=y + dy) for dx, dy in ((0, 0), (10, 0), (10, 10), (0, 10))
        ]
        return map_pb2.Aoi(id=number, positions=corners, **fields)

    city_map = map_pb2.Map(
        aois=[
            area(500000001, 0, 0, land_use=map_pb2.LAND_USE_TYPE_RESIDENTIAL),
            area(500000002, 100, 0, urban_land_use="B1", poi_ids=[700000001, 700000002, 700000003]),
            area(500000003, 0, 200),
        ],
        pois=[
            map_pb2.Poi(id=700000001, category="food|restaurant", aoi_id=500000002),
            map_pb2.Poi(id=700000002, category="shop", aoi_id=500000002),
            map_pb2.Poi(id=700000003, category="shop", aoi_id=500000002),
        ],
    )
    (tmp_path / "beijing.pb").write_bytes(city_map.SerializeToString())
    write(tmp_path / "places.csv", ROWS)  # the map goes first
    city, source = load_city(tmp_path)
    assert source == "beijing.pb"
    assert [place.plain() for place in city.nearby((0, 0))] == [
        {"id": 500000001, "category": "residential", "x": 5.0, "y": 5.0},
        {"id": 500000002, "category": "B1|shop|restaurant", "x": 105.0, "y": 5.0},
        {"id": 500000003, "category": "", "x": 5.0, "y": 205.0},
    ]
    (tmp_path / "beijing.pb").write_bytes(b"\xff\xff not a map")
    with pytest.raises(
        BenchmarkError, match=r"beijing\.pb: expected a city map in pycityproto's format"
    ):
        load_city(tmp_path)


def test_large_tables_are_kept_in_the_cache_and_small_ones_are_not(tmp_path, monkeypatch):
    monkeypatch.setenv("AGENTBENCH_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "data"
    folder.mkdir()
    write(folder / "places.csv", ROWS)
    small, _ = load_city(folder)
    assert not (tmp_path / "cache" / "maps").exists()
    monkeypatch.setattr(map_files, "LARGE", 1)
    for _ in range(2):
        large, source = load_city(folder)
        assert source == "places.csv"
        assert large.aois() == small.aois()
        assert large.digest() == small.digest()
    assert len(list((tmp_path / "cache" / "maps").glob("*/map.json"))) == 1
    write(folder / "pois.csv", [{"id": 1, "x": 5.0, "y": 9.0, "category": "shop|kiosk"}])
    assert load_city(folder)[0].poi_count == 1
