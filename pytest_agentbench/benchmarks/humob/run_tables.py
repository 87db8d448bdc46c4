"""The tables of a run: every user, every day, weekdays and weekends, the worst, points a day.

A table is a dictionary of columns, all of one length. Polars takes longer to import than a short run is
scored: it writes only the tables of a large run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

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

    Table = Mapping[str, npt.NDArray[Any]]

SCORES = tuple(f"{metric}_{reading}" for reading in READINGS for metric in METRICS)
WORST = 20
USERS_AT_A_TIME = 5000  # whose points are held in memory
LARGE = 1000  # users (times epochs): with more, tables are written as Parquet, too


def write_tables(folder: Path, dataset: HumobDataset, records: Sequence[Record]) -> None:
    """Writes ``users``, ``days``, ``weekdays``, ``worst_users``, ``points``."""
    days = day_table(dataset, records)
    users = user_table(dataset, records)
    for name, table in (("users", users), ("days", days)):
        if len(records) > LARGE:
            _write_large(folder / name, table)
        else:
            write_csv(folder / f"{name}.csv", table)
    # Failed users first: nothing is worse.
    geobleu, dtw = (users[name] for name in SCORES[:2])
    worst = np.lexsort((users["uid"], -np.where(np.isnan(dtw), np.inf, dtw), geobleu))[:WORST]
    write_csv(folder / "worst_users.csv", _rows(users, worst))
    parts = [
        _summary(days, "day_of_week", key, names)
        for key, names in ((days["weekend"], ("weekday", "weekend")), (days["d"] % 7, "0123456"))
    ]
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    write_csv(folder / "weekdays.csv", joined)
    sizes = range(int(days["points"].max(initial=0)) + 1)
    points = _summary(days, "points", days["points"], sizes)
    del points["points_per_day"]
    write_csv(folder / "points.csv", points)


def _summary(
    days: Table, name: str, key: npt.NDArray[Any], names: Sequence[str | int]
) -> dict[str, npt.NDArray[Any]]:
    """Number of user-days, their points and their mean scores, for each key that occurs, by its name."""
    counts = np.bincount(key, minlength=len(names))
    there = np.flatnonzero(counts)
    columns = {"points_per_day": days["points"], **{score: days[score] for score in SCORES}}
    return {
        name: np.array([names[number] for number in there.tolist()]),
        "user_days": counts[there],
        **{
            column: np.bincount(key, of_days, len(names))[there] / counts[there]
            for column, of_days in columns.items()
        },
    }


def day_table(dataset: HumobDataset, records: Sequence[Record]) -> Table:
    """One row for each user, epoch and day with a valid answer."""
    # Those that were measured in this session bring the scores of their days.
    valid = [record for record in records if record.status == "ok"]
    known = [record for record in valid if record.basis]
    others = [record for record in valid if not record.basis]
    starts = range(0, len(others), USERS_AT_A_TIME)
    parts = [_days(dataset, others[at : at + USERS_AT_A_TIME]) for at in starts]
    if known or not parts:
        parts.append(_days(dataset, known))
    table = parts[0]
    if len(parts) > 1:
        table = {name: np.concatenate([part[name] for part in parts]) for name in table}
    return _in_order(table, "uid", "epoch", "d")


def _days(dataset: HumobDataset, valid: Sequence[Record]) -> Table:
    indices = _indices(dataset, valid)
    truth, sizes = dataset.targets_of(indices)
    bounds, counts = bounds_of_days(truth[:, 0], sizes)
    if valid and not valid[0].basis:
        generated = np.concatenate([cells_of(record.answer).astype(np.int16) for record in valid])
        found = score_days(generated, truth[:, 2:], bounds)
        scores = [found[reading][metric] for reading in READINGS for metric in METRICS]
    else:
        scores = list(days_in(b"".join(record.basis for record in valid)).T)
    days = truth[bounds[:-1], 0].astype(np.int64)
    return {
        "uid": np.repeat(dataset.uids[indices].astype(np.int64), counts),
        "epoch": np.repeat(np.array([record.epoch for record in valid], np.int64), counts),
        "d": days,
        "points": np.diff(bounds).astype(np.int64),
        "weekend": np.isin(days % 7, dataset.split.weekend),
        **dict(zip(SCORES, scores, strict=True)),
    }


def _indices(dataset: HumobDataset, records: Sequence[Record]) -> npt.NDArray[np.intp]:
    return np.array([dataset.index_of[record.sample] for record in records], np.intp)


def user_table(dataset: HumobDataset, records: Sequence[Record]) -> Table:
    """One row for each user and epoch; a failed one has GEO-BLEU 0 and no DTW (NaN), as in the score."""
    indices = _indices(dataset, records)
    points = (dataset.stops - dataset.starts)[indices]
    days = dataset.days[indices]
    failed = {"geobleu": 0.0, "dtw": np.nan}
    table: dict[str, npt.NDArray[Any]] = {
        "uid": dataset.uids[indices].astype(np.int64),
        "epoch": np.array([record.epoch for record in records], np.int64),
        "status": np.array([record.status for record in records], np.str_),
        "days": days.astype(np.int64),
        "points": points.astype(np.int64),
        "points_per_day": points / days,
    }
    for reading in READINGS:
        for metric in METRICS:
            values = [
                r.metrics[reading][metric] if r.status == "ok" else failed[metric] for r in records
            ]
            table[f"{metric}_{reading}"] = np.array(values, np.float64)
    return _in_order(table, "uid", "epoch")


def _in_order(table: Table, *names: str) -> Table:
    """The rows in the order of these columns; the table itself, which is large, if they are already."""
    order = np.lexsort([table[name] for name in reversed(names)])
    return table if (order[1:] > order[:-1]).all() else _rows(table, order)


def _rows(table: Table, rows: npt.NDArray[np.intp]) -> Table:
    return {name: column[rows] for name, column in table.items()}


def _write_large(path: Path, table: Table) -> None:
    """As CSV and as Parquet."""
    import polars as pl
    import polars.selectors as cs

    frame = pl.DataFrame(dict(table)).with_columns(cs.float().fill_nan(None))
    frame.write_csv(path.with_suffix(".csv"))
    frame.write_parquet(path.with_suffix(".parquet"))


def write_csv(path: Path, table: Table) -> None:
    """The bytes that Polars writes, for texts without commas and numbers below 1e16; NaN is nothing."""
    columns = [[_text(value) for value in column.tolist()] for column in table.values()]
    lines = [",".join(table), *map(",".join, zip(*columns, strict=True))]
    path.write_bytes("".join(f"{line}\n" for line in lines).encode())


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, float):
        return str(value)
    if value != value:
        return ""
    text = repr(value)
    if "e-05" in text:
        return np.format_float_positional(value, trim="0")
    return text.replace("e-0", "e-")
