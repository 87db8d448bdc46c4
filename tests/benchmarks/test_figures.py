"""The plots of the three benchmarks: their numbers, found again by other means."""

from __future__ import annotations

from typing import Any

import html_runs
import numpy as np
import pytest
from html_runs import BEHAVIOR, DAILY, HUMOB, Finished

from pytest_agentbench.benchmarks import figures as shared
from pytest_agentbench.runs.record import Record

pytest.importorskip("bokeh")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AGENTBENCH_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield {name: html_runs.real(name, 40) for name in (HUMOB, DAILY, BEHAVIOR)}


def made(run: Finished) -> dict[str, shared.Figure]:
    figures = run.benchmark.figures(run.dataset, run.records, run.scores.as_json())
    return {figure.title: figure for figure in figures}


def columns(model: Any, *names: str) -> dict[str, Any]:
    """The data of the renderer that has these columns."""
    for renderer in model.renderers:
        data = renderer.data_source.data
        if set(names) <= set(data):
            return dict(data)
    raise AssertionError(f"no renderer with {names}")


def test_each_benchmark_has_its_plots(runs):
    assert list(made(runs[HUMOB])) == [
        "A day on the grid", "Error map", "Score by day of the week", "Score by points a day",
    ]  # fmt: skip
    assert list(made(runs[DAILY])) == [
        "Intention by time of day", "Gyration radius", "Places a day", "Share of the day",
        "Divergence by time of day",
    ]  # fmt: skip
    assert list(made(runs[BEHAVIOR])) == ["Hit rate against chance", "Stars: true and given"]


@pytest.mark.parametrize("name", [HUMOB, DAILY])
def test_without_a_valid_answer_there_is_nothing_to_plot(runs, name):
    run = runs[name]
    failed = [Record(r.benchmark, r.sample, "error", error="x") for r in run.records]
    assert list(run.benchmark.figures(run.dataset, failed, run.scores.as_json())) == []


def test_a_trajectory_is_the_day_of_the_picker(runs):
    run = runs[HUMOB]
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
    frame = days[list(days)[1]]
    assert frame["real"]["x"] == truth[day, 2].tolist()
    assert frame["real"]["y"] == truth[day, 3].tolist()
    assert frame["generated"]["x"] == np.array(record.answer)[day, 0].tolist()
    assert frame["real"]["t"][0] == f"{truth[day, 1][0] / 2:05.2f}".replace(".50", ":30").replace(".00", ":00")  # fmt: skip


def test_the_error_map_counts_every_point_in_its_block_and_has_the_mean_distance_there(runs):
    run = runs[HUMOB]
    data = columns(made(run)["Error map"].models[0], "value", "n")
    index_of = {str(key): index for index, key in enumerate(run.dataset.keys)}
    valid = [record for record in run.records if record.status == "ok"]
    real = np.concatenate(
        [run.dataset.sample(index_of[record.sample]).truth[:, 2:] for record in valid]
    )
    apart = np.hypot(*(np.concatenate([record.answer for record in valid]) - real).T) / 2
    assert sum(data["n"]) == len(real)
    names = ("left", "right", "bottom", "top", "n", "value")
    for left, right, bottom, top, count, value in zip(*map(data.get, names), strict=True):
        inside = ((real > (left, bottom)) & (real < (right, top))).all(axis=1)
        assert inside.sum() == count
        assert apart[inside].mean() == pytest.approx(value, abs=0.0051)


def test_scores_of_days_average_to_the_run(runs):
    run = runs[HUMOB]
    figures = made(run)
    week = columns(figures["Score by day of the week"].models[0], "mean", "n")
    points = columns(figures["Score by points a day"].models[0], "mean", "n")
    assert len(week["name"]) == 7
    assert week["name"][0] == "0 (weekend)"
    assert sum(week["n"]) == sum(points["n"])
    means = [np.average(data["mean"], weights=data["n"]) for data in (week, points)]
    assert means[0] == pytest.approx(means[1], rel=1e-3)


def test_inference_mode_has_no_truth_to_plot(runs):
    import dataclasses

    run = runs[HUMOB]
    settings = dataclasses.replace(run.settings, mode="inference")
    dataset = run.settings.benchmark.load(settings)
    assert list(run.benchmark.figures(dataset, run.records, run.scores.as_json())) == []


def test_histograms_are_shares_of_the_two_populations(runs):
    run = runs[DAILY]
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


def test_areas_are_the_intentions_of_every_half_hour(runs):
    run = runs[DAILY]
    real, generated = made(run)["Intention by time of day"].models
    assert len(real.renderers) == len(generated.renderers) == 7
    assert real.renderers[-1].data_source.data["top"] == pytest.approx([1.0] * 48)
    answers = np.array([r.answer["intention_sequences"] for r in run.records if r.status == "ok"])
    asleep = generated.renderers[0].data_source.data["share"]
    assert asleep == pytest.approx((answers == 1).mean(axis=0), abs=1e-4)
    stacked = generated.renderers[3].data_source.data["bottom"]
    assert stacked == pytest.approx((answers < 4).mean(axis=0), abs=1e-4)


def test_hit_rates_stand_beside_chance(runs):
    run = runs[BEHAVIOR]
    data = columns(made(run)["Hit rate against chance"].models[0], "chance")
    expected = run.scores.as_json()["readings"]["documented"]
    assert data["value"] == [expected[f"top_{n}_hit_rate"]["value"] for n in (1, 3, 5)]
    assert data["chance"] == pytest.approx([0.05, 0.15, 0.25])
    assert all(low <= value <= high for low, value, high in zip(data["low"], data["value"], data["high"], strict=True))  # fmt: skip


def test_star_confusion_counts_every_review_in_its_cell(runs):
    run = runs[BEHAVIOR]
    data = columns(made(run)["Stars: true and given"].models[0], "n")
    reviews = [r for r in run.records if r.status == "ok" and r.sample.startswith("review")]
    assert sum(data["n"]) == len(reviews) > 5
    given = [int(r.answer["stars"] + 0.5) for r in reviews]
    fives = [n for n, left in zip(data["n"], data["left"], strict=True) if left == 3.5]
    assert sum(fives) == given.count(4)
    true = [int(run.dataset.task_of(r.sample).truth["stars"]) for r in reviews]
    rows = [n for n, bottom in zip(data["n"], data["bottom"], strict=True) if bottom == 4.5]
    assert sum(rows) == true.count(5)


def test_runs_without_a_kind_of_sample_lack_its_plot(runs):
    run = runs[BEHAVIOR]
    reviews = [r for r in run.records if r.sample.startswith("review")]
    absent = {"value": None, "reason": "the run has no recommendation samples"}
    scores = {**run.scores.as_json(), "readings": {"documented": {"top_1_hit_rate": absent}}}
    titles = [f.title for f in run.benchmark.figures(run.dataset, reviews, scores)]
    assert titles == ["Stars: true and given"]


def test_the_distribution_starts_with_the_headline_and_counts_samples_with_a_value(runs):
    run = runs[HUMOB]
    figure = shared.distribution(run.benchmark.metrics, "dtw", "2023", run.records)
    assert figure is not None
    assert list(figure.picker.frames) == ["dtw", "geobleu"]
    valid = sum(record.status == "ok" for record in run.records)
    assert sum(figure.picker.frames["geobleu"]["bars"]["top"]) == valid < len(run.records)
    assert f"geobleu {valid}" in figure.caption
    assert shared.distribution(run.benchmark.metrics, "dtw", "2023", []) is None


def test_legends_escape_names():
    assert shared.legend({"<b>": "#123456"}).count("&lt;b&gt;") == 1
