"""The second round over partitions: a task reads the rows of a group of users and scores them.

Users whose answers are complete, nearly all, are checked and measured as arrays. The others are left to what checks
answers one by one and says what is wrong with each.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pytest_agentbench.benchmarks.humob import scoring, submitted, table_cache
from pytest_agentbench.benchmarks.humob.data import HumobDataset, Split
from pytest_agentbench.benchmarks.humob.editions import COLUMNS
from pytest_agentbench.benchmarks.humob.submission import FileAnswers, wrong_users
from pytest_agentbench.benchmarks.humob.tables import Table, in_order, merged, rows_of
from pytest_agentbench.benchmarks.protocol import Portion, Sample, Scored
from pytest_agentbench.metrics import kernel_loading

if TYPE_CHECKING:
    import numpy.typing as npt

    Ints = npt.NDArray[np.int64]

AT_ONCE = 250  # users measured together
COMPILED_ROWS = 100_000  # a group of so many has others beside it: compiled loops pay off


@dataclass(frozen=True)
class Part:
    """One file of a table."""

    path: Path
    number: int  # among the table's files
    alone: bool  # a file of its own, in the order of time; partitions have their rows in any order


@dataclass(frozen=True)
class Piece:
    """The rows of some users, as a task finds them."""

    parts: Sequence[tuple[Part, int]]  # and how many bytes it had when it was counted
    uids: Ints
    rows: int
    whole: bool  # whether the files have no other rows


@dataclass(frozen=True)
class Group:
    """Users who are scored by one task."""

    data: Piece
    answers: Piece | None  # None: the submission has none of them
    name: str


def read_piece(piece: Piece) -> Table:
    """The rows of some users; an error if they have changed since they were counted."""
    import polars as pl

    uids = piece.uids
    among = pl.col("uid").is_between(int(uids[0]), int(uids[-1])) & pl.col("uid").is_in(
        pl.Series(uids).implode()
    )
    found = []
    for part, size in piece.parts:
        if part.path.stat().st_size != size:
            raise _changed(part.path)
        rows = pl.scan_parquet(part.path, glob=False).select(COLUMNS)
        frame = (rows if piece.whole else rows.filter(among)).collect()
        found.append((*rows_of(frame), _without_row(part.path)))
    if sum(len(uid) for uid, _, _ in found) != piece.rows:
        raise _changed(piece.parts[0][0].path)
    one = len(found) == 1 and piece.parts[0][0].alone
    table = in_order(*found[0]) if one else merged(found)
    if not np.array_equal(table.uids, uids):
        raise _changed(piece.parts[0][0].path)
    return table


def _without_row(path: Path) -> Callable[[int], str]:
    """The name of a row in messages; its number in the file is unknown after a filter."""
    return lambda _: str(path)


def _changed(path: Path) -> OSError:
    """An ``OSError``, because it may concern this host only: its copy of the file may differ."""
    return OSError(
        0,
        "it is not as it was when it was counted: has it changed, or another copy here?",
        str(path),
    )


def read_group(group: Group, split: Split) -> Portion:
    """The second round, for one group: its users, and those whose rows do not fit."""
    table = table_cache.CachedTable(read_piece(group.data), digest="")
    everybody = replace(split, users=None)  # the group is chosen already
    dataset = HumobDataset(table, everybody, path=Path(os.devnull), name=group.name)
    given = None if group.answers is None else read_piece(group.answers)
    scored, others = Scored((), {}), np.arange(len(dataset))
    if given is not None:
        scored, others = _scored(dataset, given)
    samples = (
        [
            Sample(dataset.keys[index], None, dataset.targets(index).astype(np.int64))
            for index in others[start : start + AT_ONCE].tolist()
        ]
        for start in range(0, len(others), AT_ONCE)
    )
    if given is None:
        return Portion(scored, samples, {}, {})
    wrong = wrong_users(given, dataset) if len(others) else {}
    return Portion(scored, samples, FileAnswers(given), wrong)


def _scored(dataset: HumobDataset, given: Table) -> tuple[Scored, npt.NDArray[np.intp]]:
    """The users whose answers are valid, measured; and all others."""
    valid = np.zeros(len(dataset), bool)
    metrics: dict[str, dict[str, list[float]]] = {
        reading: {name: [] for name in scoring.METRICS} for reading in scoring.READINGS
    }
    if len(dataset.table.rows) >= COMPILED_ROWS:
        with contextlib.suppress(ImportError):  # without numba NumPy does it, slowly, and says so
            kernel_loading.load()
    span = dataset.split.days
    # Too few days to be scored in threads: every core of the cluster has a task already.
    at_once = max(1, (scoring.THREADED_DAYS - 2) // (span.last - span.first + 1))
    for start in range(0, len(dataset), at_once):
        places = np.arange(start, min(start + at_once, len(dataset)))
        users = submitted.valid_users(dataset, given, places)
        if users is None:
            continue
        valid[places[users.at]] = True
        found = scoring.columns_of_means(*submitted.day_scores(users))
        for reading, columns in metrics.items():
            for name, column in columns.items():
                column += found[reading][name]
    names = [str(dataset.keys[index]) for index in np.flatnonzero(valid).tolist()]
    return Scored(names, metrics), np.flatnonzero(~valid)
