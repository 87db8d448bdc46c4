"""The figures of humob: their numbers, found again by other means."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest
from benchmarks.drawn import made
from html_runs import HUMOB

from pytest_agentbench.runs.record import Record


@pytest.fixture(scope="module")
def run(demo_run):
    return demo_run(HUMOB)


def test_its_figures(run):
    assert list(made(run)) == [
        "A day on the grid", "Error map", "Score by day of the week", "Score by points a day",
    ]  # fmt: skip


def test_without_a_valid_answer_there_is_nothing_to_plot(run):
    failed = [Record(r.benchmark, r.sample, "error", error="x") for r in run.records]
    assert list(run.benchmark.figures(run.dataset, failed, run.scores.as_json())) == []


def test_a_trajectory_is_the_day_of_the_picker(run):
    picker = made(run)["A day on the grid"].picker
    assert picker is not None
    assert picker.labels == ("user", "day")
    valid = [record for record in run.records if record.status == "ok"]
    assert len(picker.frames) == len(valid)
    scores = [float(label.split("(")[1].rstrip(")")) for label in picker.frames]
    assert scores == sorted(scores)
    record = valid[3]
    days = next(f for label, f in picker.frames.items() if label.startswith(f"{record.sample} "))
    index = [str(key) for key in run.dataset.keys].index(record.sample)
    truth = run.dataset.sample(index).truth
    assert list(days) == sorted({str(d) for d in truth[:, 0]})
    day = truth[:, 0] == int(list(days)[1])
    frame = days[list(days)[1]]["day"]
    assert frame["t"] == truth[day, 1].tolist()
    assert frame["x"] == truth[day, 2].tolist()
    assert frame["y"] == truth[day, 3].tolist()
    assert frame["given_x"] == np.array(record.answer)[day, 0].tolist()
    assert frame["given_y"] == np.array(record.answer)[day, 1].tolist()


def test_the_error_map_counts_every_point_in_its_block_and_has_the_mean_distance_there(run):
    figure = made(run)["Error map"]
    data = figure.data["blocks"]
    size = int(re.search(r"(\d+) × \1 cells", figure.caption)[1])
    index_of = {str(key): index for index, key in enumerate(run.dataset.keys)}
    valid = [record for record in run.records if record.status == "ok"]
    real = np.concatenate(
        [run.dataset.sample(index_of[record.sample]).truth[:, 2:] for record in valid]
    )
    apart = np.hypot(*(np.concatenate([record.answer for record in valid]) - real).T) / 2
    assert sum(data["n"]) == len(real)
    for left, bottom, value, count in zip(*data.values(), strict=True):
        inside = ((real > (left, bottom)) & (real < (left + size, bottom + size))).all(axis=1)
        assert inside.sum() == count
        assert apart[inside].mean() == pytest.approx(value, rel=1e-4)


def test_scores_of_days_average_to_the_run(run):
    figures = made(run)
    week = figures["Score by day of the week"].data["days"]
    points = figures["Score by points a day"].data["days"]
    assert len(week["name"]) == 7
    assert week["name"][0] == "0*"
    assert sum(week["n"]) == sum(points["n"])
    means = [_mean(data) for data in (week, points)]
    assert means[0] == pytest.approx(means[1], rel=1e-3)


def _mean(data):
    pairs = [(mean, n) for mean, n in zip(data["mean"], data["n"], strict=True) if n]
    return sum(mean * n for mean, n in pairs) / sum(n for _, n in pairs)


def test_inference_mode_has_no_truth_to_plot(run):
    settings = dataclasses.replace(run.settings, mode="inference")
    dataset = run.settings.benchmark.load(settings)
    assert list(run.benchmark.figures(dataset, run.records, run.scores.as_json())) == []
