"""Where the city comes from: the published map, or a plain table of places."""

from __future__ import annotations

import importlib.util
import json

import polars as pl
import pytest

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.city import map_files, published_map, table_files
from pytest_agentbench.city.map_files import load_city, read_places
from pytest_agentbench.city.polygons import centroid

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


def test_a_place_may_do_without_a_category_and_have_a_name_for_an_id(tmp_path):
    city = read_places(write(tmp_path / "places.json", [{"id": "town hall", "x": 1, "y": 2}]))
    assert city.place("town hall").plain() == {
        "id": "town hall",
        "category": "",
        "x": 1.0,
        "y": 2.0,
    }


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "places.json: expected places, got none"),
        ({"id": 1}, "places.json: expected a list of places, got a dict"),
        ([7], "places.json: place 0: expected id, x, y, category; no id in 7"),
        (
            [*ROWS, {"id": 9, "x": 1}],
            "place 2: expected id, x, y, category; no y in {'id': 9, 'x': 1}",
        ),
        ([{**ROWS[0], "id": 1.5}], "place 0: expected a whole number or a name as id, got 1.5"),
        ([{**ROWS[0], "x": "east"}], "place 0: expected x and y in metres, got x='east', y=10.0"),
        ([{**ROWS[0], "y": float("nan")}], "place 0: expected x and y in metres, got x=0.0, y=nan"),
        ([*ROWS, ROWS[0]], "places.json: expected every place once, got 7 twice"),
    ],
)
def test_a_bad_table_is_named_with_its_place(tmp_path, rows, message):
    path = tmp_path / "places.json"
    path.write_text(json.dumps(rows))
    with pytest.raises(BenchmarkError) as error:
        read_places(path)
    assert message in str(error.value)
    assert str(error.value).startswith(str(path))


def test_an_unreadable_table_is_named(tmp_path):
    path = tmp_path / "places.parquet"
    path.write_bytes(b"not parquet")
    with pytest.raises(
        BenchmarkError, match=r"places\.parquet: cannot be read as a table of places: "
    ):
        read_places(path)


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


@pytest.mark.parametrize(
    ("corners", "expected"),
    [
        ([(0, 0), (6, 0), (0, 3)], (2.0, 1.0)),
        ([(0, 3), (6, 0), (0, 0)], (2.0, 1.0)),  # the other way round
        ([(0, 0), (4, 0), (4, 4), (2, 4), (2, 2), (0, 2), (0, 0)], (7 / 3, 5 / 3)),  # an L, closed
        ([(5e6 + x, 4e6 + y) for x, y in [(0, 0), (2, 0), (2, 2), (0, 2)]], (5e6 + 1, 4e6 + 1)),
        ([(3, 4)], (3.0, 4.0)),
    ],
)
def test_centroids(corners, expected):
    assert centroid(corners) == pytest.approx(expected, abs=1e-9)


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


def test_a_csv_table_is_read_as_polars_reads_it(tmp_path):
    import polars as pl

    text = 'id,x,y,category\n1,2.5,3,"a, ""b"""\n20,-1,0,\n'
    path = tmp_path / "places.csv"
    for content in (text, text.replace("\n", "\r\n"), "\ufeff" + text, text.replace("20", "p_20")):
        path.write_text(content, encoding="utf-8", newline="")
        rows = table_files._csv_rows(path)
        assert rows == list(pl.read_csv(path).iter_rows(named=True))
        assert [type(row["id"]) for row in rows] == ([str] * 2 if "p_" in content else [int] * 2)


def test_a_csv_line_with_other_fields_than_the_head_is_named(tmp_path):
    (tmp_path / "places.csv").write_text("id,x,y\n1,2,3\n2,3\n")
    with pytest.raises(BenchmarkError, match="row 1 has 2 fields, and the head has 3"):
        map_files.read_places(tmp_path / "places.csv")
