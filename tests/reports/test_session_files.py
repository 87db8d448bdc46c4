"""--agentbench-json and --agentbench-csv."""

from __future__ import annotations

import csv
import json

import pytest
from toy_runs import make_run

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.reports import session_files
from pytest_agentbench.runs import stored
from pytest_agentbench.runs.record import Record
from pytest_agentbench.runs.scores_file import Scores


def hostile(context):
    return 'a "b",\nc\ud800' if context["a"] == 1 else context["a"] + context["b"]


@pytest.fixture
def runs(tmp_path):
    found = [make_run(tmp_path / "one", "half"), make_run(tmp_path / "two", hostile)]
    return [(run.scores, run.records) for run in map(stored.read, found)]


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_json_has_the_same_shape_for_one_run_and_for_many(tmp_path, runs):
    path = tmp_path / "new" / "out.json"
    for count in (1, 2):
        session_files.write_json(path, [scores for scores, _ in runs[:count]])
        data = json.loads(path.read_text())
        assert data == {"schema": 1, "runs": [scores.as_json() for scores, _ in runs[:count]]}


def test_csv_has_a_row_for_each_metric_of_each_reading(tmp_path, runs):
    session_files.write_csv(tmp_path / "out.csv", runs)
    rows = rows_of(tmp_path / "out.csv")
    assert len(rows) == 2 * 2 * 4
    first = rows[0]
    assert (first["reading"], first["primary"], first["metric"], first["value"]) == (
        "exact", "True", "accuracy", "0.5",
    )  # fmt: skip
    assert float(first["low"]) == runs[0][0].metric("accuracy").low
    style = next(row for row in rows if row["metric"] == "style")
    assert (style["value"], style["reason"]) == ("", "numbers have no style")


def test_samples_stand_in_a_file_beside_it_whatever_they_said(tmp_path, runs):
    beside = session_files.write_csv(tmp_path / "out.csv", runs)
    assert beside == tmp_path / "out.samples.csv"
    rows = rows_of(beside)
    assert len(rows) == 24
    (bad,) = [row for row in rows if row["status"] == "invalid"]
    assert json.loads(bad["answer"]) == 'a "b",\nc\ud800'
    assert bad["exact:accuracy"] == ""
    good = next(row for row in rows if row["sample"] == "sum[s2]")
    assert (good["epoch"], good["answer"], good["exact:accuracy"]) == ("1", "4", "1.0")


def test_a_folder_is_no_file(tmp_path, runs):
    with pytest.raises(BenchmarkError, match="--agentbench-csv: expected a file, got the folder"):
        session_files.write_csv(tmp_path, runs)
    (tmp_path / "file").write_text("")
    with pytest.raises(BenchmarkError, match="--agentbench-json: expected a file that can be"):
        session_files.write_json(tmp_path / "file" / "out.json", [])


def test_a_cell_is_no_formula_for_a_spreadsheet(tmp_path):
    errors = [
        "=cmd|' /C calc'!A0",
        "+1+1",
        "-2+3",
        "@SUM(A1)",
        "\t=1",
        "\r=1\r",
        "-1.5",
        "fine",
        "-",
    ]
    records = [
        Record("b", f"s[{number}]", "error", error=error) for number, error in enumerate(errors)
    ]
    scores = Scores(benchmark="b", primary="exact", readings={"exact": {}})
    beside = session_files.write_csv(tmp_path / "s.csv", [(scores, records)])
    with beside.open(newline="", encoding="utf-8") as file:
        cells = [row["error"] for row in csv.DictReader(file)]
    assert cells == [*(f"'{error}" for error in errors[:5]), "'\\r=1\\r", "-1.5", "fine", "'-"]
