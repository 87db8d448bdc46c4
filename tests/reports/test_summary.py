"""What people see in a terminal."""

from __future__ import annotations

import dataclasses
import re

import pytest

from pytest_agentbench.reports.summary import progress_lines
from pytest_agentbench.runs.run_progress import RunProgress
from pytest_agentbench.runs.scores_file import Counts


@pytest.mark.parametrize("columns", ["80", "120"])
@pytest.mark.parametrize("name", ["toysum", "DailyMobility", "humob"])
def test_the_summary_fits_the_terminal(project, monkeypatch, columns, name):
    monkeypatch.setenv("COLUMNS", columns)
    result = project.pytest(
        f"--benchmark={name}", "--limit=5", "-p", "no:benchmark", "-p", "no:metadata"
    )
    lines = result.outlines
    start = next(n for n, line in enumerate(lines) if f"agentbench: {name} =" in line)
    table = lines[start : next(n for n, line in enumerate(lines) if line.startswith("run: "))]
    assert max(map(len, table)) <= int(columns), max(table, key=len)
    header = next(line for line in table if line.startswith("metric"))
    assert ("better" in header) is (columns == "120" or name != "DailyMobility")


def test_colour_and_none(project):
    plain = project.pytest("--benchmark=toysum", "--limit=3", "--gate=accuracy > 2", "--color=no")
    assert "\x1b" not in plain.stdout.str()
    colour = project.pytest("--benchmark=toysum", "--limit=3", "--gate=accuracy > 2", "--color=yes")
    assert re.search(r"\x1b\[31mgate failed: accuracy > 2", colour.stdout.str())
    assert re.search(r"\x1b\[32mgate passed: coverage >= 1", colour.stdout.str())


USUAL = RunProgress(
    "humob", Counts(120, 118, 2), 300, headline=("geobleu", 0.20341), rate=0.7, calls=400, cache_hits=150,
    tokens=240_000, cost=0.4212, in_flight=8,
)  # fmt: skip


def test_a_wide_terminal_has_progress_in_one_line():
    assert progress_lines(USUAL, 200) == [
        "humob: 120/300, 118 ok, 2 invalid, geobleu 0.2034 in valid answers, 42/min, 4 min left, "
        "240k tokens, cost 0.42, 150 replies from the cache, 8 calls in flight"
    ]


def test_in_80_columns_models_have_a_line_below_and_the_least_is_left_out():
    assert progress_lines(USUAL) == [
        "humob: 120/300, 118 ok, 2 invalid, geobleu 0.2034 in valid answers, 4 min left",
        "  240k tokens, cost 0.42, 150 replies from the cache, 8 calls in flight",
    ]
    long = dataclasses.replace(USUAL, run="scenarios/behavior_modeling.yaml")
    assert progress_lines(long)[0] == (
        "scenarios/behavior_modeling.yaml: 120/300, 118 ok, 2 invalid, 4 min left"
    )


def test_progress_without_models_and_before_there_is_a_pace():
    first = RunProgress("toysum", Counts(1, 1), 12, headline=("accuracy", 1.0))
    assert progress_lines(first) == ["toysum: 1/12, 1 ok, accuracy 1.0000 so far"]
    assert progress_lines(RunProgress("toysum", Counts(1, error=1), 12, rate=2.0)) == [
        "toysum: 1/12, 0 ok, 1 error, 2.0/s, 6 s left"
    ]
