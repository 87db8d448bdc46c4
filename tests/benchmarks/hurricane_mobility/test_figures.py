"""The figures of HurricaneMobility: their numbers, found again by other means."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.drawn import made, marks
from benchmarks.hurricane_mobility.hurricane_parts import BENCHMARK, arrays, load, record
from html_runs import HURRICANE

from pytest_agentbench.benchmarks.hurricane_mobility.data import PERIODS
from pytest_agentbench.city.life import Life
from pytest_agentbench.runs.record import Record

PLAIN = ["Trips by hour", "Trips against the day before the hurricane"]


@pytest.fixture(scope="module")
def run(demo_run):
    return demo_run(HURRICANE)


def test_its_figures_without_days(run):
    assert list(made(run)) == PLAIN


def test_without_a_valid_answer_there_is_nothing_to_plot(run):
    failed = [Record(r.benchmark, r.sample, "error", error="x") for r in run.records]
    assert list(run.benchmark.figures(run.dataset, failed, run.scores.as_json())) == []


def test_hours_are_shares_of_the_trips_of_each_day(run):
    figure = made(run)["Trips by hour"]
    assert tuple(figure.data) == PERIODS
    generated = sum(np.array(r.answer["hourly_travel_times"]) for r in run.records if r.status == "ok")  # fmt: skip
    for number, period in enumerate(PERIODS):
        columns = figure.data[period]
        real = run.dataset.truth.hourly[number]
        assert columns["real"][:24] == pytest.approx(real / real.sum(), abs=1e-4)
        own = generated[number]
        assert columns["generated"][:24] == pytest.approx(own / own.sum(), abs=1e-4)
        assert columns["generated"][24] == columns["generated"][23]  # the end of the last step
    assert [chart["title"] for chart in figure.charts] == [f"{p} the hurricane" for p in PERIODS]
    assert len(marks(figure, "line")) == 3
    hours = [text for text in marks(figure, "rect") if text.startswith("hour of the day: 8;")]
    assert len(hours) == 3
    assert f"real: {figure.data['before']['real'][8]:.1%}" in hours[0]


def test_days_are_percent_of_the_day_before_and_agree_with_the_details(run):
    figure = made(run)["Trips against the day before the hurricane"]
    days = figure.data["days"]
    percent = {(p, w): v for p, w, v in zip(days["period"], days["which"], days["percent"], strict=True)}  # fmt: skip
    changes = run.scores.as_json()["details"]["changes"]
    for period, name in (("during", "during_vs_before"), ("after", "after_vs_before")):
        assert percent[period, "generated"] == pytest.approx(100 + changes[name]["answers"])
        assert percent[period, "real"] == pytest.approx(100 + changes[name]["truth"])
        assert f"{period} {changes[name]['answers']:+.1f}% (real {changes[name]['truth']:+.1f}%)" in figure.caption  # fmt: skip
    assert percent["before", "real"] == percent["before", "generated"] == 100
    trips = run.scores.as_json()["details"]["trips"]
    assert f"Generated trips: {trips['before']:,.0f} before" in figure.caption
    labels = [text.split("label: ")[1].split(";")[0] for text in marks(figure, "text")]
    assert labels == days["label"]


def test_without_trips_before_there_is_no_change_to_show():
    dataset = load(items="user")
    key = str(dataset.keys[0])
    figures = BENCHMARK.figures(dataset, [record(key, arrays(0, 2, 1))], {})
    assert [figure.title for figure in figures] == ["Trips by hour"]
    assert figures[0].data["before"]["generated"] == [0.0] * 25


def test_a_population_that_is_one_item_has_its_figures():
    dataset = load(items="population")
    figures = BENCHMARK.figures(dataset, [record("population[all]", arrays(40, 20, 30))], {})
    assert [figure.title for figure in figures] == PLAIN
    assert figures[1].data["days"]["percent"][3::2] == [50.0, 75.0]


def lived(context):
    """To work and back on the days without a hurricane."""
    life = Life(context["city"], context["profile"], context["simulation"])
    for _ in range(life.steps):
        now = life.begin_tick()
        if now.day != 1 and life.work is not None and now.clock in ("08:00", "17:00"):
            life.go_to(life.work if now.clock == "08:00" else life.home)
        life.end_tick()
    return life.told()


def test_lived_days_have_maps_and_travel_times():
    dataset = load(items="user")
    records = []
    for index in range(6):
        sample = dataset.sample(index)
        answer = BENCHMARK.check(sample, lived(sample.context))
        records.append(record(str(sample.key), answer))
    figures = {one.title: one for one in BENCHMARK.figures(dataset, records, {})}
    assert list(figures) == [
        *PLAIN, "Share of the day on the way", "A day on the map", "Where people are",
        "Travel times by mode",
    ]  # fmt: skip
    worker = next(r for r in records if len(r.answer["day"]["trips"]) == 4)
    label = next(name for name in figures["A day on the map"].picker.frames if name.startswith(f"{worker.sample} "))  # fmt: skip
    frames = figures["A day on the map"].picker.frames[label]
    assert {name: len(frame["trips"]["trip"]) for name, frame in frames.items()} == {"before": 2, "during": 0, "after": 2}  # fmt: skip
    at_home = figures["Where people are"].data["at home"]
    during = [share for share, day in zip(at_home["share"], at_home["day"], strict=True) if day == "during"]  # fmt: skip
    assert set(during) == {1.0}
    minutes = [t["arrival"] - t["departure"] for r in records for t in r.answer["day"]["trips"]]
    assert f"{len(minutes)} trips of lived days" in figures["Travel times by mode"].caption
    share = sum(minutes) / len(records) / 3 / 86_400
    assert f"On average {share:.1%}" in figures["Share of the day on the way"].caption
