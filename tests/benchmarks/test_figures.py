"""What the figures of all benchmarks share."""

from __future__ import annotations

import pytest
from html_runs import HUMOB

from pytest_agentbench.benchmarks import figures

pytest.importorskip("bokeh")


def test_the_distribution_starts_with_the_headline_and_counts_samples_with_a_value(demo_run):
    run = demo_run(HUMOB)
    figure = figures.distribution(run.benchmark.metrics, "dtw", "2023", run.records)
    assert figure is not None
    assert list(figure.picker.frames) == ["dtw", "geobleu"]
    valid = sum(record.status == "ok" for record in run.records)
    assert sum(figure.picker.frames["geobleu"]["bars"]["top"]) == valid < len(run.records)
    assert f"geobleu {valid}" in figure.caption
    assert figures.distribution(run.benchmark.metrics, "dtw", "2023", []) is None


def test_legends_escape_names():
    assert figures.legend({"<b>": "#123456"}).count("&lt;b&gt;") == 1
