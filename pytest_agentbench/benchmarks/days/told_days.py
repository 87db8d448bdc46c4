"""The days that answers tell, read for figures: where people are, and their ways between places.

A lived day has a row a tick and its trips; a day told as visits has neither routes nor travel times.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from pytest_agentbench.benchmarks.days.day_facts import facts, is_lived, lived_trips, told_trips
from pytest_agentbench.benchmarks.days.lived_day import DAY
from pytest_agentbench.city.travel import DETOUR
from pytest_agentbench.metrics.day_trips import DAY_SECONDS as SECONDS
from pytest_agentbench.metrics.day_trips import of_day, seconds_on_the_way

if TYPE_CHECKING:
    import numpy.typing as npt

    from pytest_agentbench.benchmarks.days.day_facts import Facts, Positions
    from pytest_agentbench.benchmarks.protocol import Sample
    from pytest_agentbench.metrics.day_trips import DayTrip
    from pytest_agentbench.runs.record import Record

HALF_HOURS = 48
MOST_PEOPLE = 3_000  # whose days are read for the figures of a population
WHERE = ("at home", "at work", "elsewhere", "on the way")
_HOME, _WORK, _ELSEWHERE, _ON_THE_WAY = range(len(WHERE))


@dataclass(frozen=True)
class Stay:
    """In one place with one intention; seconds since midnight."""

    place: Hashable  # an id, or a position (x, y)
    start: float
    end: float
    intention: Any  # a text, a code or None
    position: tuple[float, float] | None  # None: the map knows it


@dataclass(frozen=True)
class Way:
    """A trip, or the step from one visit to the next; seconds since midnight."""

    departure: float
    end: float  # the arrival, or when it was given up
    arrived: bool
    start: Hashable | None  # None: it began on the way
    to: Hashable
    mode: str | None  # None: visits do not tell it
    metres: float | None
    route: Sequence[Sequence[float]]


@dataclass(frozen=True)
class Person:
    """A person's days in numbers, for figures of the whole population."""

    record: Record
    lived: bool  # with trips; else told as visits
    where: npt.NDArray[np.uint8]  # (days, half hours): numbers of ``WHERE``
    trips: Sequence[DayTrip]  # of all days
    on_the_way: Sequence[float]  # seconds of each day; empty for visits
    places: int
    metres: float  # travelled; 0 for visits
    by_road: Sequence[bool]  # of each trip, whether it follows roads; empty for visits
    facts: Facts | None  # what the realism panel compares; None if nobody asks for it


@dataclass(frozen=True)
class Told:
    """The people who told their days, and of how many."""

    people: Sequence[Person]
    days: int
    asked: int  # answers that were looked at: a spread of the valid ones if there are many
    answers: int  # all with a valid answer

    @property
    def words(self) -> str:
        """Who is shown, for a caption."""
        if self.asked == self.answers == len(self.people):
            return f"All {self.answers:,} valid answers tell their day."
        some = "" if self.asked == self.answers else f", a spread of {self.answers:,},"
        return f"{len(self.people):,} of {self.asked:,} valid answers{some} tell their day."

    @property
    def by_road(self) -> str:
        """Whether trips follow roads, for a caption; empty where there are none."""
        every = [by_road for person in self.people for by_road in person.by_road]
        straight = every.count(False)
        if not straight:
            return " Trips follow the roads." if every else ""
        lines = f"straight lines, whose lengths count {DETOUR} times"
        if straight == len(every):
            return f" Trips follow no roads: they are {lines}."
        return f" Trips follow the roads, except for {straight:,} of {len(every):,}: {lines}."


class PeopleData(Protocol):
    """What is asked of a data set of people."""

    @property
    def profiles(self) -> Sequence[Mapping[str, Any]]: ...

    @property
    def index_of(self) -> Mapping[str, int]: ...

    def sample(self, index: int) -> Sample: ...


def read_people(
    dataset: PeopleData,
    valid: Sequence[Record],
    days: int = 1,
    position: Positions | None = None,
) -> Told:
    """The days of the valid answers that tell one; with facts, if positions of places are given.

    Of very many people some are read: a hundred thousand lived days take half a minute to read.
    """
    chosen = spread(len(valid), MOST_PEOPLE)
    people = []
    for record in (valid[at] for at in chosen):
        if (day := told(record.answer)) is not None:
            profile = dataset.profiles[dataset.index_of[record.sample]]
            people.append(_person(record, day, profile, days, position))
    return Told(people, days, len(chosen), len(valid))


def spread(total: int, most: int) -> list[int]:
    """Up to ``most`` positions, evenly spread.

    >>> spread(10, 4)
    [0, 3, 6, 9]
    """
    places: list[int] = np.linspace(0, total - 1, min(total, most)).astype(int).tolist()
    return places


def told(answer: Any) -> Mapping[str, Any] | None:
    """The day in a checked answer; None where it tells only numbers."""
    return answer.get(DAY) if isinstance(answer, Mapping) else None


def _person(
    record: Record,
    day: Mapping[str, Any],
    profile: Mapping[str, Any],
    days: int,
    position: Positions | None,
) -> Person:
    lived = is_lived(day)
    _, trips = lived_trips(day) if lived else told_trips(day)
    rows = [(seconds, _key(place)) for seconds, place, *_ in day["rows" if lived else "visits"]]
    times = [seconds for seconds, _ in rows]
    codes = np.array([_code(place, profile) for _, place in rows], np.uint8)
    ticks = np.arange(days * HALF_HOURS) * (SECONDS // HALF_HOURS)
    at = np.searchsorted(times, ticks, side="right") - 1
    home = profile.get("home")
    return Person(
        record,
        lived,
        codes[at].reshape(days, HALF_HOURS),
        [trip for number in range(days) for trip in of_day(trips, number)],
        [seconds_on_the_way(trips, number) for number in range(days)] if lived else (),
        len({place for seconds, place in rows if seconds < days * SECONDS} - {None}),
        math.fsum(trip["metres"] for trip in day["trips"]) if lived else 0.0,
        [trip.get("roads", day["roads"]) for trip in day["trips"]] if lived else (),
        None if position is None else facts(day, home, position, range(days)),
    )


def _code(place: Hashable | None, profile: Mapping[str, Any]) -> int:
    if place is None:
        return _ON_THE_WAY
    if place == profile.get("home"):  # also of people who work there
        return _HOME
    return _WORK if place == profile.get("work") else _ELSEWHERE


def _key(place: Any) -> Hashable:
    return tuple(place) if isinstance(place, list) else place


def _ways(day: Mapping[str, Any], number: int) -> Iterator[Way]:
    """Those that begin on this day."""
    found = _trips(day) if is_lived(day) else _steps(day["visits"])
    return (way for way in found if way.departure // SECONDS == number)


def _trips(day: Mapping[str, Any]) -> Iterator[Way]:
    trips = day["trips"]
    rows = day["rows"]
    step = rows[1][0] - rows[0][0] if len(rows) > 1 else 0
    last = rows[-1][0] + step
    for trip, after in itertools.zip_longest(trips, trips[1:]):
        arrival = trip["arrival"]
        given_up = last if after is None else after["departure"]
        yield Way(
            trip["departure"],
            given_up if arrival is None else arrival,
            arrival is not None,
            trip["from"],
            trip["to"],
            trip["mode"],
            trip["metres"],
            trip["route"],
        )


def _steps(visits: Sequence[Sequence[Any]]) -> Iterator[Way]:
    for (_, start, _), (seconds, to, _) in itertools.pairwise(visits):
        if start != to:
            yield Way(seconds, seconds, True, _key(start), _key(to), None, None, ())


def stays_of(day: Mapping[str, Any], number: int = 0) -> list[Stay]:
    """Where the person stays on this day, in order of time.

    Rows are a tick apart. Trips say to the second when a stay begins and ends.
    """
    begin, end = number * SECONDS, (number + 1) * SECONDS
    every = _stays_of_rows(day) if is_lived(day) else _stays_of_visits(day["visits"])
    return [
        replace(one, start=max(one.start, begin) - begin, end=min(one.end, end) - begin)
        for one in every
        if max(one.start, begin) < min(one.end, end)
    ]


def _stays_of_rows(day: Mapping[str, Any]) -> Iterator[Stay]:
    rows = day["rows"]
    step = rows[1][0] - rows[0][0] if len(rows) > 1 else SECONDS
    arrivals = [trip["arrival"] for trip in day["trips"] if trip["arrival"] is not None]
    departures = [trip["departure"] for trip in day["trips"]]
    for (place, intention), group in itertools.groupby(rows, lambda row: (row[1], row[2])):
        inside = list(group)
        if place is None:
            continue
        first, last = inside[0][0], inside[-1][0]
        came = [time for time in arrivals if first - step < time <= first]
        left = [time for time in departures if last <= time < last + step]
        yield Stay(
            place,
            max(came, default=first),
            min(left, default=last + step),
            intention,
            (inside[0][3], inside[0][4]),
        )


def _stays_of_visits(visits: Sequence[Sequence[Any]]) -> Iterator[Stay]:
    for (start, place, code), after in itertools.zip_longest(visits, visits[1:]):
        key = _key(place)
        position = key if isinstance(key, tuple) else None
        yield Stay(key, start, SECONDS if after is None else after[0], code, position)


def ways_of(day: Mapping[str, Any], number: int = 0) -> list[Way]:
    """The ways of this day, with their routes; seconds since its midnight."""
    begin = number * SECONDS
    return [
        replace(way, departure=way.departure - begin, end=min(way.end - begin, SECONDS))
        for way in _ways(day, number)
    ]
