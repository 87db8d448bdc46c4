"""Checking an answer: trips of three days, three lived days, or the published output's two arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_agentbench.base.errors import InvalidAnswer, shown
from pytest_agentbench.base.plain import (
    exactly,
    is_amount,
    is_finite,
    items,
    keys_shown,
    limit_words,
    unpacked,
)
from pytest_agentbench.benchmarks.days.lived_day import DAY, Grid, check_day, is_lived
from pytest_agentbench.benchmarks.days.lived_day import FORM as LIVED_FORM
from pytest_agentbench.benchmarks.hurricane_mobility.data import HOURS, PERIODS, STEP, STEPS
from pytest_agentbench.city.map import City

TOTALS, HOURLY = "total_travel_times", "hourly_travel_times"
SECONDS = 3600
GRID = Grid(STEP, STEPS, STEPS)
ROWS_A_DAY = STEPS // len(PERIODS)
# The published simulation lets a person set out every half hour (asbench 0.1.4, ticks_per_step=30*60).
MOST_PER_HOUR = 2
_ROUNDING = 1e-6
FORMS = (
    f'trips [{{"day": 0-{len(PERIODS) - 1}, "departure": seconds since midnight}}, …], or '
    f"{{{TOTALS}: {len(PERIODS)} numbers, {HOURLY}: {len(PERIODS)} rows of {HOURS}}}, or lived days "
    f"{LIVED_FORM}"
)


def check(
    answer: Any,
    whole_population: bool,
    people: int | None = 1,
    city: City | None = None,
    no_city: str = "",
) -> dict[str, Any]:
    """Trips a day and trips an hour, in plain form, or :class:`InvalidAnswer`.

    One person may stay at home; a whole population without a trip before the hurricane has no
    change that could be measured. ``people`` make so many trips at most; None: nobody knows how many.
    ``no_city`` says why there is no city, for the message about lived days.
    """
    plain = unpacked(answer)
    if isinstance(plain, Mapping):
        day = unpacked(plain.get(DAY))
        if isinstance(day, Mapping) and is_lived(day):  # out of a record
            plain = day
        if is_lived(plain):
            if whole_population:
                came = "the lived days of one person"
                raise InvalidAnswer("the trips of all people (or items: user)", described=came)
            return _check_lived(plain, city, no_city)
    if isinstance(plain, Mapping) and "trips" in plain and TOTALS not in plain:
        plain = unpacked(plain["trips"])
    if isinstance(plain, Mapping):
        checked = _check_arrays(plain)
    elif (trips := items(plain)) is not None:
        checked = _check_trips(trips)
    else:
        raise InvalidAnswer(FORMS, answer)
    if people is not None:
        _check_bounds(checked, people)
    if not whole_population:
        _check_totals(checked)
    if whole_population and not checked[TOTALS][0]:
        raise InvalidAnswer(
            "at least one trip on day 0 (before the hurricane): changes are relative to it",
            described="0 trips",
        )
    return checked


def _check_lived(lived: Mapping[str, Any], city: City | None, no_city: str) -> dict[str, Any]:
    """Arrivals a day and departures an hour, from the rows as the published code counts them.

    A trip within a tick arrives and is never seen on the way: totals and sums of hours may differ.
    """
    if city is None:
        raise InvalidAnswer(
            f"{FORMS.partition(', or lived')[0]}: lived days cannot be scored without a city "
            f"({no_city or 'the data have none'})",
            described="lived days",
        )
    day = check_day(lived, city, GRID)
    totals = [0.0 for _ in PERIODS]
    hourly = [[0.0] * HOURS for _ in PERIODS]
    for number in range(len(PERIODS)):
        last = before = None  # the last place of this day; the place of the row before
        for seconds, place, *_ in day["rows"][number * ROWS_A_DAY : (number + 1) * ROWS_A_DAY]:
            if place is None and before is not None:
                hourly[number][seconds // SECONDS % HOURS] += 1
            elif place is not None:
                totals[number] += last is not None and place != last
                last = place
            before = place
    return {TOTALS: totals, HOURLY: hourly, DAY: day}


def _check_bounds(checked: Mapping[str, Any], people: int) -> None:
    """Refuses more trips than so many people can make."""
    most = MOST_PER_HOUR * people
    who = "one person" if people == 1 else f"{people} people"
    why = f"{who}: nobody sets out more often than every half hour"
    for period, hours in zip(PERIODS, checked[HOURLY], strict=True):
        hour = max(range(HOURS), key=hours.__getitem__)
        if hours[hour] > most + _ROUNDING:
            came = f"{hours[hour]:g} in hour {hour} {period} the hurricane"
            raise InvalidAnswer(f"at most {most} trips an hour of {why}", described=came)
    for period, total in zip(PERIODS, checked[TOTALS], strict=True):
        if total > HOURS * most + _ROUNDING:
            came = f"{total:g} {period} the hurricane"
            raise InvalidAnswer(f"at most {HOURS * most} trips a day of {why}", described=came)


def _check_totals(checked: Mapping[str, Any]) -> None:
    """Refuses a person's total that is not the sum of the hours.

    Not so the published output for all people: it counts arrivals as totals and departures by hour.
    """
    for period, total, hours in zip(PERIODS, checked[TOTALS], checked[HOURLY], strict=True):
        if abs(total - sum(hours)) > _ROUNDING:
            raise InvalidAnswer(
                f"{TOTALS} as the sums of {HOURLY} ({sum(hours):g} trips {period} the hurricane)",
                described=f"{total:g}",
            )


def _check_trips(trips: Sequence[Any]) -> dict[str, Any]:
    hourly = [[0.0] * HOURS for _ in PERIODS]
    for number, trip in enumerate(trips):
        if not isinstance(trip, Mapping) or any(trip.get(k) is None for k in ("day", "departure")):
            raise InvalidAnswer(f"day and departure in trip {number}", trip)
        day, departure = unpacked(trip["day"]), unpacked(trip["departure"])
        if not is_finite(day) or day not in range(len(PERIODS)):
            raise InvalidAnswer(
                f"day 0 (before), 1 (during) or 2 (after) in trip {number}", trip["day"]
            )
        if not is_finite(departure) or not 0 <= departure < HOURS * SECONDS:
            hour = f" (hour {departure / SECONDS:.4g})" if is_finite(departure) else ""
            raise InvalidAnswer(
                f"departure in trip {number} as seconds since midnight, 0 to "
                f"{HOURS * SECONDS - 1} (hours 0 to {HOURS - 1})",
                described=f"{shown(trip['departure'])}{hour}",
            )
        hourly[int(day)][int(departure // SECONDS)] += 1
    return {TOTALS: [sum(hours) for hours in hourly], HOURLY: hourly}


def _check_arrays(arrays: Mapping[str, Any]) -> dict[str, Any]:
    missing = [name for name in (TOTALS, HOURLY) if arrays.get(name) is None]
    if missing:
        came = f"{keys_shown(arrays)} (no {', '.join(missing)})"
        raise InvalidAnswer(FORMS, described=came)
    rows = items(arrays[HOURLY])
    if rows is None or len(rows) != len(PERIODS):
        raise InvalidAnswer(f"{HOURLY} as {len(PERIODS)} rows ({', '.join(PERIODS)})", rows)
    return {
        TOTALS: _counts(TOTALS, arrays[TOTALS], len(PERIODS), f"({', '.join(PERIODS)})"),
        HOURLY: [
            _counts(f"{HOURLY}, {period},", row, HOURS, f"(hours 0 to {HOURS - 1})")
            for period, row in zip(PERIODS, rows, strict=True)
        ],
    }


def _counts(name: str, value: Any, length: int, of: str) -> list[float]:
    numbers = exactly(length, value, f"{name} as {length} numbers of trips {of}")
    for position, number in enumerate(numbers):
        if not is_amount(number):
            raise InvalidAnswer(
                f"{name} as finite numbers of at least 0{limit_words(number)} (value {position})",
                number,
            )
    return [float(number) for number in numbers]
