"""A lived day, as a tick-driven agent tells it: a row a tick, and the trips between places.

Checked here for every benchmark with a city; what is scored follows from the rows, in the benchmark.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from pytest_agentbench.base import parse
from pytest_agentbench.base.errors import InvalidAnswer
from pytest_agentbench.base.plain import LARGEST, exactly, is_amount, is_finite, items, unpacked
from pytest_agentbench.benchmarks.protocol import Parameter
from pytest_agentbench.city.map import City
from pytest_agentbench.city.map_data import PlaceId
from pytest_agentbench.city.travel import MODES

DAY = "day"  # the key of a checked answer that holds it
LONGEST_INTENTION = 200  # characters that a record keeps; labels are far shorter
MOST_TRIPS_A_TICK = 10
MOST_ROUTE_POINTS = 40
_TRIP_KEYS = ("departure", "arrival", "from", "to", "mode", "metres")
FORM = "{step, rows, trips, roads}"
TICK_TIMEOUT = Parameter(
    "tick_timeout", "a number of seconds from 0.001 to 1,000,000",
    parse.number(1e-3, 1e6, whole=False), metavar="SECONDS",
    help="end a person's day where one tick of a tick-driven agent takes longer",
)  # fmt: skip


class Grid(NamedTuple):
    """The ticks of a benchmark: how long one is, and how many rows a day has."""

    step: int
    least: int
    most: int

    @property
    def words(self) -> str:
        count = str(self.most) if self.least == self.most else f"{self.least} to {self.most}"
        return f"{count} rows, one every {self.step} seconds"


def is_lived(answer: Mapping[Any, Any]) -> bool:
    return "rows" in answer


def check_day(answer: Mapping[Any, Any], city: City, grid: Grid) -> dict[str, Any]:
    """The rows and the trips in plain form, or :class:`InvalidAnswer`.

    ``step`` may be missing, as in a record: the rows have their times.
    """
    step = unpacked(answer.get("step", grid.step))
    if not is_finite(step) or step != grid.step:
        raise InvalidAnswer(f"step as {grid.step}, the seconds of a tick", step)
    listed = items(answer.get("rows"))
    if listed is None or not grid.least <= len(listed) <= grid.most:
        came = None if listed is None else f"{len(listed)} rows"
        raise InvalidAnswer(f"rows as {grid.words}", answer.get("rows"), described=came)
    rows = [_row(row, number, city, grid) for number, row in enumerate(listed)]
    roads = _roads(answer)
    trips = _trips(answer.get("trips"), city, grid, roads)
    _check_reached(rows, trips)
    return {"rows": rows, "trips": trips, "roads": roads}


def _check_reached(rows: list[list[Any]], trips: list[dict[str, Any]]) -> None:
    """Refuses rows in a place to which no trip leads: trips and rows tell the same day."""
    reached = {rows[0][1], None, *(trip["to"] for trip in trips)}
    for number, row in enumerate(rows):
        if row[1] not in reached:
            raise InvalidAnswer(
                f"a trip to every place after the first: none leads to that of row {number}", row[1]
            )


def _roads(answer: Mapping[Any, Any], where: str = "") -> bool:
    roads = unpacked(answer.get("roads"))
    if not isinstance(roads, bool):
        raise InvalidAnswer(f"roads{where} as true (trips follow the roads) or false", roads)
    return roads


def _row(value: Any, number: int, city: City, grid: Grid) -> list[Any]:
    where = f"row {number}"
    form = "[seconds, place id or null, intention or null, x, y]"
    seconds, place, intention, x, y = exactly(5, value, f"{where} as {form}")
    if not is_finite(seconds) or seconds != number * grid.step:
        raise InvalidAnswer(
            f"{where} at second {number * grid.step} (tick {number} of {grid.step} seconds)",
            seconds,
        )
    if intention is not None and not isinstance(intention, str):
        raise InvalidAnswer(f"a text or null as the intention in {where}", intention)
    kept = None if intention is None else intention[:LONGEST_INTENTION]
    at = None if place is None else place_id(place, where, city)
    return [number * grid.step, at, kept, *_position((x, y), where)]


def place_id(value: Any, where: str, city: City) -> PlaceId:
    """The id of a place of the city, or :class:`InvalidAnswer`."""
    place = unpacked(value)
    if isinstance(place, float) and place.is_integer():
        place = int(place)
    if isinstance(place, bool) or place not in city:
        raise InvalidAnswer(
            f"the id of a place of the city ({len(city)} places) or null in {where}", place
        )
    found: PlaceId = place
    return found


def _position(pair: tuple[Any, Any], where: str) -> list[float]:
    for axis, value in zip("xy", pair, strict=True):
        if not is_finite(value) or abs(value) > LARGEST:
            raise InvalidAnswer(f"a finite position in metres as {axis} in {where}", value)
    return [float(value) for value in pair]


def _trips(value: Any, city: City, grid: Grid, roads: bool) -> list[dict[str, Any]]:
    listed = items(value)
    most = MOST_TRIPS_A_TICK * grid.most
    if listed is None or len(listed) > most:
        came = None if listed is None else f"{len(listed)} trips"
        raise InvalidAnswer(f"trips as a list of at most {most}", value, described=came)
    trips: list[dict[str, Any]] = []
    for number, trip in enumerate(listed):
        made = _trip(trip, number, city, grid, roads)
        if trips and made["departure"] < (trips[-1]["arrival"] or trips[-1]["departure"]):
            raise InvalidAnswer(
                f"trips one after the other: trip {number} to depart after trip {number - 1}",
                made["departure"],
            )
        trips.append(made)
    return trips


def _trip(value: Any, number: int, city: City, grid: Grid, roads: bool) -> dict[str, Any]:
    where = f"trip {number}"
    if not isinstance(value, Mapping) or any(key not in value for key in _TRIP_KEYS):
        raise InvalidAnswer(f"{', '.join(_TRIP_KEYS)} in {where}", value)
    departure, arrival = unpacked(value["departure"]), unpacked(value["arrival"])
    end = grid.step * grid.most
    if not is_finite(departure) or not 0 <= departure <= end:
        raise InvalidAnswer(
            f"departure in {where} as seconds since the start, 0 to {end}", departure
        )
    if arrival is not None and (not is_finite(arrival) or not departure <= arrival <= end):
        raise InvalidAnswer(
            f"arrival in {where} as null or seconds since the start, from its departure "
            f"({departure:g}) to {end}",
            arrival,
        )
    start = unpacked(value["from"])
    mode, metres = unpacked(value["mode"]), unpacked(value["metres"])
    if mode not in MODES:
        raise InvalidAnswer(f"mode in {where} as one of {', '.join(MODES)}", mode)
    if not is_amount(metres):
        raise InvalidAnswer(f"metres in {where} as a finite number of at least 0", metres)
    own = _roads(value, f" in {where}") if "roads" in value else roads
    return {
        "departure": departure,
        "arrival": arrival,
        "from": None if start is None else place_id(start, f"from of {where}", city),
        "to": place_id(value["to"], f"to of {where}", city),
        "mode": mode,
        "metres": float(metres),
        "route": _route(value.get("route", []), where),
        **({} if own == roads else {"roads": own}),  # as for the day, where it is not said
    }


def _route(value: Any, where: str) -> list[list[float]]:
    points = items(value)
    if points is None or len(points) > MOST_ROUTE_POINTS:
        came = None if points is None else f"{len(points)} points"
        expected = f"route in {where} as at most {MOST_ROUTE_POINTS} points [x, y]"
        raise InvalidAnswer(expected, value, described=came)
    route = []
    for point in points:
        x, y = exactly(2, point, f"points [x, y] as route in {where}")
        route.append(_position((x, y), f"route of {where}"))
    return route
