"""Figures before they are drawn: what can be drawn is kept, and what cannot is named."""

from __future__ import annotations

import html_runs
import numpy as np
import pytest

from pytest_agentbench.benchmarks.figures import Figure, Picker
from pytest_agentbench.reports import charts

CHART = {"data": {"name": "d"}, "mark": "point", "encoding": {"x": {"field": "x"}}}


def drawn(figures, **changed):
    """The figures of a toy run whose benchmark makes these."""
    run = html_runs.toy(**changed)
    run.benchmark.figures = figures
    return charts.drawn(run.benchmark, run.dataset, run.scores, run.records)


def test_the_benchmarks_figures_come_first():
    found, problems = drawn(lambda *_: [Figure("one"), Figure("two")])
    assert [one.figure.title for one in found] == ["one", "two", "Distribution over samples"]
    assert problems == []


def test_figures_are_given_the_data_the_records_and_the_scores_as_they_are_written():
    run, given = html_runs.toy(), []
    run.benchmark.figures = lambda *values: given.extend(values) or []
    charts.drawn(run.benchmark, run.dataset, run.scores, run.records)
    assert given == [run.dataset, run.records, run.scores.as_json()]


def test_without_the_truth_the_benchmark_is_not_asked():
    run = html_runs.toy()
    run.benchmark.figures = lambda *_: pytest.fail("asked")
    found, _ = charts.drawn(run.benchmark, run.dataset, run.scores, run.records, truth=False)
    assert [one.figure.title for one in found] == ["Distribution over samples"]


def test_what_fails_costs_only_what_comes_after_it_of_the_benchmarks_own():
    def figures(*_):
        yield Figure("fine")
        raise ZeroDivisionError("nobody")

    found, problems = drawn(figures)
    assert [one.figure.title for one in found] == ["fine", "Distribution over samples"]
    assert problems == ["toysum could not make its plots: ZeroDivisionError: nobody"]


def test_a_figure_that_cannot_be_drawn_costs_no_other():
    uneven = {"d": {"x": [1], "y": [1, 2]}}
    figures = [Figure("a", data=uneven), Figure("fine"), Figure("b", charts=["bar"])]
    found, problems = drawn(lambda *_: figures)
    assert [one.figure.title for one in found] == ["fine", "Distribution over samples"]
    assert [problem.partition(": ")[0] for problem in problems] == ["toysum could not make a plot"] * 2  # fmt: skip


def test_columns_become_plain_values_and_what_is_no_number_is_absent():
    frames = {"a": {"d": {"x": np.array([1.5, np.nan])}}}
    data = {"e": {"x": (1, float("inf")), "name": ["p", None]}}
    found = charts.checked(Figure("f", "", [CHART], data, Picker(("k",), frames)))
    assert found.data == {"e": {"x": [1, None], "name": ["p", None]}}
    assert found.frames == {"a": {"d": {"x": [1.5, None]}}}
    assert found.labels == ("k",)


def test_a_chart_is_as_wide_as_its_place_unless_it_says_otherwise():
    (plain,), (fixed,) = (
        charts.checked(Figure("f", charts=[chart])).charts
        for chart in (CHART, {**CHART, "width": 9})
    )
    assert (plain["width"], plain["height"], plain["description"]) == (
        "container",
        charts.HEIGHT,
        "f",
    )
    assert fixed["width"] == 9


@pytest.mark.parametrize(
    ("figure", "words"),
    [
        (Figure("f", charts=("no chart",)), "'f': expected Vega-Lite specifications (dict) as charts, got str"),
        (Figure("f", data={"d": {"x": [1], "y": [1, 2]}}), "the columns of 'd' have [1, 2] values"),
        (Figure("f", data={"d": {"x": range(charts.MOST_VALUES + 1)}}), "has 200,001 values, and at most 200,000"),
        (
            Figure("f", picker=Picker(("a",), {str(n): {"d": {"x": range(50_000)}} for n in range(5)})),
            "has 250,000 values, and at most 200,000 are written: bin them first",
        ),
    ],
)  # fmt: skip
def test_a_figure_that_cannot_be_drawn_is_named_with_what_to_do(figure, words):
    _, (problem,) = drawn(lambda *_: [figure])
    assert words in problem
