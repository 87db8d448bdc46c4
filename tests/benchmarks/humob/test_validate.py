"""Validation lists every kind of problem, with lines and counts."""

from __future__ import annotations

import gzip

import pytest

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks.humob.editions import EDITIONS
from pytest_agentbench.benchmarks.humob.validate import validate

NAME = "team-a_task2_humob.csv.gz"
USERS = range(22500, 25000)


@pytest.fixture
def rows():
    return [[uid, d, t, 5, 6] for uid in USERS for d in (60, 74) for t in (3, 40)]


def problems(csv, rows, name=NAME, header="uid,d,t,x,y", dataset=None):
    return validate(csv(rows, name, header), "2023", "2", dataset)


@pytest.mark.parametrize("header", ["uid,d,t,x,y", None])
def test_a_good_file_has_no_problems(csv, rows, header):
    assert problems(csv, rows, header=header) == []


@pytest.mark.parametrize(
    ("edition", "task", "name"),
    [
        ("2023", "1", "x_task1_humob.csv.gz"),
        ("2024", "B", "x_cityB_humob.csv.gz"),
        ("2025", "d", "x_cityD_humob25.csv.gz"),
    ],
)
def test_every_edition_has_its_users_days_and_name(csv, edition, task, name):
    rules = EDITIONS[edition]
    users, days = rules.task(task), rules.predict_days
    rows = [[uid, days.last, 0, 1, 200] for uid in range(users.first, users.last + 1)]
    assert validate(csv(rows, name), edition, task) == []
    rows[0][1], rows[-1][1] = days.first - 1, days.last + 1
    (problem,) = validate(csv(rows, name), edition, task)
    assert problem.startswith(f"rows with d outside {days}: 2 (line 2: d={days.first - 1}, line ")


def test_every_kind_of_problem_is_listed_not_the_first(csv, rows):
    rows[0][4] = 999
    rows[1][3] = 0
    rows[2][2] = 48
    rows[3][1] = 59
    rows[4] = [22501, 60, 3, 5.5, 6]
    rows[5] = [22501, 60, 3, 5]
    rows[10:12] = [rows[11], rows[10]]
    rows.append(rows[-1])
    rows.append([99, 60, 3, 5, 6])
    del rows[40:44]
    found = problems(csv, rows, "wrong.csv.gz", header="uid,d,t,y,x")
    assert found == [
        "file name: expected {team}_task2_humob.csv.gz, got wrong.csv.gz",
        "header: expected uid,d,t,x,y, got 'uid,d,t,y,x'",
        "lines without 5 columns: 1 (line 7 has 4)",
        "lines with a value that is no whole number: 1 (line 6: '5.5')",
        "rows with 999 left in: 1 (line 2: x=5 y=999)",
        "rows with d outside 60-74: 1 (line 5: d=59)",
        "rows with t outside 0-47: 1 (line 4: t=48)",
        "rows with x outside 1-200: 1 (line 3: x=0)",
        "rows earlier than the user's row before: 2 "
        "(line 5: uid=22500 d=59 t=40, line 13: uid=22502 d=74 t=3)",
        "rows that repeat a uid, d and t: 1 (line 9998: uid=24999 d=74 t=40)",
        "users missing of 22500-24999: 1 (uid 22510)",
        "users that are not of 22500-24999: 1 (uid 99)",
    ]


def test_many_problems_of_a_kind_are_counted_and_the_first_shown(csv, rows):
    for row in rows[:100]:
        row[3] = 201
    (problem,) = problems(csv, rows)
    assert problem == (
        "rows with x outside 1-200: 100 (line 2: x=201, line 3: x=201, line 4: x=201, "
        "line 5: x=201, line 6: x=201, … and 95 more)"
    )


def test_half_the_users_missing_is_a_range(csv, rows):
    (problem,) = problems(csv, rows[: len(rows) // 2])
    assert problem == "users missing of 22500-24999: 1250 (uid 23750-24999)"


def test_half_hours_are_compared_with_the_data_set(csv, rows):
    hidden = [[uid, d, t, 999, 999] for uid, d, t, _, _ in rows]
    data = csv([*hidden, [3, 5, 5, 5, 5]], "data.csv")
    assert problems(csv, rows, dataset=data) == []
    rows[0][2] = 4
    del rows[7]
    assert problems(csv, rows, dataset=data) == [
        "rows the data set does not ask for: 1 (line 2: uid=22500 d=60 t=4)",
        "rows of the data set that are not predicted: 2 (uid=22500 d=60 t=3, uid=22501 d=74 t=40)",
    ]
    other = csv([[3, 5, 5, 5, 5]], "other.csv")
    assert "has none of the users 22500-24999" in problems(csv, rows, dataset=other)[0]


def test_a_file_that_is_not_gzip_is_looked_at_all_the_same(tmp_path, csv, rows):
    rows[0][3] = 0
    plain = csv(rows, "plain.csv").rename(tmp_path / NAME)
    found = validate(plain, "2023", "2")
    assert found[0] == "gzip: expected a gzip file, got one that starts with b'uid,d,t,'"
    assert found[1:] == ["rows with x outside 1-200: 1 (line 2: x=0)"]


def test_a_cut_off_gzip_file_is_looked_at_as_far_as_it_goes(csv, rows):
    path = csv(rows, NAME)
    path.write_bytes(path.read_bytes()[:-100])
    found = validate(path, "2023", "2")
    assert found[0].startswith("gzip: the data are damaged or cut off")
    assert any(line.startswith("users missing of 22500-24999") for line in found)


def test_a_damaged_gzip_file_is_no_crash(csv, rows):
    path = csv(rows, NAME)
    raw = bytearray(path.read_bytes())
    raw[200:260] = bytes(60)
    path.write_bytes(raw)
    assert validate(path, "2023", "2")[0].startswith("gzip: the data are damaged")


@pytest.mark.parametrize("value", ["+5", " 5", '"5"', "5.0", "", "٣"])
def test_numbers_only_some_programs_read_are_refused(csv, rows, value):
    rows[0][3] = value
    found = problems(csv, rows)
    assert found[0] == f"lines with a value that is no whole number: 1 (line 2: {value!r})"


def test_an_empty_line_is_a_problem(tmp_path, rows):
    text = "".join(f"{','.join(map(str, row))}\n" for row in rows) + "\n"
    path = tmp_path / NAME
    path.write_bytes(gzip.compress(text.encode()))
    assert validate(path, "2023", "2") == ["lines without 5 columns: 1 (line 10001 has 1)"]


@pytest.mark.parametrize("header", ["uid,d,t,x,y", None])
def test_an_empty_file_is_a_problem(csv, header):
    assert problems(csv, [], header=header) == ["the file has no rows"]


def test_wrong_questions_are_refused(csv, rows, tmp_path):
    path = csv(rows[:1], NAME)
    with pytest.raises(BenchmarkError, match="edition '2022': expected one of 2023, 2024, 2025"):
        validate(path, "2022", "1")
    with pytest.raises(BenchmarkError, match="task 'B': expected one of 1, 2"):
        validate(path, 2023, "B")
    with pytest.raises(BenchmarkError, match="no such file"):
        validate(tmp_path / "nothing.csv.gz", "2023", "1")
