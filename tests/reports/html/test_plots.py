"""The plots of a report as data for its page."""

from __future__ import annotations

import json

import html_runs
import pytest

from pytest_agentbench.benchmarks.figures import Figure, Picker
from pytest_agentbench.reports import charts
from pytest_agentbench.reports.html import plots

CHART = {"data": {"name": "d"}, "mark": "point"}


@pytest.fixture(autouse=True)
def fake_script(monkeypatch):
    made = plots.chart_script.ChartScript("digest", "packed")
    monkeypatch.setattr(plots.chart_script, "chart_script", lambda: made)


def made(figures):
    """The plots of a toy run whose benchmark has these figures."""
    run = html_runs.toy()
    run.benchmark.figures = figures
    return plots.plots(run.benchmark, run.dataset, run.scores, run.records)


def test_every_figure_has_its_charts_its_data_and_its_frames():
    picker = Picker(("user",), {"uid[7]": {"d": {"x": [1]}}})
    found = made(lambda *_: [Figure("one", "", [CHART], {"d": {"x": [2]}}), Figure("two", picker=picker)])  # fmt: skip
    assert [figure.title for figure in found.figures] == ["one", "two", "Distribution over samples"]
    data = json.loads(found.data)
    assert data["config"] == charts.CONFIG
    one, two, distribution = data["figures"]
    assert one["data"] == {"d": {"x": [2]}}
    assert (one["labels"], one["frames"]) == ([], {})
    assert one["charts"][0]["mark"] == "point"
    assert two == {"charts": [], "data": {}, "labels": ["user"], "frames": {"uid[7]": {"d": {"x": [1]}}}}  # fmt: skip
    assert len(distribution["charts"]) == 1
    assert found.script is not None


def test_the_script_is_there_only_where_something_is_drawn():
    run = html_runs.toy(records=[])
    run.benchmark.figures = lambda *_: []
    nothing = plots.plots(run.benchmark, run.dataset, run.scores, [])
    assert nothing == plots.Plots()


def test_data_cannot_end_the_element_that_holds_them():
    found = made(lambda *_: [Figure("x", picker=Picker(("</script>",), {}))])
    assert "</script>" not in found.data
    assert json.loads(found.data)["figures"][0]["labels"] == ["</script>"]


def test_without_the_library_the_page_says_what_it_needs(monkeypatch):
    def broken():
        raise ImportError("No module named 'vl_convert'")

    monkeypatch.setattr(plots.chart_script, "chart_script", broken)
    found = made(lambda *_: [])
    assert (found.figures, found.script) == ((), None)
    assert found.problems == ("Plots need vl-convert-python: ImportError: No module named 'vl_convert'",)  # fmt: skip
