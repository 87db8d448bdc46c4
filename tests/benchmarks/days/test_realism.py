"""The reading realism: values by hand, SciPy's divergence as oracle, resamples, and what is absent."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.lived_days import CITY, HOME, PUB, SHOP, WORK, day, trip
from scipy.spatial.distance import jensenshannon

from pytest_agentbench.benchmarks.days import realism
from pytest_agentbench.benchmarks.days.day_facts import facts
from pytest_agentbench.benchmarks.days.realism import METRICS, Realism, Reference
from pytest_agentbench.metrics.estimator import Absent

HOUR = 3600


def told(*stops):
    """The facts of a day told as visits: (hour, place)."""
    return facts(
        {"visits": [[hour * HOUR, place, 1] for hour, place in stops]}, HOME, CITY.position
    )


def lived(leaves, minutes, mode="driving"):
    """The facts of a day with one trip to work."""
    trips = [trip(leaves * HOUR, leaves * HOUR + 60 * minutes, HOME, WORK, mode=mode)]
    return facts(day(900, [(96, HOME, None)], trips=trips), HOME, CITY.position)


STAYS = told((0, HOME))
WORKS = told((0, HOME), (9, WORK), (17, HOME))
SHOPS = told((0, HOME), (10, SHOP), (12, HOME), (20, PUB), (23, HOME))
LEAVES = told((0, HOME), (8, WORK))
REFERENCE = Reference("they", [WORKS, WORKS, SHOPS, STAYS], [{}] * 4)


def test_means_by_hand():
    found = Realism([WORKS, LEAVES, None], REFERENCE).estimate(None)
    assert found["days_told"] == pytest.approx(2 / 3)
    assert found["trips_generated"] == 1.5
    assert found["trips_real"] == 2.0
    assert found["trip_length_generated"] == 1000.0
    assert found["dwell_time_generated"] == 8.0
    assert found["dwell_time_real"] == pytest.approx((8 + 8 + 2 + 8 + 3) / 5)
    assert (found["first_departure_generated"], found["last_departure_generated"]) == (8.5, 12.5)
    assert (found["return_home_generated"], found["return_home_real"]) == (0.5, 1.0)


def test_divergences_are_scipys_in_the_bins_of_the_reference():
    found = Realism([WORKS, LEAVES, SHOPS], REFERENCE).estimate(None)

    def expected(real, generated):
        return pytest.approx(float(jensenshannon(real, generated, base=2)) ** 2, abs=1e-12)

    # Trips a day: 0, 2, 4, and what the reference does not have.
    assert found["trips_jsd"] == expected([1, 2, 1, 0], [0, 1, 1, 1])
    # Motifs: there and back, home in the middle, one place; there alone is none of the reference's.
    assert found["motifs_jsd"] == expected([2, 1, 1, 0], [1, 1, 0, 1])
    assert found["return_home_jsd"] == expected([4, 0], [2, 1])
    # Eight trips, two bins: the median of 300, 300, 54.3, 54.3 and four of 1000 lies at 650.
    assert found["trip_length_jsd"] == expected([4, 4], [4, 3])


def test_the_same_people_diverge_by_nothing():
    found = Realism(REFERENCE.people, REFERENCE).estimate(None)
    assert {found[name] for name in found if name.endswith("_jsd") and name in KNOWN} == {0.0}


KNOWN = {f"{name}_jsd" for name in (
    "trip_length", "dwell_time", "trips", "motifs", "first_departure", "last_departure", "return_home",
)}  # fmt: skip


def test_who_never_leaves_is_far_from_those_who_do():
    found = Realism([STAYS, STAYS], REFERENCE).estimate(None)
    assert found["trip_length_jsd"] == found["dwell_time_jsd"] == 1.0
    assert found["trip_length_generated"] == Absent(realism.NOBODY)
    assert found["trips_generated"] == 0.0


def test_resamples_are_the_people_they_repeat():
    rng = np.random.default_rng(3)
    people = [WORKS, LEAVES, None, SHOPS, STAYS, lived(8, 30), lived(9, 10, "walking")]
    reference = Reference("they", [*REFERENCE.people, lived(7, 20)], [{}] * 5)
    sequences = rng.integers(0, 7, (7, 48)).astype(np.uint8)
    sequences[2] = 255
    true = rng.integers(0, 7, (9, 48)).astype(np.uint8)
    run = Realism(people, reference, sequences, true, 7)
    weights = rng.integers(0, 3, (12, 7)).astype(float)
    weights[:, 5] += 1  # somebody who lived a day, made a trip and stayed nowhere
    found = run.estimate(weights)
    for number, row in enumerate(weights):
        drawn = [n for n, times in enumerate(row) for _ in range(int(times))]
        alone = Realism([people[n] for n in drawn], reference, sequences[drawn], true, 7).estimate(
            None
        )
        for metric, value in alone.items():
            if isinstance(value, Absent):
                assert np.isnan(found[metric][number])
            else:
                each = np.broadcast_to(np.asarray(found[metric]), len(weights))
                assert each[number] == pytest.approx(value, abs=1e-12), metric


def test_a_part_is_those_people_alone():
    people = [WORKS, LEAVES, None, SHOPS]
    part = Realism(people, REFERENCE).part(np.array([True, False, True, True]))
    assert part.estimate(None) == Realism([WORKS, None, SHOPS], REFERENCE).estimate(None)


def test_travel_times_and_modes_are_those_of_lived_days():
    reference = Reference("they", [lived(8, 20), lived(9, 40, "walking")], [{}] * 2)
    found = Realism([lived(8, 30), WORKS], reference).estimate(None)
    assert (found["travel_time_generated"], found["travel_time_real"]) == (30.0, 30.0)
    assert found["on_the_way_generated"] == pytest.approx(0.5 / 24)
    assert found["modes_jsd"] == pytest.approx(
        float(jensenshannon([1, 1, 0], [1, 0, 0], base=2)) ** 2
    )


def test_transitions_are_compared_with_the_truth_without_any_reference():
    """Two changes against four, in bins of ordered pairs; staying is no transition."""
    asleep, up = [0] * 16, [1] * 16
    sequences = np.array([asleep + up + asleep], np.uint8)
    true = np.array([asleep + up + asleep, up + [2] * 16 + up], np.uint8)
    found = Realism([None], None, sequences, true, 7).estimate(None)
    assert found["transitions_jsd"] == pytest.approx(
        float(jensenshannon([1, 1, 1, 1], [1, 1, 0, 0], base=2)) ** 2
    )
    assert (found["intention_changes_generated"], found["intention_changes_real"]) == (2.0, 2.0)


def test_what_is_missing_says_why():
    nobody = Realism([None, None], REFERENCE).estimate(None)
    assert nobody["days_told"] == 0.0
    assert nobody["trips_generated"] == nobody["trips_jsd"] == Absent(realism.NO_DAYS)
    alone = Realism([WORKS], None).estimate(None)
    assert alone["trips_jsd"] == Absent(realism.NO_REFERENCE)
    assert "trips_real" not in alone
    assert alone["travel_time_generated"] == Absent(realism.NOT_LIVED)
    visits = Realism([lived(8, 20)], REFERENCE).estimate(None)
    assert visits["travel_time_jsd"] == Absent(realism.REFERENCE_NOT_LIVED)
    assert visits["travel_time_generated"] == 20.0
    empty = Realism([], REFERENCE).estimate(None)
    assert set(empty.values()) == {Absent("no records")}
    none = Realism([None], None, np.full((1, 48), 255), np.zeros((3, 48), int), 7).estimate(None)
    assert none["transitions_jsd"] == Absent("no valid answer")


def test_every_metric_is_in_the_table_and_within_its_range():
    reference = Reference("they", [*REFERENCE.people, lived(7, 20)], [{}] * 5)
    codes = np.zeros((2, 48), np.uint8)
    codes[:, 20:] = 3
    found = Realism([WORKS, lived(8, 30)], reference, codes, codes, 7).estimate(None)
    assert list(found) == [metric.name for metric in METRICS]
    for metric in METRICS:
        assert metric.low <= found[metric.name] <= (np.inf if metric.high is None else metric.high)


def test_a_group_of_the_reference_is_its_own_people():
    reference = Reference("they", [WORKS, SHOPS], [{"gender": "male"}, {"gender": "female"}])
    assert list(reference.of("gender", "female").people) == [SHOPS]
    assert not reference.of("age", "under 25").people
