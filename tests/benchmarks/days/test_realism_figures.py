"""The realism panel: what is drawn is what both populations have."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from benchmarks.drawn import axis_labels, marks
from benchmarks.lived_days import CITY, HOME, PUB, SHOP, WORK, day
from benchmarks.told_people import LIVED, VISITS, People, records

from pytest_agentbench.benchmarks.days import realism_figures
from pytest_agentbench.benchmarks.days.day_facts import facts
from pytest_agentbench.benchmarks.days.realism import Reference
from pytest_agentbench.benchmarks.days.told_days import read_people

STILL = day(900, [(101, HOME, "sleep")])
DETAILS = {"realism": {"values": {
    "trips": {"jsd": 0.125, "floor": 0.0312, "real": 2.0, "generated": 1.0},
    "trip_length": {"jsd": 0.5, "real": 1.0, "generated": 2.0},
    "return_home": {"jsd": 0.0, "real": 0.75, "generated": 1.0},
}}}  # fmt: skip


def panel(generated, real, details=DETAILS, note=""):
    dataset = People(len(generated))
    told = read_people(dataset, records(*generated), position=CITY.position)
    people = [facts(one, HOME, CITY.position) for one in real]
    reference = Reference("ten real people", people, [{}] * len(people), note) if real else None
    return realism_figures.realism(told, reference, details)


def test_histograms_are_shares_of_the_pooled_values_of_each_side():
    made = panel([LIVED, STILL], [VISITS, VISITS, LIVED])
    bars = made.data["dwell_time"]
    assert len(bars["left"]) == realism_figures.BINS
    for name, days in (("real", [VISITS, VISITS, LIVED]), ("generated", [LIVED, STILL])):
        hours = [value for one in days for value in facts(one, HOME, CITY.position)["dwell_time"]]
        assert sum(bars[name]) == pytest.approx(1, abs=1e-4)
        mean = np.dot(np.add(bars["left"], bars["right"]) / 2, bars[name])
        assert mean == pytest.approx(np.mean(hours), abs=bars["right"][0] / 2)
    departures = made.data["first_departure"]
    assert (departures["left"][0], departures["right"][-1]) == (0.0, 24.0)
    assert (departures["real"][8], departures["real"][9]) == (
        0.33333,
        0.66667,
    )  # at 8:00 and at 9:00
    assert departures["generated"][8] == 1.0  # who stays at home never leaves


def test_lengths_are_in_kilometres_and_long_ones_are_in_the_last_bar():
    far = {**LIVED, "trips": [*LIVED["trips"]]}
    made = panel([far] * 200, [VISITS])
    bars = made.data["trip_length"]
    assert bars["right"][-1] == pytest.approx(1.0, rel=0.02)  # 1,000 m between home and work
    assert sum(bars["generated"]) == pytest.approx(1, abs=1e-3)


def test_kinds_are_rows_and_numbers_stand_in_their_order():
    made = panel([LIVED, STILL, STILL, STILL], [VISITS])
    rows = made.data["trips"]
    assert list(zip(*rows.values(), strict=True)) == [("0", 0.0, 0.75), ("3", 1.0, 0.25)]
    assert set(made.data["motifs"]["kind"]) == {"one place", "A→B B→C C→A"}
    assert len(marks(made, "rect")) == 2 * (realism_figures.BINS * 4 + 2 + 2)  # both sides
    trips = [text for text in marks(made, "rect") if "Trips a day: 3" in text]
    assert all(text.endswith("real: 100.0%; generated: 25.0%") for text in trips)
    assert len(trips) == 2


def test_only_what_both_sides_have_is_drawn():
    visits = panel([LIVED], [VISITS])
    assert list(visits.data) == ["trip_length", "dwell_time", "first_departure", "last_departure", "trips", "motifs"]  # fmt: skip
    lived = panel([LIVED], [LIVED])
    assert list(lived.data) == [
        "trip_length", "travel_time", "dwell_time", "first_departure", "last_departure", "on_the_way",
        "trips", "motifs", "modes",
    ]  # fmt: skip
    assert lived.data["modes"] == {
        "kind": ["cycling", "driving", "walking"],
        "real": [0.33333] * 3,
        "generated": [0.33333] * 3,
    }
    assert list(panel([STILL], [STILL]).data) == ["on_the_way", "trips", "motifs"]
    assert panel([LIVED], []) is None
    assert panel([None], [LIVED]) is None


def test_divergences_and_the_noise_are_those_of_the_run():
    made = panel([LIVED], [LIVED])
    under = {chart["data"]["name"]: chart["title"]["subtitle"] for chart in made.charts}
    assert under["trips"] == "divergence 0.12, noise 0.03"
    assert under["trip_length"] == "divergence 0.50"
    assert under["motifs"] == ""
    assert "against ten real people (blue). The last bar" in made.caption
    noted = panel([LIVED], [LIVED], note="Synthetic: nobody is real.")
    assert "(blue), which says of itself: Synthetic: nobody is real. The last bar" in noted.caption
    assert "Days that end at home: 75% real, 100% generated." in made.caption
    assert "Days that end" not in panel([LIVED], [LIVED], {}).caption


@pytest.mark.parametrize(
    ("motif", "words"),
    [
        ("0>1 1>0", "A⇄B"),
        ("0>1 1>2 2>0", "A→B B→C C→A"),
        ("0>1 0>2 1>0 2>0", "A⇄B A⇄C"),
        ("one place", "one place"),
        ("more than 6 places", "more than 6 places"),
    ],
)
def test_a_motif_as_people_read_it(motif, words):
    assert realism_figures.graph(motif) == words


def test_only_the_most_frequent_kinds_are_shown():
    many = {f"kind {n}": n + 1 for n in range(20)}
    counter = realism_figures.Counter(many)
    rows = realism_figures._rows("modes", counter, counter)
    assert rows["kind"] == [f"kind {n}" for n in range(19, 11, -1)]


def test_labels_of_shares_are_evenly_spaced_beside_long_names():
    long = day(900, [(20, HOME, None), (20, WORK, None), (20, PUB, None), (20, SHOP, None), (21, HOME, None)])  # fmt: skip
    made = panel([LIVED, STILL], [long, STILL])
    (chart,) = (one for one in made.charts if one["data"]["name"] == "motifs")
    alone = replace(made, charts=[{**chart, "width": 160}], data={"motifs": made.data["motifs"]})
    labels = [text for text in axis_labels(alone) if text.endswith("%")]
    assert labels == ["0%", "20%", "40%"]  # with a label every 10%, one of them had no room
