"""The four values of a lived day: by hand, and by the published rules written out again."""

from __future__ import annotations

import json
import math

import pytest
from benchmarks.lived_days import CITY, HOME, PUB, SHOP, WORK, day, random_days, trip
from hypothesis import assume, given

from pytest_agentbench.base.errors import InvalidAnswer
from pytest_agentbench.benchmarks.daily_mobility.answers import check

# 28 rows asleep (to 7:00), 6 at home (to 8:30), 2 on the way, 36 at work (9:00 to 18:00), a shop, home.
BY_HAND = day(
    900,
    [
        (28, HOME, "sleep"), (6, HOME, "home activity"), (2, None, "work"), (36, WORK, "work"),
        (1, None, "shopping"), (3, SHOP, "shopping"), (1, None, "home activity"),
        (15, HOME, "home activity"), (9, HOME, "sleep"),
    ],
    trips=[
        trip(30300, 32300, HOME, WORK), trip(64400, 65600, WORK, SHOP, mode="walking"),
        trip(68300, 68500, SHOP, HOME),
    ],
)  # fmt: skip


def test_a_day_computed_by_hand():
    checked = check(BY_HAND, CITY)
    # Row 2k is at the start of half hour k: 14 slots asleep, 3 at home, 1 + 18 at work ...
    sequence = [1] * 14 + [2] * 3 + [4] * 19 + [5] * 2 + [2] * 8 + [1] * 2
    assert checked["intention_sequences"] == sequence
    shares = [16 / 48, 11 / 48, 0, 19 / 48, 2 / 48, 0, 0]
    assert checked["intention_proportions"] == shares
    assert checked["daily_location_numbers"] == 3.0
    middle = (300.0, 800 / 3)
    apart = [math.dist(middle, point) for point in ((0, 0), (600, 800), (300, 0))]
    assert checked["gyration_radius"] == pytest.approx(sum(apart) / 3, rel=1e-12)
    assert checked["day"] == {key: BY_HAND[key] for key in ("rows", "trips", "roads")}


def test_a_checked_day_passes_again():
    checked = check(BY_HAND, CITY)
    assert check(json.loads(json.dumps(checked)), CITY) == checked
    lied = {**checked, "gyration_radius": 1.0, "daily_location_numbers": 99}
    assert check(lied, CITY) == checked  # values follow from the day that stands beside them


def test_labels_count_as_they_are_written():
    """As in the published code: what is not one of its seven words, to the letter, is other."""
    labels = ["sleep", "Sleep", " sleep", "Planning", "", None, "leisure and entertainment"]
    told = day(900, [(2, HOME, label) for label in labels] + [(87, HOME, "work")])
    assert check(told, CITY)["intention_sequences"][:8] == [1, 3, 3, 3, 3, 3, 7, 4]


CODES = {
    "sleep": 1, "home activity": 2, "other": 3, "work": 4, "shopping": 5, "eating out": 6,
    "leisure and entertainment": 7,
}  # fmt: skip


def textbook(rows):
    """The rules of city.md, step by step."""
    seen, points = [], []
    for _, place, *_ in rows:
        if place is not None and place not in seen:
            seen.append(place)
            found = CITY.place(place)
            points.append((found.x, found.y))
    x = sum(point[0] for point in points) / len(points)
    y = sum(point[1] for point in points) / len(points)
    radius = sum(math.sqrt((a - x) ** 2 + (b - y) ** 2) for a, b in points) / len(points)
    sequence = [CODES.get(rows[2 * slot][2], 3) for slot in range(48)]
    shares = [0.0] * 7
    for code in sequence:
        shares[code - 1] += 1 / 48
    return radius, len(seen), sequence, shares


@given(random_days(900, 95, 101))
def test_random_days_give_what_the_published_rules_give(told):
    assume(any(row[1] is not None for row in told["rows"]))
    checked = check(told, CITY)
    radius, number, sequence, shares = textbook(told["rows"])
    assert checked["gyration_radius"] == pytest.approx(radius, rel=1e-9, abs=1e-9)
    assert checked["daily_location_numbers"] == number
    assert checked["intention_sequences"] == sequence
    assert checked["intention_proportions"] == pytest.approx(shares)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            day(900, [(94, HOME, None)]),
            "expected rows as 95 to 101 rows, one every 900 seconds, got 94",
        ),
        (day(900, [(102, HOME, None)]), "got 102 rows"),
        (
            day(900, [(101, None, "work")]),
            "expected at least one row in a place: nobody is on the way all day, got none",
        ),
        (day(900, [(101, PUB, "work")], roads=None), "or false, got None"),
    ],
)
def test_what_cannot_be_scored_is_refused(answer, message):
    with pytest.raises(InvalidAnswer) as error:
        check(answer, CITY)
    assert message in str(error.value)


def test_without_a_city_the_reason_is_told():
    with pytest.raises(InvalidAnswer) as error:
        check(BY_HAND, None, "there is no map")
    assert str(error.value) == (
        "expected the four values {gyration_radius, daily_location_numbers, intention_sequences, "
        "intention_proportions}: a lived day cannot be scored without a city (there is no map), got a "
        "lived day"
    )
