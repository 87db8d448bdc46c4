"""What is taken as an answer, and what is refused with which words."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_agentbench.base.errors import InvalidAnswer
from pytest_agentbench.benchmarks.daily_mobility.answers import check, gyration_radius
from pytest_agentbench.benchmarks.daily_mobility.benchmark import DailyMobility
from pytest_agentbench.city.map import City, Place

SEQUENCE = [1] * 14 + [2] * 4 + [4] * 18 + [7] * 4 + [2] * 6 + [1] * 2
VALUES = {
    "gyration_radius": 2500.5,
    "daily_location_numbers": 3.0,
    "intention_sequences": SEQUENCE,
    "intention_proportions": [SEQUENCE.count(code) / 48 for code in range(1, 8)],
}
CITY = City([Place(1, 0.0, 0.0), Place(2, 600.0, 800.0), Place("pub", 300.0, 0.0)])
VISITS = [
    {"start": "00:00", "place": 1, "intention": "sleep"},
    {"start": "07:00", "place": 1, "intention": "home activity"},
    {"start": "09:00", "place": 2, "intention": "work"},
    {"start": "18:00", "place": "pub", "intention": "leisure and entertainment"},
    {"start": "20:00", "place": 1, "intention": "home activity"},
    {"start": "23:00", "place": 1, "intention": "sleep"},
]


def changed(**values):
    return {**VALUES, **values}


def revisited(number, **values):
    return [{**visit, **values} if at == number else visit for at, visit in enumerate(VISITS)]


@pytest.mark.parametrize(
    "answer",
    [
        VALUES,
        {**VALUES, "comment": "ignored"},
        {name: np.array(value) for name, value in VALUES.items()},
        {**VALUES, "gyration_radius": np.float32(2500.5), "intention_sequences": tuple(SEQUENCE)},
        {**VALUES, "intention_sequences": [float(code) for code in SEQUENCE]},
    ],
    ids=["lists", "more keys", "arrays", "scalars", "whole floats"],
)
def test_four_values_in_any_form_become_plain(answer):
    checked = check(answer, None)
    assert checked == VALUES
    assert json.loads(json.dumps(checked)) == VALUES


def test_labels_stand_for_codes_and_unknown_ones_for_other():
    labels = ["Sleep", "EATING OUT", "daydreaming"] + ["work"] * 45
    checked = check(changed(intention_sequences=labels), None)
    assert checked["intention_sequences"][:4] == [1, 6, 3, 4]


def test_a_checked_answer_passes_again():
    checked = check(VISITS, CITY)
    assert check(checked, CITY) == checked
    assert check(json.loads(json.dumps(checked)), CITY) == checked


def test_where_no_city_can_place_it_the_values_pass_without_their_day():
    checked = check(VISITS, CITY)
    assert check(checked, None) == {name: checked[name] for name in VALUES}


def test_the_record_keeps_the_visits_with_their_seconds():
    visits = [
        {"start": 0, "place": 1, "intention": 1},
        {"start": "07:00:30", "place": (5, 7), "intention": "work"},
    ]
    checked = check(visits, CITY)
    assert checked["day"] == {"visits": [[0, 1, 1], [25230, [5.0, 7.0], 4]]}
    assert check(checked, CITY) == checked


def test_visits_give_the_four_values():
    checked = check(VISITS, CITY)
    assert checked["intention_sequences"] == SEQUENCE
    assert checked["intention_proportions"] == [16 / 48, 10 / 48, 0, 18 / 48, 0, 0, 4 / 48]
    assert checked["daily_location_numbers"] == 3.0  # each place once
    middle = (300.0, 800.0 / 3)
    apart = [math.dist(middle, point) for point in ((0, 0), (600, 800), (300, 0))]
    assert checked["gyration_radius"] == pytest.approx(
        sum(apart) / 3, rel=1e-15
    )  # the mean, no root


@pytest.mark.parametrize(
    "answer",
    [
        {"visits": VISITS},
        [
            {**visit, "start": number}
            for visit, number in zip(VISITS, (0, 14, 18, 36, 40, 46), strict=True)
        ],
        [{**v, "start": s} for v, s in zip(VISITS, np.array([0, 14, 18, 36, 40, 46]), strict=True)],
        [{**visit, "start": f"{visit['start']}:00"} for visit in VISITS],
        [{**visit, "place": CITY.place(visit["place"]).plain()} for visit in VISITS],
        [
            {**visit, "place": np.int64(visit["place"]) if visit["place"] != "pub" else "pub"}
            for visit in VISITS
        ],
        tuple(VISITS),
    ],
    ids=["wrapped", "slots", "numpy slots", "seconds", "whole places", "numpy ids", "tuple"],
)
def test_visits_in_any_form_are_the_same_day(answer):
    assert check(answer, CITY) == check(VISITS, CITY)


def test_an_intention_holds_from_the_next_slots_start():
    visits = [
        {"start": "00:00", "place": 1, "intention": 1},
        {"start": "00:10", "place": 2, "intention": 4},  # over before a slot begins
        {"start": "00:20", "place": 1, "intention": 2},
        {"start": "01:00", "place": 1, "intention": "nonsense"},
    ]
    checked = check(visits, CITY)
    assert checked["intention_sequences"] == [1, 2] + [3] * 46
    assert checked["daily_location_numbers"] == 2.0  # visited all the same


def test_positions_are_places_too():
    visits = [
        {"start": 0, "place": (0.0, 0.0), "intention": 1},
        {"start": 20, "place": [600, 800], "intention": 4},
        {"start": 30, "place": np.array([0.0, 0.0]), "intention": 1},
    ]
    checked = check(visits, CITY)
    assert (checked["gyration_radius"], checked["daily_location_numbers"]) == (500.0, 2.0)


@given(st.lists(st.tuples(st.floats(-1e5, 1e5), st.floats(-1e5, 1e5)), min_size=1, max_size=8))
def test_the_radius_is_the_mean_distance_from_the_centroid(points):
    array = np.array(points)
    expected = np.hypot(*(array - array.mean(axis=0)).T).mean()
    assert gyration_radius(points) == pytest.approx(expected, rel=1e-9, abs=1e-7)


DOCUMENTS_EXAMPLE = {
    "gyration_radius": 2.5,
    "daily_location_numbers": 5,
    "intention_sequences": [1, 2, 3, 1],
    "intention_proportions": [0.3, 0.2, 0.5],
}


def test_the_documents_own_example_is_told_what_the_data_have():
    with pytest.raises(InvalidAnswer) as error:
        check(DOCUMENTS_EXAMPLE, CITY)
    assert str(error.value) == (
        "expected intention_sequences as 48 intentions, one a half hour from midnight on (the data "
        "have 48 slots a day and codes 1 to 7), got 4 values"
    )
    with pytest.raises(InvalidAnswer) as error:
        check({**DOCUMENTS_EXAMPLE, "intention_sequences": SEQUENCE}, CITY)
    assert str(error.value) == (
        "expected intention_proportions as 7 shares of the day, one an intention (sleep, home "
        "activity, other, work, shopping, eating out, leisure and entertainment), got 3 values"
    )


FOUR = "gyration_radius, daily_location_numbers, intention_sequences, intention_proportions"


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, f"expected the four values {{{FOUR}}}, or visits ["),
        (None, ", …], or a lived day {step, rows, trips, roads}, got None"),
        ("home", ", …], or a lived day {step, rows, trips, roads}, got 'home'"),
        ([], ", …], or a lived day {step, rows, trips, roads}, got []"),
        ({}, ", roads}, got nothing (no gyration_radius, daily_location_numbers, "),
        ({**VALUES, "intention_sequences": None}, " (no intention_sequences)"),
        (
            changed(gyration_radius=math.nan),
            "expected gyration_radius in metres as a finite number of at least 0, got nan",
        ),
        (changed(gyration_radius=-1), "at least 0, got -1"),
        (changed(gyration_radius=10**400), "at least 0, got an integer of 1329 bits"),
        (changed(gyration_radius="2 km"), "at least 0, got '2 km'"),
        (changed(gyration_radius=True), "at least 0, got True"),
        (
            changed(daily_location_numbers=math.inf),
            "expected daily_location_numbers, how many places are visited in a day, as a finite "
            "number of at least 0, got inf",
        ),
        (changed(intention_sequences="1" * 48), "48 slots a day and codes 1 to 7), got '1111"),
        (
            changed(intention_sequences=[*SEQUENCE[:-1], 8]),
            "expected a code 1 to 7 or a label as the intention in slot 47 of intention_sequences, got 8",
        ),
        (
            changed(intention_sequences=[0, *SEQUENCE[1:]]),
            "in slot 0 of intention_sequences, got 0",
        ),
        (
            changed(intention_sequences=[1.5, *SEQUENCE[1:]]),
            "in slot 0 of intention_sequences, got 1.5",
        ),
        (
            changed(intention_sequences=[True, *SEQUENCE[1:]]),
            "slot 0 of intention_sequences, got True",
        ),
        (
            changed(intention_proportions=[0.5, 0.5, 0.1, 0, 0, 0, 0]),
            "expected intention_proportions that sum to 1 (within 0.01), got [0.5, 0.5, 0.1, 0.0, 0.0, "
            "0.0, 0.0], which sum to 1.1",
        ),
        (
            changed(intention_proportions=[1.5, -0.5, 0, 0, 0, 0, 0]),
            "expected a share from 0 to 1 for sleep in intention_proportions, got 1.5",
        ),
        (
            changed(intention_proportions=[0.5, math.nan, 0, 0, 0, 0, 0]),
            "expected a share from 0 to 1 for home activity in intention_proportions, got nan",
        ),
        ([7], "expected start, place, intention in visit 0, got 7"),
        (revisited(2, place=None), "expected start, place, intention in visit 2, got {"),
        (
            revisited(0, start="07:30"),
            "expected visit 0 to start at \"00:00\" (slot 0), where the day begins, got '07:30'",
        ),
        (
            revisited(3, start="09:00"),
            "expected visits in the order of time: visit 3 to start after visit 2 ('09:00'), got '09:00'",
        ),
        (revisited(3, start=3), "visit 3 to start after visit 2 ('09:00'), got 3"),
        (
            revisited(5, start="24:00"),
            'expected start of visit 5 as a time "00:00" to "23:59" or a slot 0 to 47, got \'24:00\'',
        ),
        (revisited(5, start=48), "a slot 0 to 47, got 48"),
        (revisited(5, start=46.5), "a slot 0 to 47, got 46.5"),
        (revisited(5, start=math.nan), "a slot 0 to 47, got nan"),
        (revisited(5, start=math.inf), "a slot 0 to 47, got inf"),
        (revisited(5, start="noon"), "a slot 0 to 47, got 'noon'"),
        (
            revisited(1, place=99),
            "expected place of visit 1 as the id of a place of the city or a position (x, y), got 99",
        ),
        (revisited(1, place=True), "or a position (x, y), got True"),
        (revisited(1, place=(0, math.nan)), "or a position (x, y), got (0, nan)"),
        (revisited(1, place=(1, 2, 3)), "or a position (x, y), got (1, 2, 3)"),
        (
            revisited(1, intention=9),
            "expected a code 1 to 7 or a label as the intention in visit 1, got 9",
        ),
        (revisited(1, intention=" "), "the intention in visit 1, got ' '"),
    ],
)
def test_what_cannot_be_scored_is_refused_with_what_was_expected(answer, message):
    with pytest.raises(InvalidAnswer) as error:
        check(answer, CITY)
    assert message in str(error.value)


def test_shares_rounded_to_two_digits_pass_unchanged():
    shares = [0.33, 0.33, 0.33, 0.0, 0.0, 0.0, 0.0]
    assert check(changed(intention_proportions=shares), None)["intention_proportions"] == shares


def test_visits_without_a_city_are_refused_and_the_reason_told(folder, load):
    dataset = load(folder(places=None))
    with pytest.raises(InvalidAnswer) as error:
        DailyMobility().check(dataset.sample(0), VISITS)
    assert str(error.value) == (
        f"expected the four values {{{FOUR}}}: visits cannot be scored without a city (there is no map "
        f"(*.pb) and none of places.parquet, places.csv, places.json in {dataset_folder(dataset)}), "
        "got 6 visits"
    )
    assert DailyMobility().check(dataset.sample(0), VALUES) == VALUES


def dataset_folder(dataset):
    return dataset.sample(0).truth.source.rpartition(" in ")[2]


def test_the_check_keeps_to_the_city_of_the_data(folder, load):
    sample = load(folder()).sample(0)
    sample.context["city"]["places"].append({"id": 99, "x": 0, "y": 0, "category": ""})
    with pytest.raises(InvalidAnswer, match="place of visit 0"):
        DailyMobility().check(sample, [{"start": 0, "place": 99, "intention": 1}])


class Stranger:
    def tolist(self):
        raise RuntimeError("no")


def test_an_object_that_fails_to_unpack_is_an_invalid_answer():
    with pytest.raises(InvalidAnswer, match=r"got Stranger \(no\)"):
        check(Stranger(), CITY)
