"""The figures of a HurricaneMobility run: trips of three days, the real ones beside the generated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_agentbench.benchmarks import figures as charts
from pytest_agentbench.benchmarks.days.day_figures import (
    time_on_the_way,
    travel_times,
    where_people_are,
)
from pytest_agentbench.benchmarks.days.day_maps import day_on_the_map
from pytest_agentbench.benchmarks.days.told_days import read_people
from pytest_agentbench.benchmarks.hurricane_mobility.data import (
    HOURS,
    PERIODS,
    HurricaneDataset,
    Truth,
)
from pytest_agentbench.benchmarks.hurricane_mobility.set_out import departures
from pytest_agentbench.metrics import hurricane

if TYPE_CHECKING:
    from pytest_agentbench.metrics.hurricane import Floats
    from pytest_agentbench.runs.record import Record

_SMALL = 150  # pixels, the height of a chart beside others of its kind


def figures(
    dataset: HurricaneDataset, records: Sequence[Record], scores: Mapping[str, Any]
) -> Sequence[charts.Figure]:
    """All figures of the valid answers; none without valid answers."""
    valid = [record for record in records if record.status == "ok"]
    if not valid:
        return []
    known = scores.get("details", {}).get("trips_by_hour")
    hourly = _summed(valid) if known is None else np.array([known[p]["answers"] for p in PERIODS])
    told = read_people(dataset, valid, days=len(PERIODS))
    every = (
        trips_by_hour(dataset.truth, hourly),
        against_before(dataset.truth, hourly),
        time_on_the_way(told, PERIODS),
        day_on_the_map(dataset, told, PERIODS),
        where_people_are(told, PERIODS),
        travel_times(told),
    )
    return [figure for figure in every if figure is not None]


def _summed(valid: Sequence[Record]) -> Floats:
    """The trips of all people together (3 x 24), as the documented reading counts them."""
    total = np.zeros((len(PERIODS), HOURS))
    for record in valid:  # one by one: a lived day is long
        total += np.array(departures(record.answer), np.float64)
    return total


def trips_by_hour(truth: Truth, hourly: Floats) -> charts.Figure:
    """At which hours people set out on each day: what distribution_score compares."""
    data: dict[str, charts.Columns] = {}
    for period, real, generated in zip(PERIODS, truth.hourly, hourly, strict=True):
        # An hour has one value: the last one is repeated, or its step would have no width.
        sides = {"real": _shares(real), "generated": _shares(generated)}
        data[period] = {
            "hour": list(range(HOURS + 1)),
            **{name: charts.rounded([*row, row[-1]]) for name, row in sides.items()},
        }
    top = max(max(column["real"]) for column in data.values())
    top = max(top, *(max(column["generated"]) for column in data.values()))
    return charts.Figure(
        "Trips by hour",
        "Share of the trips of each day that begin in the hour: real people (blue area) and generated "
        "ones (orange line). The hours are those of departures.",
        [_day(period, 1.05 * top) for period in PERIODS],
        data,
    )


def _shares(trips: Floats) -> list[float]:
    """A day without trips has no hours."""
    total = float(trips.sum())
    return (trips / total).tolist() if total else [0.0] * HOURS


def _day(period: str, top: float) -> dict[str, Any]:
    since = charts.quantity("hour", "from hour")
    return charts.shares_by_hour(
        period, f"{period} the hurricane", _SMALL, since, 1, "share of trips",
        scale={"domain": [0, top], "nice": False}, axis={"format": "%", "tickCount": 4},
    )  # fmt: skip


def against_before(truth: Truth, hourly: Floats) -> charts.Figure | None:
    """The trips of each day against the day before the hurricane, on both sides."""
    totals = hourly.sum(axis=1)
    if not totals[0]:
        return None
    generated = [100.0, *(100 + hurricane.changes(totals)).tolist()]
    real = [100.0, *(100 + truth.changes).tolist()]
    rows = [
        (period, which, value, f"{value:.0f}")
        for period, *pair in zip(PERIODS, real, generated, strict=True)
        for which, value in zip(("real", "generated"), pair, strict=True)
    ]
    names = ("period", "which", "percent", "label")
    counts = ", ".join(
        f"{total:,.0f} {period}" for period, total in zip(PERIODS, totals, strict=True)
    )
    change = ", ".join(
        f"{period} {ours - 100:+.1f}% (real {theirs - 100:+.1f}%)"
        for period, ours, theirs in zip(PERIODS[1:], generated[1:], real[1:], strict=True)
    )
    return charts.Figure(
        "Trips against the day before the hurricane",
        f"Trips of each day in percent of those before the hurricane; the changes are what "
        f"change_rate_score compares: {change}. Generated trips: {counts}.",
        (_pairs(1.12 * max(*real, *generated)),),  # with room for the numbers
        {"days": {name: [row[at] for row in rows] for at, name in enumerate(names)}},
    )


def _pairs(top: float) -> dict[str, Any]:
    place = {
        "x": charts.kind("period", None, axis={"labelAngle": 0}),
        "xOffset": charts.kind("which"),
        "y": charts.quantity("percent", "percent of before", scale={"domain": [0, top], "nice": False}),
        "tooltip": [charts.kind("period", "day"), charts.kind("which", "people"), charts.quantity("percent", format=".1f")],
    }  # fmt: skip

    def bars(which: str, width: float) -> dict[str, Any]:
        return {
            "transform": [{"filter": {"field": "which", "equal": which}}],
            "mark": {"type": "bar", "fillOpacity": 0.5, "strokeWidth": width},
            "encoding": {**place, **charts.real_or_generated(which, "filled", "stroke")},
        }

    return {
        "data": {"name": "days"},
        "layer": [
            bars("real", 0),
            bars("generated", 2),
            {
                "mark": {"type": "text", "dy": -7, "fontSize": 12},
                "encoding": {**place, "text": charts.kind("label")},
            },
        ],
    }
