"""Why a score is what it is, and what the truth itself would score."""

from __future__ import annotations

import json

import numpy as np
import pytest

from pytest_agentbench.base.plain import jsonable
from pytest_agentbench.benchmarks.daily_mobility import diagnostics, scoring
from pytest_agentbench.benchmarks.daily_mobility.population import Population
from pytest_agentbench.runs.record import Record


@pytest.fixture
def truth(load):
    return load("demo").truth


def people(truth, count=100, **changes):
    """Records of so many true people; the arrays are not in one order, which no score can see."""
    arrays = {**vars(truth), **changes}
    return [
        Record(
            "DailyMobility",
            f"user[{n}]",
            "ok",
            answer={k: v[n].tolist() for k, v in arrays.items()},
        )
        for n in range(count)
    ]


def test_the_parts_are_those_of_the_scores(truth):
    records = people(truth, 60)
    details = diagnostics.describe(truth, records)
    scores = scoring.score_run(truth, records)("documented", None)
    assert list(details["slots"])[:3] == ["00:00", "00:30", "01:00"]
    assert np.mean(list(details["slots"].values())) == pytest.approx(
        scores["jsd_intention_sequences"]
    )
    shares = [intention["jsd"] for intention in details["intentions"].values()]
    assert np.mean(shares) == pytest.approx(scores["jsd_intention_proportions"])
    assert jsonable(details) == details
    assert json.loads(json.dumps(details)) == details


def test_the_slot_that_differs_is_named(truth):
    codes = truth.intention_sequences.copy()
    codes[:, 30] = 6  # everybody eats out at three
    details = diagnostics.describe(truth, people(truth, 400, intention_sequences=codes))
    assert max(details["slots"], key=details["slots"].get) == "15:00"
    assert details["slots"]["14:30"] == 0.0
    assert details["notes"][1].startswith("furthest from the truth: 15:00 (")


def test_transitions_name_who_follows_whom():
    codes = np.array([[1] * 24 + [4] * 24, [1] * 24 + [4] * 24], np.uint8)
    other = codes.copy()
    other[0, 24:] = 2
    shares = np.full((2, 7), 1 / 7)
    true = Population(np.ones(2), np.ones(2), codes, shares)
    given = Population(np.ones(2), np.ones(2), other, shares)
    same = diagnostics.transitions(true, true)
    assert (same["jsd"], same["furthest"]) == (0.0, [])
    assert same["changes_a_day"] == {"truth": 1.0, "answers": 1.0}
    found = diagnostics.transitions(true, given)
    assert found["jsd"] > 0.1
    assert found["furthest"] == [
        {"from": "sleep", "to": "home activity", "truth_a_day": 0.0, "answers_a_day": 0.5},
        {"from": "sleep", "to": "work", "truth_a_day": 1.0, "answers_a_day": 0.5},
    ]


def test_quantiles_of_both_sides(truth):
    details = diagnostics.describe(truth, people(truth, 50, gyration_radius=np.arange(400.0)))
    median = details["radius_quantiles"]["q50"]
    assert median == {"truth": float(np.median(truth.gyration_radius)), "answers": 24.5}
    assert list(details["radius_quantiles"]) == ["q05", "q25", "q50", "q75", "q95"]


def test_the_ceiling_is_what_true_people_score(truth):
    ceiling = diagnostics.noise_ceiling(truth, 100)
    rng = np.random.default_rng(99)
    finals = {reading: [] for reading in scoring.READINGS}
    for _ in range(60):
        drawn = Population(**{k: v[rng.integers(0, len(v), 100)] for k, v in vars(truth).items()})
        estimate = scoring.score_population(truth, drawn)
        for reading, values in finals.items():
            values.append(estimate(reading, None)["final_score"])
    for reading, values in finals.items():
        final = ceiling[reading]["final_score"]
        spread = np.std(values) / np.sqrt(len(values)) + np.std(values) / np.sqrt(200)
        assert abs(final["value"] - np.mean(values)) < 4 * spread
        assert final["low"] < final["value"] < final["high"] <= 100.0
        assert final["low"] - 1 < min(values)
    assert 90 < ceiling["documented"]["final_score"]["value"] < 100


def test_the_ceiling_rises_with_the_number_of_people_and_is_the_same_every_time(truth):
    few, many = (
        diagnostics.noise_ceiling(truth, n)["documented"]["final_score"] for n in (20, 2000)
    )
    assert many["value"] > few["value"] + 1
    assert diagnostics.noise_ceiling(truth, 20)["documented"]["final_score"] == few


def test_the_ceiling_copes_with_arrays_of_different_lengths(truth):
    arrays = {**vars(truth), "gyration_radius": truth.gyration_radius[:10]}
    assert (
        diagnostics.noise_ceiling(Population(**arrays), 30)["documented"]["final_score"]["value"]
        > 80
    )


def test_notes_are_few_and_fit_a_terminal(truth):
    kilometres = truth.gyration_radius / 1000
    notes = diagnostics.describe(truth, people(truth, gyration_radius=kilometres))["notes"]
    assert len(notes) == 3
    assert all(len(note) <= 80 for note in notes)
    assert notes[0] == "noise ceiling of 100 people: 96.93 (95.92 .. 97.75), published-0.1.4 74.44"


@pytest.mark.parametrize(
    ("factor", "warned"),
    [
        (1.0, False),
        (1 / 20, False),
        (1 / 300, True),
        (1 / 1000, True),
        (1 / 5000, True),
        (1e-6, False),
        (50.0, False),
    ],
)
def test_radii_in_kilometres_are_named(truth, factor, warned):
    given = Population(**{**vars(truth), "gyration_radius": truth.gyration_radius * factor})
    warning = diagnostics.unit_warning(truth, given)
    assert (warning is not None) == warned
    if factor == 1 / 1000:
        assert warning == "warning: gyration_radius looks like km (median 3.11, truth 3115 m)"


def test_people_who_stay_at_home_are_no_kilometres(truth):
    home = Population(**{**vars(truth), "gyration_radius": np.zeros(400)})
    assert diagnostics.unit_warning(truth, home) is None


def test_without_valid_answers_there_is_nothing_to_describe(truth):
    assert diagnostics.describe(truth, [Record("DailyMobility", "user[1]", "error")]) == {}
