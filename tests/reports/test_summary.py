"""What people see in a terminal."""

from __future__ import annotations

import re

import pytest


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
