"""The panel: plain JSON, both sides, floors, motifs, modes, groups, and its lines for people."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from benchmarks.days.test_realism import LEAVES, REFERENCE, SHOPS, STAYS, WORKS, lived

from pytest_agentbench.benchmarks.days import realism
from pytest_agentbench.benchmarks.days.realism import Realism, Reference
from pytest_agentbench.benchmarks.days.realism_panel import notes, panel


def test_values_of_both_sides_and_why_one_is_missing():
    found = panel(Realism([WORKS, LEAVES, None], REFERENCE), [{}] * 3)
    assert json.loads(json.dumps(found)) == found
    assert (found["people"], found["days_told"], found["days_lived"]) == (3, 2, 0)
    assert found["reference"] == {"name": "they", "people": 4, "note": ""}
    trips = found["values"]["trips"]
    assert (trips["real"], trips["generated"], trips["unit"]) == (2.0, 1.5, "")
    assert 0 < trips["jsd"] < 1
    assert found["values"]["trip_length"]["unit"] == "m"
    travel = found["values"]["travel_time"]
    assert (travel["jsd"], travel["generated"]) == (None, None)
    assert travel["reasons"] == {"jsd": realism.NOT_LIVED, "generated": realism.NOT_LIVED}


def test_the_floor_is_what_the_reference_itself_would_score():
    """Of many draws of two people: the mean over all draws, counted out one by one."""
    found = panel(Realism([WORKS, LEAVES], REFERENCE), [{}] * 2)
    people = REFERENCE.people
    every = [
        Realism([one, other], REFERENCE).estimate(None)["trips_jsd"]
        for one in people
        for other in people
    ]
    assert found["values"]["trips"]["floor"] == pytest.approx(np.mean(every), abs=0.04)
    assert "floor" not in panel(Realism([WORKS], None), [{}])["values"]["trips"]


def test_kinds_with_their_shares_the_frequent_first():
    reference = Reference("they", [*REFERENCE.people, lived(8, 20)], [{}] * 5)
    run = Realism([WORKS, LEAVES, lived(9, 30, "walking")], reference)
    found = panel(run, [{}] * 3)["distributions"]
    motifs = found["motifs"]
    assert motifs["kinds"] == ["0>1 1>0", "0>1", "0>1 0>2 1>0 2>0", "one place"]
    assert motifs["real"] == [2 / 5, 1 / 5, 1 / 5, 1 / 5]
    assert motifs["generated"] == pytest.approx([1 / 3, 2 / 3, 0, 0])
    assert motifs["jsd"] == run.estimate(None)["motifs_jsd"]
    assert found["trips"]["kinds"] == ["2", "1", "0", "4"]
    assert (found["modes"]["kinds"], found["modes"]["generated"]) == (
        ["driving", "walking"],
        [0, 1],
    )
    alone = panel(Realism([lived(9, 30)], REFERENCE), [{}])["distributions"]["modes"]
    assert (alone["real"], alone["generated"], alone["jsd"]) == (None, [1.0], None)


def test_more_than_twelve_kinds_end_in_the_rest():
    days = [{**WORKS, "trips": [n]} for n in range(15)]
    found = panel(Realism(days, None), [{}] * 15)["distributions"]["trips"]
    assert found["kinds"][-1] == "other"
    assert found["generated"] == pytest.approx([1 / 15] * 12 + [3 / 15])


def test_bars_have_one_width_and_the_last_holds_what_is_above():
    days = [{**WORKS, "trip_length": [float(n), 2.0 * n]} for n in range(51)]
    found = panel(Realism(days, REFERENCE), [{}] * 51)["distributions"]
    assert "travel_time" not in found  # nobody has any
    bars = found["trip_length"]
    assert (bars["title"], bars["unit"], len(bars["edges"])) == ("straight line of a trip", "m", 21)
    assert np.diff(bars["edges"]) == pytest.approx(bars["edges"][1])
    assert sum(bars["real"]) == pytest.approx(1.0)
    values = [value for one in days for value in one["trip_length"]]
    edges = bars["edges"]
    counts = [sum(low <= v < high for v in values) for low, high in itertools.pairwise(edges[:-1])]
    expected = [*counts, len(values) - sum(counts)]
    assert bars["generated"] == pytest.approx([count / len(values) for count in expected])


def test_groups_are_compared_with_the_same_group():
    reference = Reference(
        "they", [WORKS] * 10 + [SHOPS] * 12, [{"sex": "m"}] * 10 + [{"sex": "f"}] * 12
    )
    run = Realism([*[WORKS] * 10, *[LEAVES] * 3, None], reference)
    found = panel(run, [*[{"sex": "m"}] * 10, *[{"sex": "f"}] * 3, {"sex": "x"}])["groups"]
    assert list(found["sex"]) == ["m", "f"]  # who has told no day is in none
    assert found["sex"]["m"]["people"] == 10
    assert found["sex"]["m"]["values"]["trips_jsd"] == 0.0  # against men alone
    few = found["sex"]["f"]
    assert (few["people"], few["reference_people"]) == (3, 12)
    assert few["values"]["trips_generated"] == 1.0
    assert few["values"]["trips_real"] == 4.0
    assert not [name for name in few["values"] if name.endswith("_jsd")]  # too few to compare


def test_a_kind_that_divides_nobody_is_left_out():
    assert panel(Realism([WORKS, STAYS], None), [{"sex": "m"}] * 2)["groups"] == {}


def test_the_lines_say_whose_days_they_are():
    assert notes(Realism([WORKS, None, lived(8, 20)], REFERENCE)) == [
        "realism: days told by 2 of 3 people, 1 of them lived tick by tick",
        "realism: against they",
    ]
    assert notes(Realism([WORKS], None))[1] == (
        "realism: there is no reference population (scenario key reference)"
    )
    assert notes(Realism([None], REFERENCE)) == []
