"""One person's days: a clock, where the person is, the trips, and what the person intends.

A :class:`Life` asks the city only by the plain methods of its view, so it works the same in another
process, where the view answers by message.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_agentbench.base.errors import BenchmarkError, shown
from pytest_agentbench.city.aims import NoSuchPlace, described, resolved, seconds_of
from pytest_agentbench.city.travel import MODES, checked_mode
from pytest_agentbench.city.trips import Trip

__all__ = ["MODES", "Life", "Moment", "NoSuchPlace", "NotOnMap"]

DAY = 86_400  # seconds
QUESTIONS = (
    "aoi", "aoi_ids", "aois", "aois_near", "by_category", "distance", "lnglat", "nearby", "place",
    "poi", "poi_categories", "poi_ids", "pois", "pois_near", "route",
)  # fmt: skip
Stop = tuple[Any, str, "float | None"]  # place, mode, departure in seconds since the start


class NotOnMap(BenchmarkError):
    """A person's home or work that the map does not have."""


@dataclass(frozen=True)
class Moment:
    """The time of a tick.

    >>> print(Moment(tick=30, day=0, seconds=27_000))
    day 0, 07:30
    """

    tick: int
    day: int
    seconds: int  # since midnight

    @property
    def clock(self) -> str:
        return f"{self.seconds // 3600:02}:{self.seconds // 60 % 60:02}"

    @property
    def since_start(self) -> int:
        """Seconds since midnight of day 0."""
        return self.day * DAY + self.seconds

    def __str__(self) -> str:
        return f"day {self.day}, {self.clock}"


@dataclass(frozen=True)
class _Planned:
    place: Any
    poi: Any
    mode: str
    departure: float
    replaces: bool  # a trip that is under way then; otherwise it waits for the arrival


class Life:
    """One person's days in the city. The first tick is midnight of day 0, at home.

    A driver calls :meth:`begin_tick`, lets the agent act, and calls :meth:`end_tick`, ``steps`` times.
    What an agent decides takes effect when the tick ends: until then the person is where the tick began.
    """

    def __init__(
        self, view: Any, profile: Mapping[str, Any], simulation: Mapping[str, Any]
    ) -> None:
        if view is None:
            raise BenchmarkError(_no_city(simulation))
        self.view = view
        self.profile = dict(profile)
        self.steps = int(simulation["steps"])
        self.step = int(simulation["step"])
        self._weather = list(simulation.get("weather") or ())
        self.home = _anchor(view, profile, "home", needed=True)
        self.work = _anchor(view, profile, "work", needed=False)
        self.intention: str | None = None
        self.here: Any = self.home  # the id of the area; None on the way
        self.here_poi: Any = None
        self.position: tuple[float, float] = _xy(view["home"])
        self._tick = 0
        self._trip: Trip | None = None
        self._plan: list[_Planned] = []
        self._rows: list[list[Any]] = []
        self._trips: list[dict[str, Any]] = []
        self._roads = bool(view["map"]["roads"])

    def __getattr__(self, name: str) -> Any:
        """The questions that the view answers: nearby, distance, route, place, aoi, poi and more."""
        if name in QUESTIONS:
            return getattr(self.view, name)
        raise AttributeError(f"expected {', '.join(QUESTIONS)} or a name of Life's; got {name!r}")

    @property
    def now(self) -> Moment:
        day, seconds = divmod(self._tick * self.step, DAY)
        return Moment(self._tick, day, seconds)

    @property
    def weather(self) -> str:
        """The weather of the day; empty where none was given."""
        return (
            str(self._weather[min(self.now.day, len(self._weather) - 1)]) if self._weather else ""
        )

    @property
    def mode(self) -> str | None:
        """How the person travels; None at a place."""
        return None if self._trip is None else self._trip.mode

    @property
    def destination(self) -> Any:
        """Where the person is going; None at a place."""
        return None if self._trip is None else self._trip.to

    @property
    def lane(self) -> tuple[Any, float] | None:
        """The lane under the person and the metres along it; None at a place and off the roads."""
        return None if self._trip is None else self._trip.lane_at(self._tick * self.step)

    def go_to(self, place: Any, mode: str = "driving", departure: float | None = None) -> None:
        """Sets out for a place: the id of an area or a POI, one of them as the queries return it, or a pair
        (area, POI or None).

        It replaces the trip that is planned or under way; with a later departure, the trip under way
        goes on until then. Going where one is makes no trip.
        """
        self.schedule([(place, mode, departure)])

    def schedule(self, stops: Iterable[Stop]) -> None:
        """Several trips one after the other, instead of what was planned.

        Each is ``(place, mode, departure)``, the departure in seconds since the start or None: at once.
        One whose departure has passed when the trip before it arrives departs then.
        """
        now = float(self._tick * self.step)
        plan = []
        for number, (place, mode, departure) in enumerate(stops):
            area, poi = resolved(self.view, place, (self.home, self.work, self.here))
            leaves = now if departure is None else max(now, seconds_of(departure))
            plan.append(_Planned(area, poi, checked_mode(mode), leaves, replaces=number == 0))
        self._plan = plan

    def stay(self) -> None:
        """Cancels what is planned. Whoever is on the way goes on to where the trip leads."""
        self._plan = []

    def intend(self, text: Any) -> None:
        """What the person is doing from now on."""
        self.intention = None if text is None else str(text)

    def begin_tick(self) -> Moment:
        """The time of the tick that begins. Nothing moves."""
        return self.now

    def end_tick(self) -> None:
        """Keeps the row of this tick, then moves the world on by one step.

        The row has the place where the person was when the tick began and the intention in force now.
        """
        start = self._tick * self.step
        x, y = self.position
        self._rows.append([start, self.here, self.intention, round(x, 1), round(y, 1)])
        self._tick += 1
        self._move(float(start), float(start + self.step))

    def told(self) -> dict[str, Any]:
        """The days as an answer: rows, trips, and whether the trips follow roads."""
        trips = list(self._trips)
        if self._trip is not None:
            until = min(self._trip.ends, float(self._tick * self.step))
            trips.append(self._trip.told(until, False, self._roads))
        return {
            "step": self.step,
            "rows": [list(row) for row in self._rows],
            "trips": trips,
            "roads": self._roads,
        }

    def _move(self, now: float, end: float) -> None:
        """What happens until ``end``, in the order of time: departures and arrivals."""
        while True:
            trip, planned = self._trip, self._plan[0] if self._plan else None
            arrival = end if trip is None else min(end, trip.ends)
            leaves = None if planned is None else max(now, planned.departure)
            can_leave = trip is None or (planned is not None and planned.replaces)
            if planned is not None and leaves is not None and can_leave and leaves < arrival:
                now = leaves
                self._plan.pop(0)
                self._set_out(planned, now)
            elif trip is not None and trip.ends <= end:
                now = trip.ends
                self._arrive(trip)
            else:
                break
        if self._trip is not None:
            self.here, self.here_poi = None, None
            self.position = self._trip.position_at(end)

    def _set_out(self, planned: _Planned, now: float) -> None:
        trip = self._trip
        if trip is None and planned.place == self.here:
            self.here_poi = planned.poi
            return
        if trip is not None:
            if trip.to == planned.place and trip.mode == planned.mode:
                trip.poi = planned.poi
                return  # on the way there already
            self._trips.append(trip.told(now, False, self._roads))
            self.position = trip.position_at(now)
        origin = self.here if trip is None else list(self.position)
        route = self.view.route(origin, planned.place, planned.mode)
        start = None if trip is not None else self.here
        self._trip = Trip(route, start, planned.place, planned.poi, now)

    def _arrive(self, trip: Trip) -> None:
        self._trips.append(trip.told(trip.ends, True, self._roads))
        self._trip = None
        self.here, self.here_poi = trip.to, trip.poi
        self.position = trip.position_at(trip.ends)


def _no_city(simulation: Mapping[str, Any]) -> str:
    reason = simulation.get("no_city") or (
        "expected a map (*.pb) or a table of places (places.parquet, places.csv or places.json) in the "
        "folder of the data, got neither"
    )
    return f"an agent that lives in the city tick by tick needs one: {reason}"


def _anchor(view: Any, profile: Mapping[str, Any], key: str, *, needed: bool) -> Any:
    """The id of home or work, which the map must have."""
    place, person = profile.get(key), profile.get("id")
    if view[key] is not None:
        return view[key]["id"]
    if place is None and not needed:
        return None
    if place is None:
        raise NotOnMap(
            f"person {shown(person)} has no home, and the days begin there: expected the id of a place "
            f"on the map ({described(view)})"
        )
    raise NotOnMap(
        f"{key} {shown(place)} of person {shown(person)} is not on the map ({described(view)}): "
        "expected the map that the profiles were made for"
    )


def _xy(place: Mapping[str, Any]) -> tuple[float, float]:
    return float(place["x"]), float(place["y"])
