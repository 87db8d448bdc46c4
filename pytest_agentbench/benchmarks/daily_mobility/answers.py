"""Checking an answer: four values of a person, or the visits or the lived day they follow from."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_agentbench.base.errors import InvalidAnswer, shown
from pytest_agentbench.base.plain import (
    exactly,
    is_amount,
    is_finite,
    is_number,
    items,
    keys_shown,
    limit_words,
    unpacked,
)
from pytest_agentbench.benchmarks.daily_mobility.intentions import (
    CODES,
    FIELDS,
    LABELS,
    OTHER,
    SLOT_SECONDS,
    SLOTS,
    shares_of,
)
from pytest_agentbench.benchmarks.days.lived_day import DAY, Grid, check_day, is_lived
from pytest_agentbench.benchmarks.days.lived_day import FORM as LIVED_FORM
from pytest_agentbench.city.map import City

VISIT_KEYS = ("start", "place", "intention")
SUM_TOLERANCE = 0.01  # for shares that are rounded to two digits
STEP, STEPS = 900, 101  # of the published simulation: 1.05 days
ROWS_A_SLOT = SLOT_SECONDS // STEP
GRID = Grid(STEP, ROWS_A_SLOT * (SLOTS - 1) + 1, STEPS)
FORMS = (
    f"the four values {{{', '.join(FIELDS)}}}, or visits "
    f'[{{"start": "07:30" or a slot 0-{SLOTS - 1}, "place": an id or (x, y), "intention": a label '
    f"or a code}}, …], or a lived day {LIVED_FORM}"
)
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2}))?")


def check(answer: Any, city: City | None, no_city: str = "") -> dict[str, Any]:
    """The four values in plain form and the day they follow from, or :class:`InvalidAnswer`.

    ``no_city`` says why there is no city, for the message about days that cannot be placed.
    """
    plain = unpacked(answer)
    if isinstance(plain, Mapping):
        day = unpacked(plain.get(DAY))
        if isinstance(day, Mapping) and city is not None:
            # An answer out of a record: its values follow from the day.
            return check({**day, "visits": _recorded(day.get("visits"))}, city, no_city)
        if is_lived(plain):
            found = _city(city, no_city, "a lived day", "a lived day")
            return lived_values(check_day(plain, found, GRID), found)
        if "visits" in plain and not set(FIELDS) & set(plain):
            return check(plain["visits"], city, no_city)
        return check_values(plain)
    if visits := items(plain):
        return check_visits(visits, _city(city, no_city, "visits", f"{len(visits)} visits"))
    raise InvalidAnswer(FORMS, answer)


def _city(city: City | None, no_city: str, what: str, came: str) -> City:
    if city is not None:
        return city
    raise InvalidAnswer(
        f"the four values {{{', '.join(FIELDS)}}}: {what} cannot be scored without a city "
        f"({no_city or 'the data have none'})",
        described=came,
    )


def lived_values(day: Mapping[str, Any], city: City) -> dict[str, Any]:
    """The four values of a lived day, from its rows as the published code takes them.

    It knows its seven labels exactly as they are written, and takes whatever else for ``other``.
    """
    rows = day["rows"]
    visited = dict.fromkeys(row[1] for row in rows if row[1] is not None)
    if not visited:
        raise InvalidAnswer(
            "at least one row in a place: nobody is on the way all day", described="none"
        )
    places = [city.place(place) for place in visited]
    sequence = [CODES.get(rows[ROWS_A_SLOT * slot][2], OTHER) for slot in range(SLOTS)]
    return {
        "gyration_radius": _radius([(place.x, place.y) for place in places]),
        "daily_location_numbers": float(len(visited)),
        "intention_sequences": sequence,
        "intention_proportions": shares_of(sequence),
        DAY: dict(day),
    }


def check_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """The four values, each checked."""
    missing = [name for name in FIELDS if values.get(name) is None]
    if missing:
        came = f"{keys_shown(values)} (no {', '.join(missing)})"
        raise InvalidAnswer(FORMS, described=came)
    return {
        "gyration_radius": _number("gyration_radius in metres", values["gyration_radius"]),
        "daily_location_numbers": _number(
            "daily_location_numbers, how many places are visited in a day,",
            values["daily_location_numbers"],
        ),
        "intention_sequences": _sequence(values["intention_sequences"]),
        "intention_proportions": _shares(values["intention_proportions"]),
    }


def _number(name: str, value: Any) -> float:
    number = unpacked(value)
    if not is_amount(number):
        raise InvalidAnswer(f"{name} as a finite number of at least 0{limit_words(number)}", value)
    return float(number)


def _sequence(value: Any) -> list[int]:
    expected = (
        f"intention_sequences as {SLOTS} intentions, one a half hour from midnight on (the data "
        f"have {SLOTS} slots a day and codes 1 to {len(LABELS)})"
    )
    codes = exactly(SLOTS, value, expected)
    return [_code(code, f"slot {slot} of intention_sequences") for slot, code in enumerate(codes)]


def _shares(value: Any) -> list[float]:
    one_each = f"{len(LABELS)} shares of the day, one an intention ({', '.join(LABELS)})"
    shares = exactly(len(LABELS), value, f"intention_proportions as {one_each}")
    for label, share in zip(LABELS, shares, strict=True):
        if not is_number(share) or not 0 <= share <= 1:  # NaN is refused, too
            raise InvalidAnswer(f"a share from 0 to 1 for {label} in intention_proportions", share)
    total = math.fsum(shares)
    if abs(total - 1) > SUM_TOLERANCE + 1e-9:
        raise InvalidAnswer(
            f"intention_proportions that sum to 1 (within {SUM_TOLERANCE})",
            described=f"{[float(share) for share in shares]}, which sum to {total:.6g}",
        )
    return [float(share) for share in shares]


def check_visits(visits: Sequence[Any], city: City) -> dict[str, Any]:
    """The four values of a day told as visits, in the order of time from midnight on."""
    told: list[list[Any]] = []
    visited: dict[Any, tuple[float, float]] = {}
    for number, visit in enumerate(visits):
        if not isinstance(visit, Mapping) or any(visit.get(key) is None for key in VISIT_KEYS):
            raise InvalidAnswer(f"{', '.join(VISIT_KEYS)} in visit {number}", visit)
        start = _seconds(visit["start"], number)
        if not told and start != 0:
            raise InvalidAnswer(
                'visit 0 to start at "00:00" (slot 0), where the day begins', visit["start"]
            )
        if told and start <= told[-1][0]:
            raise InvalidAnswer(
                f"visits in the order of time: visit {number} to start after visit {number - 1} "
                f"({shown(visits[number - 1]['start'])})",
                visit["start"],
            )
        code = _code(visit["intention"], f"visit {number}")
        place, position = _placed(visit["place"], number, city)
        visited[place] = position
        told.append([start, list(place) if isinstance(place, tuple) else place, code])
    sequence = _by_slot(told)
    return {
        "gyration_radius": _radius(list(visited.values())),
        "daily_location_numbers": float(len(visited)),
        "intention_sequences": sequence,
        "intention_proportions": shares_of(sequence),
        DAY: {"visits": told},
    }


def _radius(positions: Sequence[tuple[float, float]]) -> float:
    try:
        radius = gyration_radius(positions)
    except OverflowError:
        radius = math.inf
    if not is_amount(radius):
        came = f"positions as far apart as {shown(max(positions))}"
        raise InvalidAnswer("positions (x, y) in metres", described=came)
    return radius


def gyration_radius(positions: Sequence[tuple[float, float]]) -> float:
    """The mean distance of positions from their centroid.

    >>> gyration_radius([(0.0, 0.0), (600.0, 800.0)])
    500.0
    """
    x = math.fsum(position[0] for position in positions) / len(positions)
    y = math.fsum(position[1] for position in positions) / len(positions)
    return math.fsum(math.hypot(a - x, b - y) for a, b in positions) / len(positions)


def _by_slot(visits: Sequence[Sequence[Any]]) -> list[int]:
    """The intention at the start of each slot: a visit holds until the next one."""
    sequence = []
    at = 0
    for slot in range(SLOTS):
        while at + 1 < len(visits) and visits[at + 1][0] <= slot * SLOT_SECONDS:
            at += 1
        sequence.append(visits[at][2])
    return sequence


def _seconds(value: Any, number: int) -> int:
    """Seconds since midnight, of a clock time or a slot."""
    start = unpacked(value)
    if isinstance(start, str) and (found := _CLOCK.fullmatch(start.strip())):
        hour, minute, second = (int(part or 0) for part in found.groups())
        if hour < 24 and minute < 60 and second < 60:
            return hour * 3600 + minute * 60 + second
    elif is_number(start) and start in range(SLOTS):
        return int(start) * SLOT_SECONDS
    raise InvalidAnswer(
        f'start of visit {number} as a time "00:00" to "23:59" or a slot 0 to {SLOTS - 1}', value
    )


def _recorded(visits: Any) -> Any:
    """The visits of a record as an agent gives them."""
    return [
        {"start": str(datetime.timedelta(seconds=row[0])), "place": row[1], "intention": row[2]}
        if isinstance(row, list) and len(row) == 3 and is_amount(row[0])
        else row
        for row in items(visits) or ()
    ]


def _placed(value: Any, number: int, city: City) -> tuple[Any, tuple[float, float]]:
    """What tells a place from another, and where it is."""
    place = unpacked(value)
    if isinstance(place, Mapping) and place.get("id") is not None:  # as the city's queries give it
        place = unpacked(place["id"])
    if isinstance(place, float) and place.is_integer():
        place = int(place)
    if not isinstance(place, bool) and place in city:
        found = city.place(place)
        return place, (found.x, found.y)
    pair = items(place)
    if pair is not None and len(pair) == 2 and all(map(is_finite, pair)):
        x, y = map(float, pair)
        return (x, y), (x, y)
    raise InvalidAnswer(
        f"place of visit {number} as the id of a place of the city or a position (x, y)", value
    )


def _code(value: Any, where: str) -> int:
    """The code of an intention; a label that nobody knows is ``other``."""
    intention = unpacked(value)
    if isinstance(intention, str) and intention.strip():
        return CODES.get(intention.strip().lower(), OTHER)
    if is_number(intention) and intention in range(1, len(LABELS) + 1):
        return int(intention)
    raise InvalidAnswer(f"a code 1 to {len(LABELS)} or a label as the intention in {where}", value)
