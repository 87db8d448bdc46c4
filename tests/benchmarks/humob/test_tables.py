"""Files of every kind give the same table; every mistake is named with its file and line."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks.humob import tables
from pytest_agentbench.benchmarks.humob.tables import read_table


@pytest.fixture
def rows(person):
    return [*person(7), *person(12, days=[3, 60]), *person(40, slots=range(48))]


def same(table, rows):
    assert table.uids.tolist() == sorted({row[0] for row in rows})
    for uid in table.uids.tolist():
        assert table.of(uid).tolist() == [list(row[1:]) for row in rows if row[0] == uid]
    return True


@pytest.mark.parametrize("header", ["uid,d,t,x,y", None])
@pytest.mark.parametrize("name", ["data.csv", "data.csv.gz"])
def test_csv_with_and_without_header_gzipped_or_not(csv, rows, name, header):
    assert same(read_table(csv(rows, name, header)), rows)


def test_parquet(tmp_path, rows):
    path = tmp_path / "data.parquet"
    pl.DataFrame(rows, schema=["uid", "d", "t", "x", "y"], orient="row").write_parquet(path)
    assert same(read_table(path), rows)


def test_columns_are_found_by_their_names(csv, rows):
    turned = [(y, "note", x, t, d, uid) for uid, d, t, x, y in rows]
    assert same(read_table(csv(turned, header="y,remark,x,t,d,uid")), rows)


def test_windows_line_ends_a_mark_at_the_start_and_an_empty_last_line(tmp_path, rows):
    text = "\ufeffuid,d,t,x,y\r\n" + "".join(f"{','.join(map(str, r))}\r\n" for r in rows) + "\r\n"
    path = tmp_path / "windows.csv"
    path.write_bytes(text.encode())
    assert same(read_table(path), rows)


def test_users_are_sorted_and_keep_their_own_order(csv, rows):
    turned = [row for uid in (40, 7, 12) for row in rows if row[0] == uid]
    assert same(read_table(csv(turned)), rows)
    mixed = sorted(rows, key=lambda row: row[1:3])  # by time, users in turn
    assert same(read_table(csv(mixed)), rows)


def test_days_are_counted_for_every_user(csv, rows, masked):
    table = read_table(csv(masked(rows)))
    for index, uid in enumerate(table.uids.tolist()):
        days = np.array([row[1] for row in rows if row[0] == uid])
        assert table.day_starts[index].tolist() == [int((days < d).sum()) for d in range(77)]
        assert table.masked[index].sum() == (days >= 60).sum()
        assert table.masked[index, :60].sum() == 0


def test_a_uid_that_is_not_there_has_no_rows(csv, rows):
    table = read_table(csv(rows))
    assert [len(table.of(uid)) for uid in (0, 8, 41)] == [0, 0, 0]


@pytest.fixture(params=[1, 40, 1000])
def small_pieces(request, monkeypatch):
    """Pieces of one line, of a few, of many."""
    monkeypatch.setattr(tables, "_BYTES", request.param)
    monkeypatch.setattr(tables, "_ROWS", request.param)


@pytest.mark.parametrize("end", ["", "\n", "\r\n\n\n", ",,,,\n"])
@pytest.mark.parametrize("header", ["uid,d,t,x,y", None])
@pytest.mark.parametrize("name", ["data.csv", "data.csv.gz"])
@pytest.mark.usefixtures("small_pieces")
def test_a_table_does_not_depend_on_the_pieces_it_is_read_in(csv, rows, name, header, end):
    path = csv(rows, name, header)
    text = gzip.decompress(path.read_bytes()) if name.endswith("gz") else path.read_bytes()
    text += end.encode()
    path.write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    assert same(read_table(path), rows)


@pytest.mark.usefixtures("small_pieces")
def test_parquet_in_pieces(tmp_path, rows):
    path = tmp_path / "data.parquet"
    pl.DataFrame(rows, schema=["uid", "d", "t", "x", "y"], orient="row").write_parquet(path)
    assert same(read_table(path), rows)


@pytest.mark.usefixtures("small_pieces")
def test_a_text_with_line_ends_is_not_cut(csv, rows):
    noted = [(*row, '"two\nlines,\n1,2,3,4,5"') for row in rows]
    assert same(read_table(csv(noted, header="uid,d,t,x,y,note")), rows)


@pytest.mark.parametrize("bad", ["", "\n", "80000,60,4,,20", "80000,60,4,0,20", "x,60,4,1,20"])
@pytest.mark.usefixtures("small_pieces")
def test_a_mistake_in_any_piece_is_named_with_its_line(tmp_path, bad):
    lines = [f"80000,{60 + n // 48},{n % 48},10,20" for n in range(96)]
    path = tmp_path / "bad.csv"
    path.write_text("\n".join(["uid,d,t,x,y", *lines[:70], bad, *lines[71:]]))
    with pytest.raises(BenchmarkError, match=r"bad\.csv, line 72: "):
        read_table(path)


@pytest.mark.usefixtures("small_pieces")
def test_half_a_gzip_file_is_refused(csv, rows):
    path = csv(rows, "half.csv.gz")
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(BenchmarkError, match=r"half\.csv\.gz: expected whole gzip data"):
        read_table(path)


GOOD = "80000,60,3,10,20"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("80000,60,4,10", "line 3: expected 5 columns (uid,d,t,x,y), got 4: '80000,60,4,10'"),
        ("80000,60,4,10,20,30", "line 3: expected 5 columns (uid,d,t,x,y), got 6"),
        ("", "line 3: expected 5 columns (uid,d,t,x,y), got 1: ''"),
        ("80000,60,4,10.0,20", "line 3: x must be a whole number, got '10.0'"),
        ("80000,60,4,,20", "line 3: x must be a whole number, got ''"),
        ("80000,60,4,10,nan", "line 3: y must be a whole number, got 'nan'"),
        ("somebody,60,4,10,20", "line 3: uid must be a whole number, got 'somebody'"),
        ("-1,60,4,10,20", "line 3: uid must be 0-2147483647, got -1"),
        ("99999999999,60,4,10,20", "line 3: uid must be 0-2147483647, got 99999999999"),
        ("80000,76,4,10,20", "line 3: d must be a day 0-75, got 76"),
        ("80000,-1,4,10,20", "line 3: d must be a day 0-75, got -1"),
        ("80000,60,48,10,20", "line 3: t must be a half hour 0-47, got 48"),
        ("80000,60,4,0,20", "line 3: x must be a cell 1-200, got 0"),
        ("80000,60,4,10,201", "line 3: y must be a cell 1-200, got 201"),
        ("80000,60,4,10,40000", "line 3: y must be a cell 1-200, got 40000"),
        ("80000,60,4,999,20", "line 3: x must be a cell 1-200, got 999 (x and y are 999 together"),
        ("80000,60,3,11,21", "line 3: uid 80000 has a second row for d=60, t=3"),
        ("80000,59,9,10,20", "line 3: uid 80000 goes back in time, to d=59, t=9 after d=60, t=3"),
    ],
)
@pytest.mark.parametrize("zipped", [False, True])
def test_mistakes_are_named_with_file_line_value_and_rule(tmp_path, line, message, zipped):
    text = f"uid,d,t,x,y\n{GOOD}\n{line}\n80000,61,5,10,20\n".encode()
    path = tmp_path / ("bad.csv.gz" if zipped else "bad.csv")
    path.write_bytes(gzip.compress(text) if zipped else text)
    with pytest.raises(BenchmarkError) as error:
        read_table(path)
    assert str(error.value).startswith(f"{path}, {message}")


def test_lines_are_counted_from_one_without_a_header_and_after_sorting(csv, person):
    rows = [*person(9), *person(3), (9, 58, 10, 5, 5)]
    with pytest.raises(BenchmarkError, match=r"data\.csv, line 31: uid 9 goes back in time"):
        read_table(csv(rows, header=None))


def test_masked_cells_are_refused_where_answers_are_expected(csv):
    path = csv([(1, 60, 3, 4, 5), (1, 60, 4, 999, 999)])
    assert read_table(path).rows[1].tolist() == [60, 4, 999, 999]
    with pytest.raises(BenchmarkError, match=r"line 3: x and y are 999, expected cells 1-200"):
        read_table(path, masked=False)


@pytest.mark.parametrize("text", ["", "uid,d,t,x,y\n", "\n"])
def test_an_empty_file_is_refused(tmp_path, text):
    path = tmp_path / "empty.csv"
    path.write_text(text)
    with pytest.raises(BenchmarkError, match=r"empty\.csv"):
        read_table(path)


def test_wrong_columns_are_listed(csv):
    with pytest.raises(BenchmarkError, match=r"header: expected .* uid,d,t,x,y, got user,day"):
        read_table(csv([(1, 2, 3, 4, 5)], header="user,day,t,x,y"))
    with pytest.raises(BenchmarkError, match=r"line 1: expected 5 columns .* got 4"):
        read_table(csv([(1, 2, 3, 4)], header=None))


def test_a_cut_off_gzip_file_is_refused(tmp_path, csv, rows):
    path = csv(rows * 1, "whole.csv.gz")
    cut = tmp_path / "cut.csv.gz"
    cut.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(BenchmarkError, match=r"cut\.csv\.gz"):
        read_table(cut)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"x": [1.0, 2.5]}, "column x is Float64, expected whole numbers"),
        ({"x": [1, None]}, "row 1: x is missing"),
        ({"x": [1, 70000]}, "row 1: x must be a cell 1-200, got 70000"),
        ({"z": [1, 2]}, "header: expected the columns uid,d,t,x,y, got uid,d,t,y,z"),
    ],
)
def test_parquet_mistakes(tmp_path, columns, message):
    good = {"uid": [1, 1], "d": [1, 1], "t": [1, 2], "x": [1, 1], "y": [1, 1]}
    data = {k: v for k, v in good.items() if k not in columns and not ("z" in columns and k == "x")}
    path = tmp_path / "bad.parquet"
    pl.DataFrame(data | columns).write_parquet(path)
    with pytest.raises(BenchmarkError) as error:
        read_table(path)
    assert message in str(error.value)
    assert str(path) in str(error.value)


def test_other_kinds_of_files_are_refused(tmp_path):
    with pytest.raises(BenchmarkError, match=r"expected a file ending in \.csv"):
        read_table(Path(tmp_path / "data.xlsx"))
