"""Lived days of HurricaneMobility: when people set out, by their trips, and what stands in the details."""

from __future__ import annotations

import json

import pytest
from benchmarks.hurricane_mobility.hurricane_parts import (
    BENCHMARK,
    DOCUMENTED,
    READING,
    load,
    record,
)
from benchmarks.lived_days import PLACES, day, trip

from pytest_agentbench.benchmarks.hurricane_mobility.answers import HOURLY, TOTALS
from pytest_agentbench.benchmarks.hurricane_mobility.set_out import departures

HOME, WORK, SHOP, _ = (place.id for place in PLACES)
HOUR, DAY = 3600, 86400


@pytest.fixture
def dataset(folder):
    path = folder(profiles=[{"id": n, "home": HOME, "work": WORK} for n in range(4)])
    (path / "places.json").write_text(json.dumps([place.plain() for place in PLACES]))
    return load(path)


def quick(*trips, rows=((144, HOME, None),)):
    """Days of trips that are over before the next row is kept."""
    return day(1800, list(rows), trips=list(trips))


BUSY = quick(
    trip(8 * HOUR, 8 * HOUR + 600, HOME, WORK),
    trip(17 * HOUR, None, WORK, SHOP),
    trip(17 * HOUR + 60, 17 * HOUR + 600, None, HOME, mode="walking"),  # the same trip goes on
    trip(DAY + 9 * HOUR, DAY + 9 * HOUR + 300, HOME, WORK),
    trip(2 * DAY + 100, 2 * DAY + 200, WORK, HOME),
    trip(2 * DAY + 300, 2 * DAY + 400, HOME, SHOP),
    trip(2 * DAY + 500, 2 * DAY + 600, SHOP, HOME),
)


def hours(**counts):
    return [float(counts.get(f"h{hour}", 0)) for hour in range(24)]


def test_people_set_out_with_their_trips(dataset):
    checked = BENCHMARK.check(dataset.sample(0), BUSY)
    assert checked[HOURLY] == [hours()] * 3  # no row saw them on the way, nor elsewhere
    assert checked[TOTALS] == [0.0] * 3
    # nobody sets out more than twice an hour
    assert departures(checked) == [hours(h8=1, h17=1), hours(h9=1), hours(h0=2)]
    plain = {TOTALS: [1.0] * 3, HOURLY: [hours(h5=1)] * 3}
    assert departures(plain) == plain[HOURLY]


def test_the_documented_reading_counts_trips_and_the_published_one_rows(dataset):
    """Half as many during as before, nine tenths after; all trips at one, within a tick."""

    def person(before, during, after):
        trips = [
            trip(number * DAY + hour * HOUR, number * DAY + hour * HOUR + 60, *ends)
            for number, count in enumerate((before, during, after))
            for hour, ends in zip(range(count), [(HOME, WORK), (WORK, HOME)] * 9, strict=False)
        ]
        return BENCHMARK.check(dataset.sample(0), quick(*trips))

    people = [person(10, 4, 9), person(10, 6, 9)]
    records = [record(f"user[{n}]", answer) for n, answer in enumerate(people)]
    estimate = BENCHMARK.score_run(dataset, records)
    assert estimate(DOCUMENTED, None)["change_rate_score"] == pytest.approx(100.0, abs=1e-5)
    absent = estimate(READING, None)["change_rate_score"]
    assert absent.reason == "no trips before the hurricane: changes are relative to them"


def test_details_have_the_hours_of_both_sides_and_the_days(dataset):
    records = [
        record("user[0]", BENCHMARK.check(dataset.sample(0), BUSY)),
        record("user[1]", {TOTALS: [1.0] * 3, HOURLY: [hours(h5=1)] * 3}),
        record("user[2]", None),
    ]
    details = BENCHMARK.describe(dataset, records)
    assert details["trips_by_hour"]["before"] == {
        "answers": hours(h5=1, h8=1, h17=1),
        "truth": [0.0, 1.0] * 12,
    }
    assert details["trips"] == {"before": 3.0, "during": 2.0, "after": 3.0}
    found = details["realism"]
    assert (found["people"], found["days_told"], found["days_lived"]) == (3, 1, 1)
    assert found["reference"] is None
    assert found["values"]["trips"] == {"unit": "", "generated": 2.0}
    assert found["values"]["travel_time"]["generated"] == pytest.approx(
        (10 + 10 + 5 + 100 / 60 * 3) / 6
    )
    assert found["days"]["during"]["trips"]["generated"] == 1.0
    assert found["days"]["after"]["trips"]["generated"] == 3.0
    assert found["days"]["during"]["return_home"]["generated"] == 0.0  # spent the night at work
    assert found["distributions"]["modes"]["kinds"] == ["driving", "walking"]
    assert json.loads(json.dumps(details)) == details


def test_answers_without_days_have_no_such_details(dataset):
    records = [record("user[1]", {TOTALS: [1.0] * 3, HOURLY: [hours(h5=1)] * 3})]
    assert "realism" not in BENCHMARK.describe(dataset, records)
