"""The figures of DailyMobility: their numbers, found again by other means."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.drawn import made, marks
from html_runs import DAILY

from pytest_agentbench.benchmarks.daily_mobility.intentions import FIELDS, LABELS
from pytest_agentbench.city.life import Life
from pytest_agentbench.reports import charts
from pytest_agentbench.reports.html.report import write_html
from pytest_agentbench.runs.record import Record


@pytest.fixture(scope="module")
def run(demo_run):
    return demo_run(DAILY)


VALUES = [
    "Intention by time of day", "Gyration radius", "Places a day", "Share of the day",
    "Divergence by time of day",
]  # fmt: skip
VISITS = ["Realism of the days", "A day on the map", "Where people are", "Trips by hour"]
LIVED = [*VISITS, "Share of the day on the way", "Travel times by mode"]


def test_its_figures(run):
    assert list(made(run)) == [*VALUES, *VISITS]


def without_days(answer):
    return {name: answer[name] for name in FIELDS}


def test_answers_that_tell_no_day_have_no_figures_of_days(run):
    bare = [r if r.status != "ok" else r.changed(answer=without_days(r.answer)) for r in run.records]  # fmt: skip
    figures = run.benchmark.figures(run.dataset, bare, run.scores.as_json())
    assert [figure.title for figure in figures] == VALUES
    half = [*bare[:20], *run.records[20:]]
    some = {f.title: f for f in run.benchmark.figures(run.dataset, half, run.scores.as_json())}
    assert list(some) == [*VALUES, *VISITS]
    valid = [record for record in half if record.status == "ok"]
    told = sum("day" in record.answer for record in valid)
    assert f"{told} of {len(valid)} valid answers tell their day." in some["Where people are"].caption  # fmt: skip


def lived(context):
    """To work at eight, to a place nearby at five, home at seven; whoever has no work stays at home."""
    life = Life(context["city"], context["profile"], context["simulation"])
    life.intend("sleep")
    for _ in range(life.steps):
        now = life.begin_tick()
        if life.work is not None and now.day == 0:
            near = context["city"].nearby(life.work, limit=5)[-1]["id"]
            aims = {"08:00": (life.work, "driving"), "17:00": (near, "walking"), "19:00": (life.home, "transit")}  # fmt: skip
            if now.clock in aims:
                life.go_to(*aims[now.clock])
                life.intend("work" if now.clock == "08:00" else "other")
        life.end_tick()
    return life.told()


def test_lived_days_have_all_figures_and_each_is_drawn(run):
    records = []
    for index in range(12):
        sample = run.dataset.sample(index)
        answer = run.benchmark.check(sample, lived(sample.context))
        records.append(Record("DailyMobility", str(sample.key), "ok", answer=answer))
    figures = {f.title: f for f in run.benchmark.figures(run.dataset, records, {"details": {}})}
    assert list(figures) == [*VALUES[:-1], *LIVED]
    for figure in figures.values():
        assert charts.checked(figure)
        assert marks(figure, "rect")
    realism, place = figures["Realism of the days"], run.dataset.position
    lengths = [
        np.hypot(*np.subtract(place(t["from"]), place(t["to"]))) / 1000
        for r in records
        for t in r.answer["day"]["trips"]
        if t["arrival"]
    ]
    bars = realism.data["trip_length"]
    below = np.sum(np.array(lengths) < bars["right"][0]) / len(lengths)
    assert bars["generated"][0] == pytest.approx(below, abs=1e-4)
    rows = np.array([[row[1] is None for row in r.answer["day"]["rows"][:96:2]] for r in records])
    shares = figures["Where people are"].data["on the way"]["share"]
    assert shares[:48] == pytest.approx(rows.mean(axis=0), abs=1e-4)
    trips = [trip for r in records for trip in r.answer["day"]["trips"]]
    hours = np.bincount([int(t["departure"] // 3600) for t in trips], minlength=24)
    found = figures["Trips by hour"].data["bars"]["trips"]
    assert found == pytest.approx(hours / len(records), abs=1e-4)
    arrived = [t for t in trips if t["arrival"] is not None]
    assert f"{len(arrived)} trips of lived days" in figures["Travel times by mode"].caption
    frames = figures["A day on the map"].picker.frames
    assert len(frames) == 12
    first = next(iter(frames.values()))
    assert first["places"]["kind"][:2] == ["home", "work"]


def test_a_report_of_lived_days_stays_small(run, tmp_path):
    """Long answers and routes in the page are bounded."""
    records = []
    for index in range(100):
        sample = run.dataset.sample(index)
        answer = run.benchmark.check(sample, lived(sample.context))
        for trip in answer["day"]["trips"]:  # as long as a route may be
            (x0, y0), (x1, y1) = trip["route"][0], trip["route"][-1]
            trip["route"] = [[round(x0 + (x1 - x0) * n / 39, 1), round(y0 + (y1 - y0) * n / 39, 1)] for n in range(40)]  # fmt: skip
        records.append(Record("DailyMobility", str(sample.key), "ok", answer=answer))
    path = tmp_path / "report.html"
    write_html(path, run.settings, run.dataset, run.scores, records)
    assert path.stat().st_size < 1_500_000


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
