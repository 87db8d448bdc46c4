"""The figures of DailyMobility: their numbers, found again by other means."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.drawn import made
from html_runs import DAILY

from pytest_agentbench.benchmarks.daily_mobility.intentions import LABELS
from pytest_agentbench.runs.record import Record


@pytest.fixture(scope="module")
def run(demo_run):
    return demo_run(DAILY)


def test_its_figures(run):
    assert list(made(run)) == [
        "Intention by time of day", "Gyration radius", "Places a day", "Share of the day",
        "Divergence by time of day",
    ]  # fmt: skip


def test_without_a_valid_answer_there_is_nothing_to_plot(run):
    failed = [Record(r.benchmark, r.sample, "error", error="x") for r in run.records]
    assert list(run.benchmark.figures(run.dataset, failed, run.scores.as_json())) == []


def test_histograms_are_shares_of_the_two_populations(run):
    figures = made(run)
    frames = figures["Share of the day"].picker.frames
    assert len(frames) == 7
    tables = [frame["people"] for frame in frames.values()]
    tables += [figures[title].data["people"] for title in ("Gyration radius", "Places a day")]
    for bars in tables:
        assert sum(bars["real"]) == pytest.approx(1, abs=1e-3)
        assert sum(bars["generated"]) == pytest.approx(1, abs=1e-3)
        assert bars["left"][1:] == bars["right"][:-1]
    places = figures["Places a day"].data["people"]
    rounded = np.floor(run.dataset.truth.daily_location_numbers + 0.5)
    assert places["real"][3] == pytest.approx((rounded == 3).mean(), abs=1e-4)
    assert places["left"][3] == 2.5


def test_small_charts_are_the_intentions_of_every_half_hour(run):
    figure = made(run)["Intention by time of day"]
    labels = [chart["data"]["name"] for chart in figure.charts]
    assert labels == list(LABELS) == list(figure.data)
    answers = np.array([r.answer["intention_sequences"] for r in run.records if r.status == "ok"])
    for code, label in enumerate(LABELS, start=1):
        columns = figure.data[label]
        assert columns["generated"][:48] == pytest.approx((answers == code).mean(axis=0), abs=1e-4)
        assert columns["generated"][48] == columns["generated"][47]  # the end of the last step
    real = np.array([figure.data[label]["real"] for label in LABELS])
    assert real.sum(axis=0) == pytest.approx(1, abs=1e-3)


def test_divergences_are_those_of_the_runs_details(run):
    data = made(run)["Divergence by time of day"].data["slots"]
    expected = list(run.scores.as_json()["details"]["slots"].values())
    assert data["divergence"] == pytest.approx(expected, rel=1e-4)
    assert data["at"][13] == "06:30"
