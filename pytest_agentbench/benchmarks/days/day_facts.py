"""What a person's days are made of: trip lengths, stays, departures and so on, of a checked answer's day.

Days that were lived by ticks know when a trip left and arrived, and how. Days told as visits do not: a
trip is then where the next visit begins, a stay lasts until then, and there are no travel times.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pytest_agentbench.metrics.day_trips import (
    DAY_SECONDS,
    DayTrip,
    dwell_times,
    of_day,
    place_at,
    seconds_on_the_way,
    stops,
    visits_trips,
)
from pytest_agentbench.metrics.motifs import motif

Facts = Mapping[str, list[Any]]  # the values of one person, by the name of the quantity
Positions = Callable[[Any], tuple[float, float]]

# Only days that were lived have these.
LIVED_ONLY = ("travel_time", "on_the_way", "modes", "distance")
_HOUR, _MINUTE = 3600.0, 60.0


def facts(
    day: Mapping[str, Any], home: Any, position: Positions, days: Sequence[int] = (0,)
) -> Facts:
    """The values of one person on these days; ``position`` gives the (x, y) of a place."""
    lived = is_lived(day)
    start, trips = lived_trips(day) if lived else told_trips(day)
    found: dict[str, list[Any]] = {name: [] for name in _NAMES}
    for number in days:
        own = of_day(trips, number)
        arrived = [t for t in own if t.arrives is not None and t.origin is not None]
        found["trips"].append(len(own))
        found["trip_length"] += [math.dist(position(t.origin), position(t.target)) for t in arrived]
        found["dwell_time"] += [seconds / _HOUR for seconds in dwell_times(own)]
        found["motifs"].append(motif(stops(start, trips, number)))
        hours = [(trip.leaves - number * DAY_SECONDS) / _HOUR for trip in own]
        found["first_departure"] += hours[:1]
        found["last_departure"] += hours[-1:]
        at_night = place_at(start, trips, (number + 1) * DAY_SECONDS)
        found["return_home"].append(float(at_night == (start if home is None else home)))
        if lived:
            found["travel_time"] += [(t.arrives - t.leaves) / _MINUTE for t in arrived if t.arrives]
            found["on_the_way"].append(seconds_on_the_way(trips, number) / DAY_SECONDS)
            found["modes"] += [trip.mode for trip in own]
            found["distance"].append(_metres(day, number))
    return found


def _metres(day: Mapping[str, Any], number: int) -> float:
    """What was travelled by the trips that left on a day."""
    return math.fsum(
        trip["metres"] for trip in day["trips"] if trip["departure"] // DAY_SECONDS == number
    )


_NAMES = (
    "trips", "trip_length", "travel_time", "dwell_time", "motifs", "first_departure",
    "last_departure", "return_home", "on_the_way", "modes", "distance",
)  # fmt: skip


def is_lived(day: Mapping[str, Any]) -> bool:
    return "rows" in day


def told_trips(day: Mapping[str, Any]) -> tuple[Any, list[DayTrip]]:
    """Where a day told as visits begins, and its trips."""
    visits = [(start, _hashable(place)) for start, place, _ in day["visits"]]
    return visits[0][1], visits_trips(visits)


def lived_trips(day: Mapping[str, Any]) -> tuple[Any, list[DayTrip]]:
    """Where a lived day begins, and its trips.

    Whoever changed the destination on the way has made one trip, to where it ended.
    """
    found: list[DayTrip] = []
    for trip in day["trips"]:
        leaves, origin = trip["departure"], trip["from"]
        if origin is None and found and found[-1].arrives is None:
            before = found.pop()
            leaves, origin = before.leaves, before.origin
        found.append(DayTrip(leaves, trip["arrival"], origin, trip["to"], trip["mode"]))
    return day["rows"][0][1], found


def _hashable(place: Any) -> Any:
    return tuple(place) if isinstance(place, Sequence) and not isinstance(place, str) else place
