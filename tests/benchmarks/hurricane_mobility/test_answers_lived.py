"""Trips of lived days: by hand, and by the published rules written out again."""

from __future__ import annotations

import json

import pytest
from benchmarks.lived_days import CITY, HOME, PUB, SHOP, WORK, day, random_days
from hypothesis import given

from pytest_agentbench.base.errors import InvalidAnswer
from pytest_agentbench.benchmarks.hurricane_mobility.answers import HOURLY, TOTALS, check

BY_HAND = day(
    1800,
    [
        # before: on the way at 8:00, 8:30 and 18:00; the shop at 19:00 is reached within a tick
        (16, HOME, None), (2, None, None), (18, WORK, None), (1, None, None), (1, HOME, None),
        (2, SHOP, None), (7, HOME, None),
        # on the way over midnight: neither a departure nor, at the first place, an arrival
        (1, None, None), (1, None, None), (47, WORK, None),
        # after: out at 12:00 and back where one came from
        (24, HOME, None), (1, None, None), (23, HOME, None),
    ],
)  # fmt: skip


def hours(**counts):
    made = [0.0] * 24
    for hour, count in counts.items():
        made[int(hour[1:])] = float(count)
    return made


def test_three_days_counted_by_hand():
    checked = check(BY_HAND, whole_population=False, city=CITY)
    # home > work > home > shop > home: four arrivals, and departures at 8:00, 18:00 and 23:30
    assert checked[TOTALS] == [4.0, 0.0, 0.0]
    assert checked[HOURLY] == [hours(h8=1, h18=1, h23=1), hours(), hours(h12=1)]
    assert checked["day"] == {key: BY_HAND[key] for key in ("rows", "trips", "roads")}
    assert check(json.loads(json.dumps(checked)), whole_population=False, city=CITY) == checked


def textbook(rows):
    """The rules of city.md, step by step, with the clock of each day."""
    totals, hourly = [0, 0, 0], [[0] * 24 for _ in range(3)]
    for number in range(3):
        of_day = [row for row in rows if row[0] // 86400 == number]
        known = None
        for at, (seconds, place, *_) in enumerate(of_day):
            if place is not None:
                if known is not None and known != place:
                    totals[number] += 1
                known = place
            elif at > 0 and of_day[at - 1][1] is not None:
                hourly[number][(seconds - 86400 * number) // 3600] += 1
    return totals, hourly


@given(random_days(1800, 144, 144))
def test_random_days_give_what_the_published_rules_give(told):
    checked = check(told, whole_population=False, city=CITY)
    assert (checked[TOTALS], checked[HOURLY]) == textbook(told["rows"])


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            day(1800, [(143, HOME, None)]),
            "expected rows as 144 rows, one every 1800 seconds, got 143",
        ),
        (day(900, [(144, HOME, None)]), "expected step as 1800, the seconds of a tick, got 900"),
        (day(1800, [(144, PUB, None)], roads=1), "or false, got 1"),
    ],
)
def test_what_is_no_three_days_is_refused(answer, message):
    with pytest.raises(InvalidAnswer) as error:
        check(answer, whole_population=False, city=CITY)
    assert message in str(error.value)


def test_lived_days_need_a_city_and_one_person():
    with pytest.raises(InvalidAnswer) as error:
        check(BY_HAND, whole_population=False, no_city="there is no map")
    assert "lived days cannot be scored without a city (there is no map), got lived days" in str(
        error.value
    )
    with pytest.raises(
        InvalidAnswer, match=r"\(or items: user\), got the lived days of one person"
    ):
        check(BY_HAND, whole_population=True, city=CITY)
