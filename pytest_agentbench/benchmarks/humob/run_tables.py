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
    day_bounds,
    score_days,
)

if TYPE_CHECKING:
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
    valid = [record for record in records if record.status == "ok"]
    starts = range(0, max(1, len(valid)), USERS_AT_A_TIME)
    parts = [_days(dataset, valid[at : at + USERS_AT_A_TIME]) for at in starts]
    return pl.concat(parts).sort("uid", "epoch", "d")


def _days(dataset: HumobDataset, valid: Sequence[Record]) -> pl.DataFrame:
    indices = [dataset.index_of[record.sample] for record in valid]
    truths = [dataset.targets(index) for index in indices]
    bounds, counts = bounds_of_days(truths)
    truth = np.concatenate([dataset.table.rows[:0], *truths])
    data = {
        "uid": np.repeat(dataset.uids[indices], counts),
        "epoch": np.repeat(np.array([record.epoch for record in valid], np.int64), counts),
        "d": truth[bounds[:-1], 0],
        "points": np.diff(bounds),
    }
    table = pl.DataFrame({name: pl.Series(v, dtype=pl.Int64) for name, v in data.items()})
    weekend = np.isin(data["d"] % 7, dataset.split.weekend)
    table = table.with_columns(pl.Series("weekend", weekend, dtype=pl.Boolean))
    values: dict[str, np.ndarray] = {name: np.empty(0) for name in SCORES}
    if valid:
        generated = np.concatenate([cells_of(r.answer).astype(np.int32) for r in valid])
        scores = score_days(generated, truth[:, 2:].astype(np.int32), bounds)
        values = {f"{m}_{r}": scores[r][m] for r in READINGS for m in METRICS}
    return table.with_columns(pl.Series(name, v, pl.Float64) for name, v in values.items())


def user_table(dataset: HumobDataset, records: Sequence[Record]) -> pl.DataFrame:
    """One row for each user and epoch; a failed one has GEO-BLEU 0 and no DTW, as in the score."""
    rows = []
    for record in records:
        index = dataset.index_of[record.sample]
        days = dataset.targets(index)[:, 0]
        count = len(day_bounds(days)) - 1
        failed = {"geobleu": 0.0, "dtw": None}
        scores = [
            record.metrics[reading][metric] if record.status == "ok" else failed[metric]
            for reading in READINGS
            for metric in METRICS
        ]
        uid = int(dataset.uids[index])
        rows.append(
            [uid, record.epoch, record.status, count, len(days), len(days) / count, *scores]
        )
    schema = {
        "uid": pl.Int64,
        "epoch": pl.Int64,
        "status": pl.String,
        "days": pl.Int64,
        "points": pl.Int64,
        "points_per_day": pl.Float64,
        **dict.fromkeys(SCORES, pl.Float64),
    }
    return pl.DataFrame(rows, schema=schema, orient="row").sort("uid", "epoch")
