"""What the figures of all benchmarks share."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from html_runs import HUMOB

from pytest_agentbench.benchmarks import figures
from pytest_agentbench.benchmarks.protocol import Metric
from pytest_agentbench.runs.record import Record


def test_the_distribution_starts_with_the_headline_and_counts_samples_with_a_value(demo_run):
    run = demo_run(HUMOB)
    figure = figures.distribution(run.benchmark.metrics, "dtw", "2023", run.records)
    assert figure is not None
    assert list(figure.picker.frames) == ["dtw", "geobleu"]
    valid = sum(record.status == "ok" for record in run.records)
    bars = figure.picker.frames["geobleu"]["bars"]
    assert sum(bars["samples"]) == valid < len(run.records)
    assert f"geobleu {valid}" in figure.caption
    assert figures.distribution(run.benchmark.metrics, "dtw", "2023", []) is None


def test_a_hundred_thousand_samples_are_thirty_bars():
    values = np.random.default_rng(7).normal(size=100_000)
    records = [Record("b", f"s{n}", "ok", metrics={"r": {"m": value}}) for n, value in enumerate(values.tolist())]  # fmt: skip
    figure = figures.distribution([Metric("m", "higher")], "m", "r", records)
    assert figure.picker is None
    bars = figure.data["bars"]
    assert {name: len(column) for name, column in bars.items()} == {"left": 30, "right": 30, "samples": 30}  # fmt: skip
    assert sum(bars["samples"]) == 100_000
    low, high = values.min(), values.max()
    for number, (left, right, count) in enumerate(zip(*bars.values(), strict=True)):
        assert left == pytest.approx(low + (high - low) * number / 30, rel=1e-4)
        assert right == pytest.approx(low + (high - low) * (number + 1) / 30, rel=1e-4)
        # The ends are written with five digits: a value at an edge may stand in the next bar.
        assert ((values >= left) & (values < right)).sum() == pytest.approx(count, abs=3)


def test_a_hundred_thousand_points_are_blocks_with_their_counts_and_means():
    draw = np.random.default_rng(3)
    x, y = draw.integers(-20, 180, 100_000), draw.integers(5, 90, 100_000)
    value = draw.random(100_000)
    found = figures.blocks(x, y, value, 10)
    assert sum(found["n"]) == 100_000
    assert len(found["n"]) == 20 * 9
    for left, bottom, mean, count in itertools.islice(zip(*found.values(), strict=True), 40):
        inside = (x > left) & (x < left + 10) & (y > bottom) & (y < bottom + 10)
        assert inside.sum() == count
        assert value[inside].mean() == pytest.approx(mean, rel=1e-4)


def test_middles_are_the_quartiles_and_an_empty_group_is_only_named():
    found = figures.middles(["a", "b"], [np.array([1.0, 2.0, 3.0, 10.0]), np.array([])])
    assert found["name"] == ["a", "b"]
    assert found["n"] == [4, 0]
    assert [found[name][0] for name in ("mean", "low", "median", "high")] == [4.0, 1.75, 2.5, 4.75]
    assert [found[name][1] for name in ("mean", "low", "median", "high")] == [None] * 4


def test_real_and_generated_differ_in_more_than_their_colour():
    looks = figures.real_or_generated("real", "filled", "shape")
    for look in ("fill", "shape"):
        first, second = looks[look]["scale"]["range"]
        assert first != second
    assert looks["fill"]["scale"]["range"][1] == "transparent"
