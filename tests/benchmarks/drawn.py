"""The figures of a finished run, and what is seen of one that is really drawn."""

from __future__ import annotations

import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from html_runs import Finished

from pytest_agentbench.benchmarks.figures import Figure
from pytest_agentbench.reports import charts, figure_files

_SVG = "{http://www.w3.org/2000/svg}"


def made(run: Finished) -> dict[str, Figure]:
    figures = run.benchmark.figures(run.dataset, run.records, run.scores.as_json())
    return {figure.title: figure for figure in figures}


def marks(figure: Figure, kind: str, **picked: str) -> list[str]:
    """What vl-convert draws of the figure: a description of each mark of a kind (rect, symbol, line, rule, text).

    So people hear it who do not see it: ``"hour of the day: 8; trips a person: 0.5"``. The rest of a
    mark without a description is its text or nothing.
    """
    found = _drawn(figure, f"mark-{kind} role-mark", picked)
    return [mark.get("aria-label") or mark.text or "" for mark in found]


def axis_labels(figure: Figure) -> list[str]:
    """The labels at all axes that are seen: those without room are there, too, but transparent."""
    found = _drawn(figure, "role-axis-label", {})
    return [label.text or "" for label in found if label.get("opacity") != "0"]


def _drawn(figure: Figure, role: str, picked: dict[str, str]) -> list[ElementTree.Element]:
    with tempfile.TemporaryDirectory() as folder:
        lines, problems = figure_files.write_figures(Path(folder), [charts.checked(figure)], "svg", picked)  # fmt: skip
        assert problems == []
        (path,) = Path(folder).iterdir()
        assert lines[0].startswith(str(path))
        tree = ElementTree.parse(path)
    groups = [group for group in tree.iter(f"{_SVG}g") if role in group.get("class", "")]
    return [mark for group in groups for mark in group]
