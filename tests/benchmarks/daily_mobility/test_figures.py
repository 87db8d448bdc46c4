"""The figures of DailyMobility: their numbers, found again by other means."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.drawn import columns, made
from html_runs import DAILY

from pytest_agentbench.runs.record import Record

pytest.importorskip("bokeh")


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
    pairs = [frame[name] for frame in frames.values() for name in ("real", "generated")]
    for title in ("Gyration radius", "Places a day"):
        model = figures[title].models[0]
        pairs += [dict(renderer.data_source.data) for renderer in model.renderers]
    for bars in pairs:
        assert sum(bars["top"]) == pytest.approx(1, abs=1e-3)
        assert bars["left"][1:] == bars["right"][:-1]
    places = columns(figures["Places a day"].models[0], "top")
    rounded = np.floor(run.dataset.truth.daily_location_numbers + 0.5)
    assert places["top"][3] == pytest.approx((rounded == 3).mean(), abs=1e-4)
    assert places["left"][3] == 2.5


def test_areas_are_the_intentions_of_every_half_hour(run):
    real, generated = made(run)["Intention by time of day"].models
    assert len(real.renderers) == len(generated.renderers) == 7
    assert real.renderers[-1].data_source.data["top"] == pytest.approx([1.0] * 48)
    answers = np.array([r.answer["intention_sequences"] for r in run.records if r.status == "ok"])
    asleep = generated.renderers[0].data_source.data["share"]
    assert asleep == pytest.approx((answers == 1).mean(axis=0), abs=1e-4)
    stacked = generated.renderers[3].data_source.data["bottom"]
    assert stacked == pytest.approx((answers < 4).mean(axis=0), abs=1e-4)
