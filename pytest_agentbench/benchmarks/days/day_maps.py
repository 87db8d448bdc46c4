"""A day on the map, of a person whom the reader picks: the places, the ways between them, and when."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pytest_agentbench.benchmarks import figures as charts
from pytest_agentbench.benchmarks.days.lived_day import DAY
from pytest_agentbench.benchmarks.days.told_days import Stay, Told, Way, spread, stays_of, ways_of

if TYPE_CHECKING:
    from pytest_agentbench.benchmarks.days.told_days import PeopleData, Person

MOST_SHOWN = 30  # people in the picker: about 6 kB of the page each
# How a way of each mode is drawn: told apart without colours.
MODES = {"walking": [2, 3], "cycling": [6, 3], "transit": [10, 3, 2, 3], "driving": [1, 0]}
_NOT_TOLD = "not told"
_KILOMETRE = 1000.0
_LEAST = (
    0.2  # kilometres from the middle of the map to its sides: the map of somebody who stays at home
)
_LETTERS = 22  # of a place's category beside the hours
_KINDS = ("home", "work", "elsewhere")
# The hours as colours of about equal lightness, seen on white and on black; the hours are told beside.
_HOURS = {
    "domain": [0, 24],
    "range": ["#5a63d6", "#1b8fb0", "#2f9a4a", "#d9660a", "#b8358a"],
    "interpolate": "rgb",
}


def day_on_the_map(
    dataset: PeopleData,
    told: Told,
    days: Sequence[str] = (),
    intentions: Sequence[str] = (),
) -> charts.Figure | None:
    """Places, routes and hours of some people, from the most places to the fewest.

    ``days`` names the days if there are several; ``intentions`` are the labels of codes from 1 on.
    """
    if not told.people:
        return None
    ranked = sorted(told.people, key=lambda person: (-person.places, -person.metres))
    chosen = [ranked[at] for at in spread(len(ranked), MOST_SHOWN)]
    frames: dict[str, Any] = {}
    used: set[str] = set()
    for person in chosen:
        sample = dataset.sample(dataset.index_of[person.record.sample])
        day = person.record.answer[DAY]
        made = [_Drawing(sample.context, day, n, intentions).tables for n in range(told.days)]
        used |= {mode for tables in made for mode in tables["trips"]["mode"]}
        frames[_label(person, len(days))] = dict(zip(days, made, strict=True)) if days else made[0]
    modes = [mode for mode in MODES if mode in used]
    shown = (
        f"{len(chosen)} of {len(ranked):,} people" if len(chosen) < len(ranked) else "all of them"
    )
    straight = "" if all(person.lived for person in told.people) else _STRAIGHT
    return charts.Figure(
        "A day on the map",
        f"{told.words} In the picker: {shown}, from those who visit the most places to those who visit "
        "the fewest. Places have numbers in the order of the day; the chart beside the map says "
        f"when the person is there (bars) and on the way (lines).{told.by_road}{straight}",
        (_map(), _hours(modes)),
        picker=charts.Picker(("person", "day") if days else ("person",), frames),
    )


_STRAIGHT = " Answers told as visits have no routes: dashed lines join their places."


def _label(person: Person, days: int) -> str:
    """Who it is; the numbers are those of all days, of which the map shows one."""
    epoch = f", epoch {person.record.epoch}" if person.record.epoch > 1 else ""
    places = f"{person.places} place{'' if person.places == 1 else 's'}"
    way = f", {person.metres / _KILOMETRE:.1f} km" if person.lived else ""
    together = f" in {days} days" if days else ""
    return f"{person.record.sample}{epoch} ({places}{way}{together})"


class _Drawing:
    """One person's day as the tables of both charts."""

    def __init__(
        self,
        context: Mapping[str, Any],
        day: Mapping[str, Any],
        number: int,
        intentions: Sequence[str],
    ) -> None:
        self._profile = context["profile"]
        self._city = context["city"]
        self._intentions = intentions
        self._positions: dict[Hashable, tuple[float, float]] = {}
        self._numbers: dict[Hashable, int] = {}
        stays = stays_of(day, number)
        for stay in stays:
            self._visit(stay.place, stay.position)
        ways = ways_of(day, number)
        for way in ways:  # a place that is reached and left between two ticks has no row
            for place, end in ((way.start, 0), (way.to, -1)):
                if place is not None and (place == way.start or way.arrived):
                    self._visit(place, way.route[end] if way.route else None)
        points = self._points(ways)
        self.tables = {
            "frame": _frame([*points, *self._positions.values()]),
            "places": self._places(stays),
            "route": _columns(
                ("trip", "x", "y"),
                [(n, *point) for n, way in enumerate(ways) for point in self._line(way)],
            ),
            "stays": self._stays(stays),
            "trips": self._trips(ways),
        }

    def _visit(self, place: Hashable, position: Sequence[float] | None) -> None:
        if place in self._numbers:
            return
        if position is None:
            found = self._city.place(place)
            position = (found["x"], found["y"])
        self._positions[place] = _kilometres(position)
        self._numbers[place] = len(self._numbers) + 1

    def _line(self, way: Way) -> list[tuple[float, float]]:
        if way.route:
            return [_kilometres(point) for point in way.route]
        ends = (way.start, way.to)
        return [self._positions[place] for place in ends if place in self._positions]

    def _points(self, ways: Sequence[Way]) -> list[tuple[float, float]]:
        return [point for way in ways for point in self._line(way)]

    def _kind(self, place: Hashable) -> str:
        if place == self._profile.get("home"):
            return _KINDS[0]
        return _KINDS[1] if place == self._profile.get("work") else _KINDS[2]

    def _name(self, place: Hashable | None) -> str | None:
        """The number and what is there, as the axis of the hours has it."""
        if place not in self._numbers:
            return None
        kind = self._kind(place)
        words = kind if kind != _KINDS[2] else self._category(place)
        return f"{self._numbers[place]} {words}".strip()

    def _category(self, place: Hashable) -> str:
        if self._city is None or isinstance(place, tuple):
            return ""
        category = str(self._city.place(place)["category"]).split("|")[0]
        return category if len(category) <= _LETTERS else f"{category[: _LETTERS - 1]}…"

    def _places(self, stays: Sequence[Stay]) -> dict[str, list[Any]]:
        rows = []
        for place, number in self._numbers.items():
            own = [stay for stay in stays if stay.place == place]
            hours = sum(stay.end - stay.start for stay in own) / 3600
            first = min((stay.start for stay in own), default=0.0) / 3600
            x, y = self._positions[place]
            name = self._name(place)
            rows.append((number, name, self._kind(place), x, y, round(first, 2), round(hours, 2)))
        return _columns(("number", "name", "kind", "x", "y", "hour", "hours"), rows)

    def _stays(self, stays: Sequence[Stay]) -> dict[str, list[Any]]:
        rows = [
            (
                self._name(stay.place),
                round(stay.start / 3600, 3),
                round(stay.end / 3600, 3),
                self._intention(stay.intention),
            )
            for stay in stays
        ]
        return _columns(("name", "hour", "until", "intention"), rows)

    def _intention(self, value: Any) -> str:
        if isinstance(value, int):
            return self._intentions[value - 1]
        return "" if value is None else str(value)[:80]

    def _trips(self, ways: Sequence[Way]) -> dict[str, list[Any]]:
        rows = []
        for number, way in enumerate(ways):
            to = self._name(way.to) if way.arrived else None
            start = self._name(way.start)
            hour, until = round(way.departure / 3600, 3), round(way.end / 3600, 3)
            km = None if way.metres is None else round(way.metres / _KILOMETRE, 2)
            line = "a straight line" if way.mode is None else "a route"
            ends = (start or to, to or start)
            rows.append((number, *ends, hour, until, way.mode or _NOT_TOLD, km, line))
        return _columns(("trip", "from", "to", "hour", "until", "mode", "km", "line"), rows)


def _kilometres(point: Sequence[float]) -> tuple[float, float]:
    return round(point[0] / _KILOMETRE, 3), round(point[1] / _KILOMETRE, 3)


def _columns(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> dict[str, list[Any]]:
    return {name: [row[at] for row in rows] for at, name in enumerate(names)}


def _frame(points: Sequence[tuple[float, float]]) -> dict[str, list[float]]:
    """A square around all points, with room for numbers."""
    (left, right), (bottom, top) = ((min(side), max(side)) for side in zip(*points, strict=True))
    half = max(_LEAST, (right - left) * 0.56, (top - bottom) * 0.56)
    x, y = (left + right) / 2, (bottom + top) / 2
    ends = {"x0": x - half, "x1": x + half, "y0": y - half, "y1": y + half}
    return {name: [round(value, 3)] for name, value in ends.items()}


def _map() -> dict[str, Any]:
    def side(name: str) -> dict[str, Any]:
        scale = {"zero": False, "nice": False}
        return charts.quantity(name, f"{name[0]} (km)", scale=scale, axis={"tickCount": 5})

    place = [
        charts.kind("name", "place"),
        charts.kind("at", "first at"),
        charts.quantity("hours", "hours there", format=".1f"),
    ]
    shape = {
        "domain": _KINDS,
        "range": ["triangle-up", "square", "circle"],
    }
    return {
        "width": charts.SQUARE,
        "height": charts.SQUARE,
        "layer": [
            {
                "data": {"name": "frame"},
                "mark": {"type": "rect", "opacity": 0, "tooltip": None, "aria": False},
                "encoding": {
                    "x": side("x0"),
                    "x2": {"field": "x1"},
                    "y": side("y0"),
                    "y2": {"field": "y1"},
                },
            },
            {
                "data": {"name": "route"},
                "transform": [
                    {"window": [{"op": "row_number", "as": "n"}]},
                    {
                        "lookup": "trip",
                        "from": {
                            "data": {"name": "trips"},
                            "key": "trip",
                            "fields": ["hour", "until", "mode", "km", "line", "from", "to"],
                        },
                    },
                    *_CLOCKS,
                ],
                "mark": {"type": "line", "strokeWidth": 2.5, "opacity": 0.85},
                "encoding": {
                    "x": side("x"),
                    "y": side("y"),
                    "order": charts.quantity("n"),
                    "detail": charts.kind("trip"),
                    "stroke": _hour_colour(legend=True),
                    "strokeDash": {
                        **charts.kind("line"),
                        "scale": {"domain": ["a route", "a straight line"], "range": [[1, 0], [5, 4]]},
                        "legend": None,
                    },
                    "tooltip": _trip_tooltip(),
                },
            },
            {
                "data": {"name": "places"},
                "transform": [_clock("hour", "at")],
                "mark": {"type": "point", "size": 150, "fillOpacity": 0.85, "strokeWidth": 1.5, "stroke": "currentColor"},
                "encoding": {
                    "x": side("x"),
                    "y": side("y"),
                    "fill": _hour_colour(legend=True),
                    "shape": {**charts.kind("kind"), "scale": shape, "legend": {"symbolFillColor": "transparent", "symbolStrokeColor": "currentColor"}},
                    "tooltip": place,
                },
            },
            {
                "data": {"name": "places"},
                "transform": [_clock("hour", "at")],
                "mark": {"type": "text", "dx": 9, "dy": -10, "align": "left", "fontSize": 13, "fontWeight": "bold"},
                "encoding": {
                    "x": side("x"),
                    "y": side("y"),
                    "text": charts.quantity("number"),
                    "tooltip": place,
                },
            },
        ],
    }  # fmt: skip


def _clock(hours: str, name: str) -> dict[str, str]:
    """A column of hours as people write times: 7.5 is 07:30."""
    minutes = f"round(60 * datum.{hours})"
    two = "pad('' + {}, 2, '0', 'left')"
    clock = f"{two.format(f'floor({minutes} / 60)')} + ':' + {two.format(f'{minutes} % 60')}"
    return {"calculate": clock, "as": name}


_CLOCKS = [_clock("hour", "departs"), _clock("until", "ends")]
_TIMES = [charts.kind("departs", "from"), charts.kind("ends", "until")]


def _hour_colour(legend: bool) -> dict[str, Any]:
    values = {"values": [0, 6, 12, 18, 24], "symbolType": "circle", "symbolStrokeWidth": 0}
    return charts.quantity(
        "hour", "hour of the day", scale=_HOURS, legend=values if legend else None
    )


def _trip_tooltip() -> list[dict[str, Any]]:
    return [
        charts.kind("from", "between"),
        charts.kind("to", "and"),
        *_TIMES,
        charts.kind("mode"),
        charts.quantity("km", format=".1f"),
    ]


def _hours(modes: Sequence[str]) -> dict[str, Any]:
    """When the person is where: a row a place, bars for stays and lines for ways."""
    legend = {"symbolStrokeColor": "currentColor", "symbolType": "stroke", "symbolSize": 900}
    dashes = {
        **charts.kind("mode", "on the way"),
        "scale": {
            "domain": [*modes, _NOT_TOLD],
            "range": [*(MODES[mode] for mode in modes), [1, 4]],
        },
        "legend": {**legend, "values": modes, "columns": 3} if modes else None,
    }
    row = charts.kind("name", None, axis={"grid": False, "labelLimit": 150})
    return {
        "height": charts.SQUARE,
        "layer": [
            {
                "data": {"name": "stays"},
                "transform": _CLOCKS,
                "mark": {"type": "bar", "height": {"band": 0.5}, "stroke": "currentColor", "strokeWidth": 1, "fillOpacity": 0.85},
                "encoding": {
                    "y": row,
                    "x": charts.hour_of_the_day("hour"),
                    "x2": {"field": "until"},
                    "fill": _hour_colour(legend=False),
                    "tooltip": [
                        charts.kind("name", "place"),
                        *_TIMES,
                        charts.kind("intention"),
                    ],
                },
            },
            {
                "data": {"name": "trips"},
                "transform": _CLOCKS,
                "mark": {"type": "rule", "strokeWidth": 2, "color": "currentColor"},
                "encoding": {
                    "y": {**row, "field": "from"},
                    "y2": {"field": "to"},
                    "x": charts.hour_of_the_day("hour"),
                    "x2": {"field": "until"},
                    "strokeDash": dashes,
                    "tooltip": _trip_tooltip(),
                },
            },
        ],
    }  # fmt: skip
