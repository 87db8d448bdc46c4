"""The tables of a run: every user, every day, weekdays and weekends, the worst, points a day."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from pytest_agentbench.benchmarks.humob.data import HumobDataset
from pytest_agentbench.benchmarks.humob.scoring import (
    METRICS,
    READINGS,
    bounds_of_days,
    cells_of,
    days_in,
    score_days,
)

if TYPE_CHECKING:
    import numpy.typing as npt

    from pytest_agentbench.runs.record import Record

SCORES = tuple(f"{metric}_{reading}" for reading in READINGS for metric in METRICS)
WORST = 20
USERS_AT_A_TIME = 5000  # whose points are held in memory


def write_tables(folder: Path, dataset: HumobDataset, records: Sequence[Record]) -> None:
    """Writes ``users``, ``days`` (CSV and Parquet), ``weekdays``, ``worst_users``, ``points`` (CSV)."""
    days = day_table(dataset, records)
    users = user_table(dataset, records)
    for name, table in (("users", users), ("days", days)):
        table.write_csv(folder / f"{name}.csv")
        table.write_parquet(folder / f"{name}.parquet")
    # Failed users first: nothing is worse.
    worst = users.sort([*SCORES[:2], "uid"], descending=[False, True, False])
    worst.head(WORST).write_csv(folder / "worst_users.csv")
    day_of_week = days.with_columns((pl.col("d") % 7).cast(pl.String).alias("day_of_week"))
    kind = pl.when("weekend").then(pl.lit("weekend")).otherwise(pl.lit("weekday"))
    parts = [
        _summary(days.with_columns(kind.alias("day_of_week")), "day_of_week"),
        _summary(day_of_week, "day_of_week"),
    ]
    pl.concat(parts).write_csv(folder / "weekdays.csv")
    _summary(days, "points").drop("points_per_day").write_csv(folder / "points.csv")


def _summary(days: pl.DataFrame, key: str) -> pl.DataFrame:
    """Number of user-days, their points and their mean scores, for each value of a column."""
    means = [pl.col(name).mean() for name in SCORES]
    counts = [pl.len().alias("user_days"), pl.col("points").mean().alias("points_per_day")]
    return days.group_by(key).agg(*counts, *means).sort(key)


def day_table(dataset: HumobDataset, records: Sequence[Record]) -> pl.DataFrame:
    """One row for each user, epoch and day with a valid answer."""
    # Those that were measured in this session bring the scores of their days.
    valid = [record for record in records if record.status == "ok"]
    known = [record for record in valid if record.basis]
    others = [record for record in valid if not record.basis]
    starts = range(0, len(others), USERS_AT_A_TIME)
    parts = [_days(dataset, others[at : at + USERS_AT_A_TIME]) for at in starts]
    return pl.concat([_days(dataset, known), *parts]).sort("uid", "epoch", "d")


def _days(dataset: HumobDataset, valid: Sequence[Record]) -> pl.DataFrame:
    indices = _indices(dataset, valid)
    truth, sizes = dataset.targets_of(indices)
    bounds, counts = bounds_of_days(truth[:, 0], sizes)
    data = {
        "uid": np.repeat(dataset.uids[indices], counts),
        "epoch": np.repeat(np.array([record.epoch for record in valid], np.int64), counts),
        "d": truth[bounds[:-1], 0],
        "points": np.diff(bounds),
    }
    table = pl.DataFrame({name: pl.Series(v, dtype=pl.Int64) for name, v in data.items()})
    weekend = np.isin(data["d"] % 7, dataset.split.weekend)
    table = table.with_columns(pl.Series("weekend", weekend, dtype=pl.Boolean))
    if valid and not valid[0].basis:
        generated = np.concatenate([cells_of(record.answer).astype(np.int16) for record in valid])
        scores = score_days(generated, truth[:, 2:], bounds)
        columns = [scores[reading][metric] for reading in READINGS for metric in METRICS]
    else:
        columns = list(days_in(b"".join(record.basis for record in valid)).T)
    named = zip(SCORES, columns, strict=True)
    return table.with_columns(pl.Series(name, column, pl.Float64) for name, column in named)


def _indices(dataset: HumobDataset, records: Sequence[Record]) -> npt.NDArray[np.intp]:
    return np.array([dataset.index_of[record.sample] for record in records], np.intp)


def user_table(dataset: HumobDataset, records: Sequence[Record]) -> pl.DataFrame:
    """One row for each user and epoch; a failed one has GEO-BLEU 0 and no DTW, as in the score."""
    indices = _indices(dataset, records)
    points = (dataset.stops - dataset.starts)[indices]
    days = dataset.days[indices]
    failed = {"geobleu": 0.0, "dtw": None}
    columns = {
        "uid": pl.Series(dataset.uids[indices], dtype=pl.Int64),
        "epoch": pl.Series([record.epoch for record in records], dtype=pl.Int64),
        "status": pl.Series([record.status for record in records], dtype=pl.String),
        "days": pl.Series(days, dtype=pl.Int64),
        "points": pl.Series(points, dtype=pl.Int64),
        "points_per_day": pl.Series(points / days, dtype=pl.Float64),
    }
    for reading in READINGS:
        for metric in METRICS:
            values = [
                r.metrics[reading][metric] if r.status == "ok" else failed[metric] for r in records
            ]
            columns[f"{metric}_{reading}"] = pl.Series(values, dtype=pl.Float64)
    return pl.DataFrame(columns).sort("uid", "epoch")
