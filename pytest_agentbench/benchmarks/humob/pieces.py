"""Reads Parquet partitions piece by piece: the rows stay with the task that scores them.

Two rounds. First every partition is read once, checked and counted: who has how many rows in it.
Then the users are divided into groups of a bounded number of rows, and each group is scored by a
task that reads its users' rows alone (:mod:`.user_groups`). What comes back is a few numbers a user,
never a row, and no task holds more than a partition (first round) or a group (second), however large
the table is.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.base.files import file_digest
from pytest_agentbench.benchmarks.humob import table_cache
from pytest_agentbench.benchmarks.humob.data import AskedUsers, Split, UserCounts, find_file
from pytest_agentbench.benchmarks.humob.editions import COLUMNS, MASKED
from pytest_agentbench.benchmarks.humob.submission import extra_users, wrong_rows
from pytest_agentbench.benchmarks.humob.tables import in_order, read_rows, suffix_of
from pytest_agentbench.benchmarks.humob.user_groups import Group, Part, Piece, read_group
from pytest_agentbench.benchmarks.protocol import Partitioned, Portion
from pytest_agentbench.benchmarks.sources.partitions import files_of, is_partitioned, joined_digest

if TYPE_CHECKING:
    import numpy.typing as npt

    from pytest_agentbench.benchmarks.protocol import Each
    from pytest_agentbench.settings.settings import Settings

    Ints = npt.NDArray[np.int64]

MOST_ROWS = 2_000_000  # in a group; a task holds about 100 bytes for each
LEAST_ROWS = 20_000  # below that a task costs more than it saves
TASKS_A_CORE = (
    12  # in a round: few, since each costs milliseconds; many, since all wait for the last
)
ADDED_AT_ONCE = 1_000_000  # counts of users that are added up together


@dataclass(frozen=True)
class Counted:
    """What the first round finds in a file."""

    part: Part
    size: int
    digest: str
    counts: Ints  # (4, users): uid, rows, rows on the days to predict, masked rows among them
    rows: int
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


def count_files(parts: Sequence[Part], split: Split) -> list[Counted]:
    """The first round, for some files: one is held at a time."""
    return [count(part, split) for part in parts]


def count(part: Part, split: Split) -> Counted:
    """One file: read, checked, counted."""
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
    return Counted(part, size, digest, np.stack([uids, *counted]), len(uid), strange)


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

    def count(self, each: Each, cores: int) -> None:
        split = self._split
        self._data = data = self._counted(self._place, self._parts[0], each, cores)
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
        self._answers = self._counted(self._path, self._parts[1], each, cores)
        self.digest = self._answers.digest

    def _counted(self, path: Path, parts: Sequence[Part], each: Each, cores: int) -> Users:
        tasks = min(len(parts), TASKS_A_CORE * cores)
        bundles = [parts[first::tasks] for first in range(tasks)]
        counted = each(partial(count_files, split=self._split), bundles)
        found = added(itertools.chain.from_iterable(counted))
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
        place = data.first[at], np.where(answered, answers.first[also], -1)
        order = np.lexsort((uids, *reversed(place)))
        cuts = _cuts(rows[order], [column[order] for column in place], cores)
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


def _cuts(rows: Ints, place: Sequence[Ints], cores: int) -> npt.NDArray[np.intp]:
    """Where a new group begins among users in the order of the files in which their rows begin.

    Between files, so that few of them are read for two groups; within a file that is too large.
    """
    size = int(rows.sum()) // (TASKS_A_CORE * cores)
    size = min(max(size, LEAST_ROWS), MOST_ROWS // 2)
    new = np.append(True, np.any([column[1:] != column[:-1] for column in place], axis=0))
    unit = np.cumsum(new) - 1  # users whose rows begin in the same files
    before = np.cumsum(rows) - rows
    large = np.bincount(unit, rows) > size
    bucket = np.where(large[unit], before, before[new][unit]) // size
    # A large unit shares no group, so that none has more than twice the size.
    turn = np.cumsum(large, dtype=np.int64)
    alone = np.where(large, turn, -turn)[unit]
    return np.flatnonzero(np.diff(bucket) | np.diff(alone)) + 1


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
    files = [file for file, n in zip(users.files, needed, strict=True) if n]
    rows = int(users.rows[at].sum())
    whole = rows == sum(file.rows for file in files)
    return Piece([(file.part, file.size) for file in files], users.uids[at], rows, whole)
