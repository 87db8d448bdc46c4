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
MOST_POINTS = 30_000  # in the picker of trajectories: about 20 bytes of the page each
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
    chosen = [ranked[at] for at in _spread(len(ranked), max(2, int(MOST_POINTS / length / 2)))]
    frames: dict[str, Any] = {}
    for record in chosen:
        truth = dataset.targets(dataset.index_of[record.sample])
        answer = cells_of(record.answer)
        bounds = day_bounds(truth[:, 0])
        epoch = f", epoch {record.epoch}" if record.epoch > 1 else ""
        label = f"{record.sample}{epoch} ({record.metrics[reading][HEADLINE]:.3f})"
        frames[label] = {
            str(truth[start, 0]): {
                "real": _path(truth[start:stop, 1], truth[start:stop, 2:]),
                "generated": _path(truth[start:stop, 1], answer[start:stop]),
            }
            for start, stop in itertools.pairwise(bounds.tolist())
        }
    first = next(iter(next(iter(frames.values())).values()))
    made = charts.plot("x (cells)", "y (cells)", height=440, match_aspect=True)
    for name, colour, marker, size in (("real", charts.REAL, "circle", 11), ("generated", charts.GENERATED, "square", 7)):  # fmt: skip
        path = charts.source(first[name], name)
        made.line("x", "y", source=path, color=colour, line_width=1.5, line_alpha=0.7,
                  line_dash="solid" if name == "real" else "dashed")  # fmt: skip
        dots = made.scatter(
            "x", "y", source=path, marker=marker, size=size, color=colour, fill_alpha=0.5
        )
        charts.hover(made, dots, [(name, "(@x, @y)"), ("half hour", "@t")])
    shown = (
        f"{len(chosen):,} of {len(ranked):,} users" if len(chosen) < len(ranked) else "all users"
    )
    return charts.Figure(
        "A day on the grid",
        f"One cell is {CELL_KM * 1000:.0f} m. In the picker: {shown} with a valid answer, "
        f"from the worst to the best {HEADLINE} (in brackets).",
        (made,),
        charts.legend(charts.PAIR_LEGEND),
        charts.Picker(("user", "day"), frames),
    )


def _path(times: Any, cells: Any) -> dict[str, list[Any]]:
    return {
        "x": cells[:, 0].tolist(),
        "y": cells[:, 1].tolist(),
        "t": [f"{t // 2:02d}:{t % 2 * 30:02d}" for t in times.tolist()],
    }


def by_day(
    dataset: HumobDataset, drawn: Sequence[Record], reading: str, whom: str
) -> tuple[charts.Figure, charts.Figure]:
    """The headline by day of the week and by points a day."""
    days = run_tables.day_table(dataset, drawn)
    values = days[f"{HEADLINE}_{reading}"].to_numpy()
    weekday = days["d"].to_numpy() % 7
    group = (days["points"].to_numpy() - 1) // POINTS_A_GROUP
    weekend = dataset.split.weekend
    names = [f"{number} (weekend)" if number in weekend else str(number) for number in range(7)]
    sizes = range(int(group.max()) + 1)
    ranges = [f"{n * POINTS_A_GROUP + 1}-{(n + 1) * POINTS_A_GROUP}" for n in sizes]
    of_weekday = [values[weekday == number] for number in range(7)]
    of_size = [values[group == number] for number in sizes]
    return (
        charts.Figure(
            "Score by day of the week",
            f"{HEADLINE} of a user's day; the day of the week is d modulo 7.{whom}",
            (charts.means_and_middles("day of the week", HEADLINE, names, of_weekday),),
            charts.legend(charts.MIDDLE_LEGEND),
        ),
        charts.Figure(
            "Score by points a day",
            f"{HEADLINE} of a user's day, by how many half hours of it are known.{whom}",
            (charts.means_and_middles("points a day", HEADLINE, ranges, of_size),),
            charts.legend(charts.MIDDLE_LEGEND),
        ),
    )


def error_map(dataset: HumobDataset, drawn: Sequence[Record], whom: str) -> charts.Figure:
    """The mean distance of the generated place from the real one, by where the real one is."""
    real = np.concatenate(
        [dataset.targets(dataset.index_of[r.sample])[:, 2:] for r in drawn]
    ).astype(int)
    generated = np.concatenate([cells_of(record.answer) for record in drawn])
    apart = np.hypot(*(generated - real).T) * CELL_KM
    low = real.min(axis=0)
    block = max(1, -(-int((real.max(axis=0) - low).max() + 1) // MOST_BLOCKS))
    across, down = ((real - low) // block).T
    height = int(down.max()) + 1
    where = across * height + down
    counts = np.bincount(where)
    filled = np.flatnonzero(counts)
    count = counts[filled]
    mean = np.bincount(where, apart)[filled] / count
    corner = np.stack(np.divmod(filled, height), axis=1) * block + low - 0.5
    columns: dict[str, list[Any]] = {
        "left": corner[:, 0].tolist(),
        "right": (corner[:, 0] + block).tolist(),
        "bottom": corner[:, 1].tolist(),
        "top": (corner[:, 1] + block).tolist(),
        "value": mean.round(2).tolist(),
        "n": count.tolist(),
    }
    made = charts.heat_map("x (cells)", "y (cells)", columns, "km", height=440, match_aspect=True)
    return charts.Figure(
        "Error map",
        f"Mean distance between the generated and the real place, by the real place, in blocks of "
        f"{block} × {block} cells.{whom}",
        (made,),
    )
