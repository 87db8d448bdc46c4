"""What people see in a terminal."""

from __future__ import annotations

import dataclasses
import re

import pytest

from pytest_agentbench.reports.text import number
from pytest_agentbench.runs.scores_file import GateResult


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.0, "0.0000"), (0.12345, "0.1235"), (-0.5, "-0.5000"), (71.345, "71.34"), (12345.678, "12345.68"), (None, "-"),
     (9.99999, "10.0000")],
)  # fmt: skip
def test_numbers(value, shown):
    assert number(value) == shown


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


def test_an_undecided_gate_is_told_apart_from_a_failed_one():
    gate = GateResult("a > 1", False, 0.5, 1.0)
    assert gate.failure == "got 0.5 against 1"
    assert dataclasses.replace(gate, reason="no such metric").failure == "no such metric"
    assert dataclasses.replace(gate, passed=True).failure is None
