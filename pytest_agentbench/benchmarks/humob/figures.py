"""The figures of a humob run: two trajectories of a day, and where, when and for whom it goes wrong."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_agentbench.benchmarks import figures as charts
from pytest_agentbench.benchmarks.humob import run_tables
from pytest_agentbench.benchmarks.humob.data import HumobDataset
from pytest_agentbench.benchmarks.humob.editions import CELL_KM
from pytest_agentbench.benchmarks.humob.scoring import cells_of, day_bounds

if TYPE_CHECKING:
    from pytest_agentbench.runs.record import Record

MOST_USERS = 3_000  # whose days are scored again for the figures
MOST_POINTS = 15_000  # in the picker of trajectories: about 20 bytes of the page each
MOST_BLOCKS = 40  # across the error map
POINTS_A_GROUP = 6
HEADLINE = "geobleu"


def figures(
    dataset: HumobDataset, records: Sequence[Record], scores: Mapping[str, Any]
) -> Sequence[charts.Figure]:
    """All figures; none where the truth is not known or nobody has a valid answer."""
    # A run that was scored on a cluster left its answers there.
    valid = [record for record in records if record.status == "ok" and record.has_answer]
    if not dataset.truth_known or not valid:
        return []
    reading = scores["primary"]
    drawn = [valid[at] for at in _spread(len(valid), MOST_USERS)]
    whom = (
        "" if len(drawn) == len(valid) else f" Of {len(drawn):,} of {len(valid):,} valid answers."
    )
    return [
        trajectories(dataset, valid, reading),
        error_map(dataset, drawn, whom),
        *by_day(dataset, drawn, reading, whom),
    ]


def _spread(total: int, most: int) -> list[int]:
    """Up to ``most`` positions, evenly spread."""
    places: list[int] = np.linspace(0, total - 1, min(total, most)).astype(int).tolist()
    return places


def trajectories(dataset: HumobDataset, valid: Sequence[Record], reading: str) -> charts.Figure:
    """A day on the grid, real and generated, of some users from the worst to the best."""
    ranked = sorted(valid, key=lambda record: record.metrics[reading][HEADLINE])
    length = np.mean(dataset.stops - dataset.starts)
    chosen = [ranked[at] for at in _spread(len(ranked), max(2, int(MOST_POINTS / length)))]
    frames: dict[str, Any] = {}
    for record in chosen:
        truth = dataset.targets(dataset.index_of[record.sample])
        given = cells_of(record.answer)
        bounds = day_bounds(truth[:, 0])
        epoch = f", epoch {record.epoch}" if record.epoch > 1 else ""
        label = f"{record.sample}{epoch} ({record.metrics[reading][HEADLINE]:.3f})"
        frames[label] = {
            str(truth[start, 0]): {"day": _day(truth[start:stop, 1:], given[start:stop])}
            for start, stop in itertools.pairwise(bounds.tolist())
        }
    shown = (
        f"{len(chosen):,} of {len(ranked):,} users" if len(chosen) < len(ranked) else "all users"
    )
    return charts.Figure(
        "A day on the grid",
        f"One cell is {CELL_KM * 1000:.0f} m. In the picker: {shown} with a valid answer, "
        f"from the worst to the best {HEADLINE} (in brackets).",
        (_paths(),),
        picker=charts.Picker(("user", "day"), frames),
    )


def _day(real: Any, given: Any) -> dict[str, list[int]]:
    """The half hours of a day, where the person was, and where the agent says so."""
    columns = (*real.T, *given.T)
    return {name: column.tolist() for name, column in zip(_DAY, columns, strict=True)}


_DAY = ("t", "x", "y", "given_x", "given_y")


def _paths() -> dict[str, Any]:
    def layer(which: str, x: str, y: str, size: int, dashes: Sequence[int]) -> dict[str, Any]:
        def side(column: str, title: str) -> dict[str, Any]:
            return charts.quantity(column, title, scale={"zero": False, "padding": 12})

        return {
            "encoding": {
                "x": side(x, "x (cells)"),
                "y": side(y, "y (cells)"),
                "order": charts.quantity("t"),
                "tooltip": [
                    {"field": "who", "title": "path"},
                    {"field": "at", "title": "half hour"},
                    charts.quantity(x, "x"),
                    charts.quantity(y, "y"),
                ],
            },
            "transform": [{"calculate": f"'{which}'", "as": "who"}],
            "layer": [
                {
                    "mark": {
                        "type": "line",
                        "opacity": 0.7,
                        "strokeWidth": 1.5,
                        "strokeDash": dashes,
                    },
                    "encoding": charts.real_or_generated(which, "stroke"),
                },
                {
                    "mark": {"type": "point", "size": size, "fillOpacity": 0.4},
                    "encoding": charts.real_or_generated(which, "fill", "stroke", "shape"),
                },
            ],
        }

    time = "floor(datum.t / 2) + (datum.t % 2 ? ':30' : ':00')"
    return {
        "data": {"name": "day"},
        "width": charts.SQUARE,
        "height": charts.SQUARE,
        "transform": [
            {"calculate": time, "as": "at"},
            *(
                {"calculate": f"{end}(datum.{way}, datum.given_{way})", "as": f"{end}_{way}"}
                for way in "xy"
                for end in ("min", "max")
            ),
        ],
        "layer": [
            charts.square({"x (cells)": ("min_x", "max_x"), "y (cells)": ("min_y", "max_y")}),
            layer("real", "x", "y", 110, [1, 0]),
            layer("generated", "given_x", "given_y", 45, [5, 3]),
        ],
    }


def by_day(
    dataset: HumobDataset, drawn: Sequence[Record], reading: str, whom: str
) -> tuple[charts.Figure, charts.Figure]:
    """The headline by day of the week and by points a day."""
    days = run_tables.day_table(dataset, drawn)
    day, points, values = days["d"], days["points"], days[f"{HEADLINE}_{reading}"]
    weekday, group = day % 7, (points - 1) // POINTS_A_GROUP
    weekend = dataset.split.weekend
    names = [f"{number}*" if number in weekend else str(number) for number in range(7)]
    sizes = range(int(group.max()) + 1)
    ranges = [f"{n * POINTS_A_GROUP + 1}-{(n + 1) * POINTS_A_GROUP}" for n in sizes]
    of_weekday = charts.middles(names, (values[weekday == number] for number in range(7)))
    of_size = charts.middles(ranges, (values[group == number] for number in sizes))
    return (
        charts.Figure(
            "Score by day of the week",
            f"{HEADLINE} of a user's day; the day of the week is d modulo 7 (*: weekend). "
            f"{charts.MIDDLES_KEY}{whom}",
            (charts.means_and_middles("day of the week", HEADLINE, "days"),),
            {"days": of_weekday},
        ),
        charts.Figure(
            "Score by points a day",
            f"{HEADLINE} of a user's day, by how many half hours of it are known. "
            f"{charts.MIDDLES_KEY}{whom}",
            (charts.means_and_middles("points a day", HEADLINE, "days"),),
            {"days": of_size},
        ),
    )


def error_map(dataset: HumobDataset, drawn: Sequence[Record], whom: str) -> charts.Figure:
    """The mean distance of the generated place from the real one, by where the real one is."""
    real = np.concatenate(
        [dataset.targets(dataset.index_of[r.sample])[:, 2:] for r in drawn]
    ).astype(int)
    generated = np.concatenate([cells_of(record.answer) for record in drawn])
    apart = np.hypot(*(generated - real).T) * CELL_KM
    widest = int((real.max(axis=0) - real.min(axis=0)).max() + 1)
    block = max(1, -(-widest // MOST_BLOCKS))
    return charts.Figure(
        "Error map",
        f"Mean distance between the generated and the real place, by the real place, in blocks of "
        f"{block} × {block} cells.{whom}",
        (charts.heat_map("x (cells)", "y (cells)", "blocks", "km", block),),
        {"blocks": charts.blocks(real[:, 0], real[:, 1], apart, block)},
    )
