"""A city from plain tables: places, POIs, roads and notes, in every format, with every mistake named."""

from __future__ import annotations

import json

import polars as pl
import pytest
from city.city_parts import PLACES, ROADS, write_tables

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.city import table_files
from pytest_agentbench.city.map_files import load_city, read_places

ROWS = [
    {"id": 7, "x": 0.0, "y": 10.0, "category": "residential"},
    {"id": 8, "x": 300.0, "y": 410.0, "category": "shop|restaurant"},
]
SQUARE = "POLYGON ((0 0, 10 0, 10 20, 0 20, 0 0))"


def write(path, rows):
    path.write_text(json.dumps(rows))
    return path


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
        read_places(tmp_path / "places.csv")


POIS = [
    {"id": 70, "name": "Bean", "category": "amenity|cafe", "x": 1.0, "y": -99.0, "aoi_id": 1},
    {"id": 71, "name": None, "category": None, "x": 990.0, "y": 1100.0, "aoi_id": None},
    {"id": 72, "x": 5000.0, "y": 5000.0},
]


@pytest.mark.parametrize("suffix", table_files.FORMATS)
def test_pois_and_roads_beside_the_places_in_every_format(tmp_path, suffix):
    for name, rows in (("places", PLACES[:3]), ("pois", POIS[:2]), ("roads", ROADS)):
        frame, path = pl.DataFrame(rows), tmp_path / f"{name}{suffix}"
        if suffix == ".parquet":
            frame.write_parquet(path)
        elif suffix == ".csv":
            frame.write_csv(path)
        else:
            write(path, rows)
    city, source = load_city(tmp_path)
    assert source == f"places{suffix}"
    assert city.pois() == [
        {**POIS[0]},
        {"id": 71, "name": "", "category": "", "x": 990.0, "y": 1100.0, "aoi_id": 2},
    ]
    assert [lane for lane, _ in city.route(1, 2, "driving")["lanes"]] == [11, 12]
    back = city.route([1000, 1000], [0, 1000], "driving")
    assert [lane for lane, _ in back["lanes"]] == [12, 11, 13]


def test_a_poi_without_an_area_belongs_to_the_nearest_unless_that_is_far(tmp_path):
    city, _ = load_city(write_tables(tmp_path, pois=POIS))
    assert [poi["aoi_id"] for poi in city.pois()] == [1, 2, None]
    squares = [
        {"id": 1, "polygon": SQUARE},
        {"id": 2, "polygon": "POLYGON ((10 0, 500 0, 500 20, 10 20))"},
    ]
    pois = [{"id": 70, "x": 9.0, "y": 5.0}, {"id": 71, "x": 12.0, "y": 5.0}]  # nearer to 1's centre
    city, _ = load_city(write_tables(tmp_path, places=squares, pois=pois))
    assert [poi["aoi_id"] for poi in city.pois()] == [1, 2]


def test_polygons_and_land_use(tmp_path):
    rows = [
        {"id": 1, "polygon": SQUARE, "category": "park", "land_use": "G1"},
        {"id": 2, "x": 3.0, "y": 4.0, "polygon": SQUARE.lower(), "category": "a|b"},
        {"id": 3, "x": 3.0, "y": 4.0, "polygon": None},
    ]
    city, _ = load_city(write_tables(tmp_path, places=rows))
    corners = [[0, 0], [10, 0], [10, 20], [0, 20]]
    assert city.aoi(1) == {
        "id": 1, "positions": corners, "area": 200.0, "land_use": "G1", "poi_ids": [],
        "x": 5.0, "y": 10.0,
    }  # fmt: skip
    second = city.aoi(2)
    assert (second["positions"], second["land_use"]) == (corners, "a")
    assert (second["x"], second["y"]) == (3.0, 4.0)  # as the table says
    assert (city.aoi(3)["positions"], city.aoi(3)["area"]) == ([[3.0, 4.0]], None)
    near = [(aoi["id"], metres) for aoi, metres in city.aois_near(12, 10, 20)]
    assert near == [(1, 2.0), (2, 2.0), (3, pytest.approx(117**0.5))]


def test_a_road_without_a_limit_has_the_usual_one(tmp_path):
    roads = [{key: value for key, value in ROADS[0].items() if key != "max_speed"}]
    city, _ = load_city(write_tables(tmp_path, roads=roads))
    route = city.route([0, 0], [1000, 0], "driving")
    assert route["seconds"] == pytest.approx(1000 / (0.8 * 13.9))


def test_notes_name_the_projection_and_say_what_is_made_up(tmp_path):
    folder = write_tables(tmp_path, map={"projection": "+proj=utm +zone=50", "synthetic": True})
    city, _ = load_city(folder)
    assert city.synthetic
    assert city.lnglat(500_000, 0) == pytest.approx((117.0, 0.0))
    (folder / "map.json").unlink()
    plain, _ = load_city(folder)
    assert not plain.synthetic
    assert plain.lnglat(0, 0) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ({"pois": []}, "pois.json: expected POIs, got none"),
        (
            {"pois": [{"id": 1}]},
            "POI 0: expected id, name, category, x, y, aoi_id; no x in {'id': 1}",
        ),
        ({"pois": [{**POIS[0], "aoi_id": [3]}]}, "POI 0: expected the id of an area (or nothing)"),
        (
            {"pois": [POIS[0], {**POIS[1], "aoi_id": 999}]},
            "pois.json: POI 1: expected the id of a place in the table of places (or nothing) as aoi_id, "
            "got 999",
        ),
        ({"pois": [{**POIS[0], "aoi_id": "1"}]}, "as aoi_id, got '1'"),  # the place is 1
        ({"pois": [POIS[0], POIS[0]]}, "pois.json: expected every POI once, got 70 twice"),
        ({"roads": {}}, "roads.json: expected a list of roads, got a dict"),
        (
            {"roads": [{**ROADS[0], "x2": None}]},
            "road 0: expected id, x1, y1, x2, y2, max_speed, oneway; no x2",
        ),
        (
            {"roads": [{**ROADS[0], "y2": "n"}]},
            "road 0: expected x2 and y2 in metres, got x2=1000, y2='n'",
        ),
        (
            {"roads": [{**ROADS[0], "max_speed": 0}]},
            "road 0: expected metres a second above 0 as max_speed",
        ),
        (
            {"roads": [{**ROADS[0], "x2": 1e308}]},
            "road 0: expected positions of at most 1e+12 metres",
        ),
        ({"roads": [{**ROADS[0], "max_speed": "fast"}]}, "above 0 as max_speed, got 'fast'"),
        (
            {"roads": [{**ROADS[0], "oneway": "maybe"}]},
            "road 0: expected true or false as oneway, got 'maybe'",
        ),
        ({"roads": [{**ROADS[0], "oneway": [1]}]}, "road 0: expected true or false as oneway"),
        ({"map": [1]}, "map.json: expected an object with projection and synthetic, got [1]"),
        ({"map": {"projection": 5}}, "map.json: expected a PROJ text as projection, got 5"),
        ({"map": {"synthetic": "yes"}}, "map.json: expected true or false as synthetic, got 'yes'"),
        (
            {"places": [{"id": 1, "polygon": "POINT (1 2)"}]},
            'place 0: expected a polygon as "POLYGON ((',
        ),
        (
            {"places": [{"id": 1, "polygon": "POLYGON ((1 2, 3))"}]},
            "place 0: expected a polygon as",
        ),
        (
            {"places": [{"id": 1, "polygon": "POLYGON ((1 2, 3 x, 4 4))"}]},
            "place 0: expected a polygon",
        ),
        (
            {"places": [{"id": 1, "polygon": "POLYGON ((1 2, 3 nan, 4 4))"}]},
            "place 0: expected a polygon",
        ),
        ({"places": [{"id": 1, "polygon": 7}]}, "place 0: expected a polygon as"),
    ],
)
def test_a_mistake_in_a_table_is_named_with_its_place(tmp_path, tables, message):
    with pytest.raises(BenchmarkError) as error:
        load_city(write_tables(tmp_path, **tables))
    assert message in str(error.value)
    assert str(error.value).startswith(str(tmp_path / f"{next(iter(tables))}.json"))
