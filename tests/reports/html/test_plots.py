"""The plots of a report as data: what can be made is made, and what cannot is named."""

from __future__ import annotations

import json

import html_runs
import pytest

from pytest_agentbench.benchmarks.figures import Figure, Picker
from pytest_agentbench.reports.html import plots

pytest.importorskip("bokeh")


def made(figures):
    """The plots of a toy run whose benchmark has these figures."""
    run = html_runs.toy()
    run.benchmark.figures = figures
    return plots.plots(run.benchmark, run.dataset, run.scores, run.records)


def test_the_benchmarks_figures_come_first_each_with_its_data():
    picker = Picker(("user",), {"uid[7]": {"real": {"x": [1]}}})
    found = made(lambda *_: [Figure("one", html="<hr>"), Figure("two", picker=picker)])
    assert [figure.title for figure in found.figures] == ["one", "two", "Distribution over samples"]
    one, two, distribution = map(json.loads, found.data)
    assert one == {"models": [], "labels": [], "frames": None}
    assert two == {"models": [], "labels": ["user"], "frames": {"uid[7]": {"real": {"x": [1]}}}}
    assert len(distribution["models"]) == 1
    assert found.problems == ()


def test_the_library_is_there_once_and_only_where_something_is_drawn():
    assert len(made(lambda *_: []).library) == 1
    run = html_runs.toy(records=[])
    run.benchmark.figures = lambda *_: []
    nothing = plots.plots(run.benchmark, run.dataset, run.scores, [])
    assert (nothing.figures, nothing.library) == ((), ())


def test_figures_are_given_the_data_the_records_and_the_scores_as_they_are_written():
    run, given = html_runs.toy(), []
    run.benchmark.figures = lambda *values: given.extend(values) or []
    plots.plots(run.benchmark, run.dataset, run.scores, run.records)
    assert given == [run.dataset, run.records, run.scores.as_json()]


def test_what_fails_costs_only_what_comes_after_it_of_the_benchmarks_own():
    def figures(*_):
        yield Figure("fine")
        raise ZeroDivisionError("nobody")

    found = made(figures)
    assert [figure.title for figure in found.figures] == ["fine", "Distribution over samples"]
    assert len(found.data) == 2
    assert found.problems == ("toysum could not make its plots: ZeroDivisionError: nobody",)


def test_data_cannot_end_the_element_that_holds_them():
    found = made(lambda *_: [Figure("x", picker=Picker(("</script>",), {}))])
    assert "</script>" not in found.data[0]
    assert json.loads(found.data[0])["labels"] == ["</script>"]


def test_without_bokeh_there_is_a_note_and_no_figure_is_asked_for(monkeypatch):
    monkeypatch.setattr(plots.importlib.util, "find_spec", lambda name: None)
    found = made(lambda *_: pytest.fail("asked for figures"))
    assert found == plots.Plots(note=plots.WITHOUT_BOKEH)
