"""The trips and stays of days: what a day on the map is made of.

Times are seconds since midnight of the first day. A trip whose end nobody has seen arrives at None.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence
from typing import NamedTuple

DAY_SECONDS = 86_400


class DayTrip(NamedTuple):
    """One trip between two places. Without a known travel time it arrives when it leaves."""

    leaves: float
    arrives: float | None
    origin: Hashable
    target: Hashable
    mode: str = ""


def visits_trips(visits: Sequence[tuple[float, Hashable]]) -> list[DayTrip]:
    """Return the trips between visits of different places: each at the start of the visit it leads to.

    >>> visits_trips([(0, "home"), (25200, "home"), (32400, "work")])
    [DayTrip(leaves=32400, arrives=32400, origin='home', target='work', mode='')]
    """
    pairs = itertools.pairwise(visits)
    return [DayTrip(start, start, a, b) for (_, a), (start, b) in pairs if a != b]


def of_day(trips: Sequence[DayTrip], day: int) -> list[DayTrip]:
    """Return the trips that leave on a day, 0 being the first."""
    return [trip for trip in trips if day * DAY_SECONDS <= trip.leaves < (day + 1) * DAY_SECONDS]


def stops(start: Hashable, trips: Sequence[DayTrip], day: int) -> list[Hashable]:
    """Return the places of a day in order: where it begins, unless on the way, and every arrival.

    >>> there, back = DayTrip(100, 200, "home", "work"), DayTrip(86300, 86500, "work", "home")
    >>> stops("home", [there, back], 0), stops("home", [there, back], 1)
    (['home', 'work'], ['home'])
    """
    begins, ends = day * DAY_SECONDS, (day + 1) * DAY_SECONDS
    here = place_at(start, trips, begins)
    found = [] if here is None else [here]
    return found + [
        trip.target for trip in trips if trip.arrives is not None and begins < trip.arrives < ends
    ]


def place_at(start: Hashable, trips: Sequence[DayTrip], seconds: float) -> Hashable | None:
    """Return where somebody is at a time; None on the way.

    >>> trips = [DayTrip(100, 200, "home", "work")]
    >>> [place_at("home", trips, second) for second in (99, 150, 200)]
    ['home', None, 'work']
    """
    place: Hashable | None = start
    for trip in trips:
        if trip.leaves > seconds or (trip.leaves == seconds and trip.arrives != seconds):
            break
        arrived = trip.arrives is not None and trip.arrives <= seconds
        place = trip.target if arrived else None
    return place


def dwell_times(trips: Sequence[DayTrip]) -> list[float]:
    """Return the seconds of every stay between two trips; the night before and after is none of them.

    >>> dwell_times([DayTrip(100, 200, "home", "work"), DayTrip(900, 950, "work", "home")])
    [700]
    """
    return [
        later.leaves - earlier.arrives
        for earlier, later in itertools.pairwise(trips)
        if earlier.arrives is not None
    ]


def seconds_on_the_way(trips: Sequence[DayTrip], day: int) -> float:
    """Return how long somebody is on the way on a day; a trip that is not seen to end lasts.

    >>> seconds_on_the_way([DayTrip(100, 200, 1, 2), DayTrip(86300, 86500, 2, 1)], 0)
    200
    """
    begins, ends = day * DAY_SECONDS, (day + 1) * DAY_SECONDS
    return sum(
        max(0, min(ends, ends if trip.arrives is None else trip.arrives) - max(begins, trip.leaves))
        for trip in trips
    )
