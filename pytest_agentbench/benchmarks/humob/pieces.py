"""Reads Parquet partitions piece by piece: the rows stay with the task that scores them.

Two rounds. First every partition is read once, checked and counted: who has how many rows in it.
Then the users are divided into groups of a bounded number of rows, and each group is scored by a
task that reads its users' rows alone. What comes back is a few numbers a user, never a row, and no
task holds more than a partition (first round) or a group (second), however large the table is.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.base.files import file_digest
from pytest_agentbench.benchmarks.humob import table_cache
from pytest_agentbench.benchmarks.humob.data import (
    AskedUsers,
    HumobDataset,
    Split,
    UserCounts,
    find_file,
)
from pytest_agentbench.benchmarks.humob.editions import COLUMNS, MASKED
from pytest_agentbench.benchmarks.humob.submission import (
    FileAnswers,
    extra_users,
    wrong_rows,
    wrong_users,
)
from pytest_agentbench.benchmarks.humob.tables import (
    Table,
    in_order,
    merged,
    read_rows,
    rows_of,
    suffix_of,
)
from pytest_agentbench.benchmarks.protocol import Partitioned, Portion, Sample
from pytest_agentbench.benchmarks.sources.partitions import files_of, is_partitioned, joined_digest

if TYPE_CHECKING:
    import numpy.typing as npt

    from pytest_agentbench.benchmarks.protocol import Each
    from pytest_agentbench.settings.settings import Settings

    Ints = npt.NDArray[np.int64]

MOST_ROWS = 2_000_000  # in a group; a task holds about 100 bytes for each
LEAST_ROWS = 20_000  # below that a task costs more than it saves
GROUPS_A_CORE = 4
ADDED_AT_ONCE = 1_000_000  # counts of users that are added up together
AT_ONCE = 250  # users measured together: few enough to need no threads of their own


@dataclass(frozen=True)
class Part:
    """One file of a table."""

    path: Path
    number: int  # among the table's files
    alone: bool  # a file of its own, in the order of time; partitions have their rows in any order


@dataclass(frozen=True)
class Counted:
    """What the first round finds in a file."""

    part: Part
    size: int
    digest: str
    counts: Ints  # (4, users): uid, rows, rows on the days to predict, masked rows among them
    strange: tuple[int, int] | None  # the first day that the edition does not have, and a uid


@dataclass(frozen=True)
class Users:
    """The users of a table in ascending order, each with its counts over all files."""

    files: Sequence[Counted]  # in the order of their numbers, without their counts
    uids: Ints
    rows: Ints
    targets: Ints  # rows on the days to predict
    hidden: Ints  # masked rows among them
    first: Ints  # the number of the first file with rows of the user
    last: Ints

    @property
    def digest(self) -> str:
        return joined_digest(file.digest for file in self.files)


@dataclass(frozen=True)
class Piece:
    """The rows of some users, as a task finds them."""

    parts: Sequence[tuple[Part, int]]  # and how many bytes it had when it was counted
    uids: Ints
    rows: int


@dataclass(frozen=True)
class Group:
    """Users who are scored by one task."""

    data: Piece
    answers: Piece | None  # None: the submission has none of them
    name: str


def count(part: Part, split: Split) -> Counted:
    """The first round, for one file: read, checked, counted."""
    size = part.path.stat().st_size  # raises OSError where there is none
    digest = file_digest(part.path)
    uid, rows, where = read_rows(part.path)
    if part.alone:
        in_order(uid, rows, where)
    target = (rows[:, 0] >= split.days.first) & (rows[:, 0] <= split.days.last)
    uids, at = np.unique(uid.astype(np.int64), return_inverse=True)
    counted = [
        np.bincount(at[chosen], minlength=len(uids))
        for chosen in (slice(None), target, target & (rows[:, 2] == MASKED))
    ]
    outside = (rows[:, 0] < split.edition.days.first) | (rows[:, 0] > split.edition.days.last)
    strange = None
    if outside.any():
        day = int(rows[outside, 0].min())
        strange = day, int(uid[rows[:, 0] == day].min())
    return Counted(part, size, digest, np.stack([uids, *counted]), strange)


def added(counted: Iterable[Counted]) -> Users:
    """The counts of all files of a table, added up as they come."""
    files: dict[int, Counted] = {}
    columns = np.zeros((6, 0), np.int64)  # as the fields of Users
    waiting: list[Ints] = []
    for one in counted:
        files[one.part.number] = replace(one, counts=one.counts[:, :0])
        place = np.full((2, one.counts.shape[1]), one.part.number)
        waiting.append(np.concatenate([one.counts, place]))
        # In batches, so that neither memory nor work grows with the number of files.
        if sum(part.shape[1] for part in waiting) > max(ADDED_AT_ONCE, columns.shape[1]):
            columns, waiting = _added_up([columns, *waiting]), []
    columns = _added_up([columns, *waiting])
    return Users([files[number] for number in sorted(files)], *columns)


def _added_up(parts: Sequence[Ints]) -> Ints:
    every = np.concatenate(parts, axis=1)
    every = every[:, np.argsort(every[0], kind="stable")]
    starts = np.flatnonzero(np.diff(every[0], prepend=-1))
    if not len(starts):
        return every
    sums = [np.add.reduceat(column, starts) for column in every[1:4]]
    ends = [np.minimum.reduceat(every[4], starts), np.maximum.reduceat(every[5], starts)]
    return np.stack([every[0, starts], *sums, *ends])


class HumobPartitions(Partitioned):
    """A submission and its data, both in Parquet files."""

    def __init__(self, settings: Settings) -> None:
        if settings.mode != "test":
            raise BenchmarkError(
                f"--mode: expected test, where the truth is in the data, got {settings.mode}"
            )
        if settings.epochs > 1:
            raise BenchmarkError("--epochs: expected 1: files answer every sample once")
        if settings.dataset == "demo":
            raise BenchmarkError("--dataset: expected Parquet files, got demo, which is a CSV file")
        assert settings.submission is not None
        self._split = Split.from_settings(settings)
        self._place = find_file(Path(settings.dataset), self._split)
        self._path = settings.submission
        self._parts = _parts(self._place, "--dataset"), _parts(self._path, "--submission")

    def count(self, each: Each) -> None:
        split = self._split
        self._data = data = self._counted(self._place, self._parts[0], each)
        strange = [file.strange for file in data.files if file.strange is not None]
        if strange:
            day, uid = min(strange)
            table_cache.refuse_day(str(self._place), day, uid, split.edition)
        self.dataset: AskedUsers = AskedUsers(
            UserCounts(data.uids, data.targets, data.hidden),
            split,
            digest=data.digest,
            name=str(self._place),
        )
        self._answers = self._counted(self._path, self._parts[1], each)
        self.digest = self._answers.digest

    def _counted(self, path: Path, parts: Sequence[Part], each: Each) -> Users:
        found = added(each(partial(count, split=self._split), parts))
        if not len(found.uids):
            raise BenchmarkError(f"{path}: expected rows {','.join(COLUMNS)}, got none")
        return found

    def portions(
        self, indices: Sequence[int], cores: int
    ) -> tuple[Callable[[Any], Portion], Sequence[Any]]:
        groups = self._groups(self.dataset.uids[list(indices)], cores)
        return partial(read_group, split=self._split), groups

    def problems(self, wrong: Mapping[int, str]) -> tuple[str, ...]:
        return (
            *extra_users(self._path, self._answers.uids, self.dataset, self._data.uids),
            *wrong_rows(self._path, [wrong[uid] for uid in sorted(wrong)]),
        )

    def _groups(self, uids: Ints, cores: int) -> list[Group]:
        """Groups users by partition, so that few partitions are read by many tasks."""
        data, answers = self._data, self._answers
        at = np.searchsorted(data.uids, uids)
        also = np.searchsorted(answers.uids, uids).clip(max=len(answers.uids) - 1)
        answered = answers.uids[also] == uids
        rows = data.rows[at] + np.where(answered, answers.rows[also], 0)
        order = np.lexsort((uids, np.where(answered, answers.first[also], -1), data.first[at]))
        least = int(rows.sum()) // (GROUPS_A_CORE * cores)
        size = min(max(least, LEAST_ROWS), MOST_ROWS)
        ends = np.cumsum(rows[order])
        cuts = np.flatnonzero(np.diff(ends // size)) + 1
        groups = []
        for chosen in np.split(order, cuts):
            chosen = np.sort(chosen)
            given = chosen[answered[chosen]]
            groups.append(
                Group(
                    _piece(data, at[chosen]),
                    _piece(answers, also[given]) if len(given) else None,
                    self.dataset.name,
                )
            )
        return groups


def _parts(path: Path, option: str) -> list[Part]:
    """The files of a table at their full paths, where workers look for them."""
    path = path.absolute()
    partitioned = is_partitioned(path)
    files = files_of(path)
    if not partitioned and suffix_of(path) != ".parquet":
        raise BenchmarkError(
            f"{option}: expected Parquet (a file, a folder of part-*.parquet or a pattern), got {path}; "
            f"polars.scan_csv('{path.name}').sink_parquet('{path.name.partition('.')[0]}.parquet') "
            "makes one of a CSV file with a header"
        )
    return [Part(file, number, not partitioned) for number, file in enumerate(files)]


def _piece(users: Users, at: npt.NDArray[np.intp]) -> Piece:
    """The users at these places, and the files from their first to their last."""
    steps = np.zeros(len(users.files) + 1, np.int64)
    np.add.at(steps, users.first[at], 1)
    np.add.at(steps, users.last[at] + 1, -1)
    needed = np.cumsum(steps[:-1]) > 0
    parts = [(file.part, file.size) for file, n in zip(users.files, needed, strict=True) if n]
    return Piece(parts, users.uids[at], int(users.rows[at].sum()))


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
        frame = pl.scan_parquet(part.path, glob=False).filter(among).select(COLUMNS).collect()
        found.append((*rows_of(frame), _without_row(part.path)))
    if sum(len(uid) for uid, _, _ in found) != piece.rows:
        raise _changed(piece.parts[0][0].path)
    if len(found) == 1 and piece.parts[0][0].alone:
        return in_order(*found[0])
    return merged(found)


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
    samples = (
        [
            Sample(dataset.keys[index], None, dataset.targets(index).astype(np.int64))
            for index in range(start, min(start + AT_ONCE, len(dataset)))
        ]
        for start in range(0, len(dataset), AT_ONCE)
    )
    if group.answers is None:
        return Portion(samples, {}, {})
    given = read_piece(group.answers)
    return Portion(samples, FileAnswers(given), wrong_users(given, dataset))
