"""Checking an answer: trips of three days, or the two arrays of the published output format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_agentbench.benchmarks.daily_mobility.answers import Words, is_finite
from pytest_agentbench.benchmarks.hurricane_mobility.data import HOURS, PERIODS
from pytest_agentbench.benchmarks.protocol import InvalidAnswer

TOTALS, HOURLY = "total_travel_times", "hourly_travel_times"
SECONDS = 3600
FORMS = (
    f'trips [{{"day": 0-{len(PERIODS) - 1}, "departure": seconds since midnight}}, …], or '
    f"{{{TOTALS}: {len(PERIODS)} numbers, {HOURLY}: {len(PERIODS)} rows of {HOURS}}}"
)


def check(answer: Any, whole_population: bool) -> dict[str, Any]:
    """Trips a day and trips an hour, in plain form, or :class:`InvalidAnswer`.

    One person may stay at home; a whole population without a trip before the hurricane has no
    change that could be measured.
    """
    plain = _unpacked(answer)
    if isinstance(plain, Mapping) and "trips" in plain and TOTALS not in plain:
        plain = _unpacked(plain["trips"])
    if isinstance(plain, Mapping):
        checked = _check_arrays(plain)
    elif isinstance(plain, Sequence) and not isinstance(plain, (str, bytes)):
        checked = _check_trips(plain)
    else:
        raise InvalidAnswer(FORMS, answer)
    if whole_population and not checked[TOTALS][0]:
        raise InvalidAnswer(
            "at least one trip on day 0 (before the hurricane): changes are relative to it",
            Words("0 trips"),
        )
    return checked


def _check_trips(trips: Sequence[Any]) -> dict[str, Any]:
    hourly = [[0.0] * HOURS for _ in PERIODS]
    for number, trip in enumerate(trips):
        trip = _unpacked(trip)
        if not isinstance(trip, Mapping) or any(trip.get(k) is None for k in ("day", "departure")):
            raise InvalidAnswer(f"day and departure in trip {number}", trip)
        day, departure = _unpacked(trip["day"]), _unpacked(trip["departure"])
        if not is_finite(day) or day not in range(len(PERIODS)):
            raise InvalidAnswer(
                f"day 0 (before), 1 (during) or 2 (after) in trip {number}", trip["day"]
            )
        if not is_finite(departure) or not 0 <= departure < HOURS * SECONDS:
            hour = f" (hour {departure / SECONDS:.4g})" if is_finite(departure) else ""
            raise InvalidAnswer(
                f"departure in trip {number} as seconds since midnight, 0 to "
                f"{HOURS * SECONDS - 1} (hours 0 to {HOURS - 1})",
                Words(f"{trip['departure']!r}{hour}"),
            )
        hourly[int(day)][int(departure // SECONDS)] += 1
    return {TOTALS: [sum(hours) for hours in hourly], HOURLY: hourly}


def _check_arrays(arrays: Mapping[str, Any]) -> dict[str, Any]:
    missing = [name for name in (TOTALS, HOURLY) if arrays.get(name) is None]
    if missing:
        got = Words(f"{', '.join(map(str, arrays)) or 'nothing'} (no {', '.join(missing)})")
        raise InvalidAnswer(FORMS, got)
    rows = _unpacked(arrays[HOURLY])
    if not isinstance(rows, Sequence) or isinstance(rows, str) or len(rows) != len(PERIODS):
        raise InvalidAnswer(f"{HOURLY} as {len(PERIODS)} rows ({', '.join(PERIODS)})", rows)
    return {
        TOTALS: _counts(TOTALS, arrays[TOTALS], len(PERIODS), f"({', '.join(PERIODS)})"),
        HOURLY: [
            _counts(f"{HOURLY}, {period},", row, HOURS, f"(hours 0 to {HOURS - 1})")
            for period, row in zip(PERIODS, rows, strict=True)
        ],
    }


def _counts(name: str, value: Any, length: int, of: str) -> list[float]:
    numbers = _unpacked(value)
    if not isinstance(numbers, Sequence) or isinstance(numbers, (str, bytes)):
        raise InvalidAnswer(f"{name} as {length} numbers of trips {of}", value)
    if len(numbers) != length:
        raise InvalidAnswer(
            f"{name} as {length} numbers of trips {of}", Words(f"{len(numbers)} values")
        )
    plain = [_unpacked(number) for number in numbers]
    for position, number in enumerate(plain):
        if not is_finite(number) or number < 0:
            raise InvalidAnswer(
                f"{name} as finite numbers of at least 0 (value {position})", number
            )
    return [float(number) for number in plain]


def _unpacked(value: Any) -> Any:
    tolist = getattr(value, "tolist", None)
    return tolist() if callable(tolist) and not isinstance(value, type) else value
