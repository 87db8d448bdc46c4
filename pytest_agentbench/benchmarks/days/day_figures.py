"""Figures of a population's days: where people are, when they set out, how long they travel and how."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pytest_agentbench.benchmarks import figures as charts
from pytest_agentbench.benchmarks.days.day_maps import MODES
from pytest_agentbench.benchmarks.days.told_days import HALF_HOURS, WHERE, Told
from pytest_agentbench.metrics.day_trips import DAY_SECONDS as SECONDS

BINS = 24
HOURS = 24
_SMALL = 120  # pixels, the height of a chart beside others of its kind
# Days in one chart: colours and dashes, so that they are told apart without either.
_DAY_COLOURS = ("#2f7fc1", "#d9660a", "#3f8f4f")
_DAY_DASHES = ([1, 0], [2, 2], [8, 3])


def where_people_are(told: Told, days: Sequence[str] = ()) -> charts.Figure | None:
    """The share of people at home, at work, elsewhere and on the way, by half hour."""
    if not told.people:
        return None
    where = np.stack([person.where for person in told.people])  # people x days x half hours
    names = days or ("generated",)
    hours = [slot / 2 for slot in range(HALF_HOURS + 1)]
    data: dict[str, charts.Columns] = {}
    for code, name in enumerate(WHERE):
        shares = (where == code).mean(axis=0)
        # A half hour has one value: the last one is repeated, or its step would have no width.
        steps = [charts.rounded([*row, row[-1]]) for row in shares]
        data[name] = {
            "hour": hours * told.days,
            "day": [day for day in names for _ in hours],
            "share": [value for row in steps for value in row],
        }
    without = (
        ""
        if all(p.lived for p in told.people)
        else " Visits do not say when people are on the way."
    )
    return charts.Figure(
        "Where people are",
        f"Share of people at the start of each half hour. {told.words}{without}",
        # Nobody anywhere: a chart with room above its line.
        [_share(name, names, max(0.05, *data[name]["share"])) for name in WHERE],
        data,
    )


def _share(name: str, days: Sequence[str], top: float) -> dict[str, Any]:
    y = charts.quantity(
        "share", scale={"domain": [0, top], "nice": False}, axis={"format": "%", "tickCount": 3}
    )  # fmt: skip
    tooltip = [charts.quantity("hour", "from hour"), charts.quantity("share", format=".1%")]
    encoding: dict[str, Any] = {"x": charts.hour_of_the_day("hour"), "y": y, "tooltip": tooltip}
    if len(days) == 1:
        mark = {
            "type": "area",
            "interpolate": "step-after",
            "color": charts.GENERATED,
            "fillOpacity": 0.35,
            "line": {"color": charts.GENERATED, "interpolate": "step-after"},
        }
    else:
        mark = {"type": "line", "interpolate": "step-after", "strokeWidth": 2}
        encoding |= _by_day(days)
        tooltip.insert(0, charts.kind("day"))
    layers: list[dict[str, Any]] = [{"mark": mark}]
    if len(days) == 1:
        layers.append(charts.whole_column("hour", 0.5))
    return {
        "data": {"name": name},
        "title": name,
        "height": _SMALL,
        "encoding": encoding,
        "layer": layers,
    }


def _by_day(days: Sequence[str]) -> dict[str, Any]:
    """The look of each day: a colour, and dashes that tell it without."""
    return {
        "stroke": {**charts.kind("day"), "scale": {"domain": days, "range": _DAY_COLOURS[: len(days)]}},
        "strokeDash": {**charts.kind("day"), "scale": {"domain": days, "range": _DAY_DASHES[: len(days)]}},
    }  # fmt: skip


def trips_by_hour(told: Told) -> charts.Figure | None:
    """When people set out, on the first day."""
    hours = [t.leaves // 3600 for p in told.people for t in p.trips if t.leaves < SECONDS]
    if not hours:
        return None
    counts = np.bincount(np.array(hours, np.intp), minlength=HOURS)
    visits = "" if all(p.lived for p in told.people) else " Of visits, it is when the next one begins."  # fmt: skip
    return charts.Figure(
        "Trips by hour",
        f"Trips a person by the hour in which they begin, {len(hours) / len(told.people):.1f} in all. "
        f"{told.words}{visits}",
        (_bars("trips a person", "trips", charts.hour_of_the_day("left"), ".3f"),),
        {
            "bars": charts.bars(
                list(range(HOURS + 1)), {"trips": (counts / len(told.people)).tolist()}
            )
        },
    )


def _bars(y: str, column: str, x: dict[str, Any], number: str, name: str = "bars") -> dict[str, Any]:  # fmt: skip
    return {
        "data": {"name": name},
        "mark": {
            "type": "bar",
            "color": charts.GENERATED,
            "fillOpacity": 0.35,
            "stroke": charts.GENERATED,
            "binSpacing": 0,
        },
        "encoding": {
            "x": {**x, "bin": "binned"},
            "x2": {"field": "right"},
            "y": charts.quantity(column, y, axis={"tickCount": 4}),
            "tooltip": [
                charts.quantity("left", "from", format=",.4~g"),
                charts.quantity("right", "to", format=",.4~g"),
                charts.quantity(column, format=number),
            ],
        },
    }


def travel_times(told: Told) -> charts.Figure | None:
    """How long trips take, a chart for each mode, in the same bins."""
    minutes: dict[str, list[float]] = {mode: [] for mode in MODES}
    unfinished = 0
    for person in told.people:
        for trip in person.trips if person.lived else ():
            if trip.arrives is None:
                unfinished += 1
            else:
                minutes[trip.mode].append((trip.arrives - trip.leaves) / 60)
    used = {mode: np.array(values) for mode, values in minutes.items() if values}
    if not used:
        return None
    together = np.concatenate(list(used.values()))
    # The longest trip in a hundred must not squeeze the others into one bar.
    top = max(5.0, 5 * float(np.ceil(np.quantile(together, 0.99) / 5)))
    edges = np.linspace(0, top, BINS + 1)
    data, made = {}, []
    for mode, values in used.items():
        counts, _ = np.histogram(np.minimum(values, top), edges)
        data[mode] = charts.bars(edges.tolist(), {"trips": (counts / len(values)).tolist()})
        share = len(values) / len(together)
        title = f"{mode}: {share:.0%} of trips, median {np.median(values):.0f} min"
        x = charts.quantity(
            "left", "minutes", scale={"domain": [0, top], "nice": False}, axis={"tickCount": 6}
        )
        made.append(
            {**_bars("share", "trips", x, ".1%", mode), "title": title, "height": _SMALL}
        )  # fmt: skip
        made[-1]["encoding"]["y"]["axis"] = {"format": "%", "tickCount": 3}
    left_out = f" {unfinished:,} that did not arrive are left out." if unfinished else ""
    return charts.Figure(
        "Travel times by mode",
        f"{len(together):,} trips of lived days; the last bar holds all longer ones.{left_out}"
        f"{told.by_road} {told.words}",
        made,
        data,
    )


def time_on_the_way(told: Told, days: Sequence[str] = ()) -> charts.Figure | None:
    """How much of the day people travel."""
    lived = [person for person in told.people if person.lived]
    if not lived:
        return None
    shares = np.array([person.on_the_way for person in lived]) / SECONDS  # people x days
    top = max(0.04, 0.02 * float(np.ceil(np.quantile(shares, 0.99) / 0.02)))
    edges = np.linspace(0, top, BINS + 1)
    x = charts.quantity(
        "left",
        "share of the day",
        scale={"domain": [0, top], "nice": False},
        axis={"format": "%", "tickCount": 5},
    )
    data, made = {}, []
    for number, day in enumerate(days or ("bars",)):
        counts, _ = np.histogram(np.minimum(shares[:, number], top), edges)
        data[day] = charts.bars(edges.tolist(), {"people": (counts / len(lived)).tolist()})
        chart = _bars("share of people", "people", x, ".1%", day)
        chart["encoding"]["y"]["axis"] = {"format": "%", "tickCount": 4}
        chart["encoding"]["tooltip"][:2] = [
            charts.quantity("left", "from", format=".1%"),
            charts.quantity("right", "to", format=".1%"),
        ]
        if days:
            mean = float(shares[:, number].mean())
            chart |= {"title": f"{day}: mean {mean:.1%}", "height": _SMALL}
        made.append(chart)
    middle = float(shares.mean())
    return charts.Figure(
        "Share of the day on the way",
        f"On average {middle:.1%}, or {middle * 24 * 60:.0f} minutes. The last bar holds all that is "
        f"above.{told.by_road} {told.words}",
        made,
        data,
    )
