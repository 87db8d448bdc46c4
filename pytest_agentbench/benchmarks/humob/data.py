"""The humob data set: which users are asked about which days, and what the agent may see."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_agentbench.base import own_files
from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks.humob import table_cache
from pytest_agentbench.benchmarks.humob.editions import (
    CELL_KM,
    CELL_MAX,
    CELL_MIN,
    MASKED,
    Edition,
    Span,
    find_edition,
    parse_span,
)
from pytest_agentbench.benchmarks.humob.table_cache import CachedTable
from pytest_agentbench.benchmarks.humob.tables import SUFFIXES, Table, joined
from pytest_agentbench.benchmarks.protocol import Dataset, Sample, SampleKey
from pytest_agentbench.benchmarks.sources.partitions import is_partitioned

if TYPE_CHECKING:
    import numpy.typing as npt

    from pytest_agentbench.settings.settings import Settings

DEMO_FILE = own_files.on_disk(__package__, "demo.csv.gz")
TARGET = "uid"


@dataclass(frozen=True)
class Split:
    """Who is asked about which days: what may differ between runs on the same file."""

    mode: str
    edition: Edition
    task: str | None
    users: Span | None  # None: everybody in the file
    selected: bool  # whether `users:` asks about some of the file on purpose
    days: Span
    team: str
    weekend: tuple[int, ...]  # days of the week, d % 7; only for tables
    hide: bool = False  # inference mode on data whose truth is known: as if it were masked

    @classmethod
    def from_settings(cls, settings: Settings) -> Split:
        given: Mapping[str, Any] = settings.parameters
        edition = find_edition(given.get("edition") or "2023")
        wanted = [str(given[name]) for name in ("task", "city") if given.get(name) is not None]
        tasks = {edition.task_name(name) for name in wanted}
        if len(tasks) > 1:
            raise BenchmarkError(f"task and city: expected one, got {' and '.join(wanted)}")
        task = tasks.pop() if tasks else None
        users = None if given.get("users") is None else parse_span(given["users"])
        if users is None and task is not None:
            users = edition.task(task)
        days = parse_span(given.get("predict_days") or str(edition.predict_days))
        if days.first not in edition.days or days.last not in edition.days:
            raise BenchmarkError(
                f"predict_days {days}: expected days within {edition.days} (HuMob {edition.name})"
            )
        return cls(
            mode=settings.mode,
            edition=edition,
            task=task,
            users=users,
            selected=given.get("users") is not None,
            days=days,
            team=given.get("team") or "agentbench",
            weekend=tuple(int(day) for day in (given.get("weekend") or "0,6").split(",")),
        )


@dataclass(frozen=True)
class UserCounts:
    """The users of a table in ascending order, with their rows on the days to predict."""

    uids: npt.NDArray[np.int64]
    targets: npt.NDArray[np.int64]
    hidden: npt.NDArray[np.int64]  # masked ones among them


class AskedUsers(Dataset):
    """Users with something to predict; their rows need not be here."""

    samples_here = False

    def __init__(self, users: UserCounts, split: Split, *, digest: str, name: str) -> None:
        self.split = split
        self.name = name
        self.truth_known = split.mode == "test"
        asked = np.ones(len(users.uids), bool)
        if split.users is not None:
            asked = (users.uids >= split.users.first) & (users.uids <= split.users.last)
        if not asked.any():
            raise BenchmarkError(
                f"{name}: no user of {split.users} is in it; it has {len(asked)} users, "
                f"uid {users.uids[0]} to {users.uids[-1]}. Set `users:` (or `task:`) to some of them"
            )
        without = asked & (users.targets == 0)
        self.indices: npt.NDArray[np.intp] = np.flatnonzero(asked & ~without)
        self.uids = users.uids[self.indices]
        self._check_targets(int(asked.sum()), users.hidden[self.indices])
        self.keys = [SampleKey(TARGET, str(uid)) for uid in self.uids.tolist()]
        parts = [digest, split.mode, str(split.days), self.uids.tolist()]
        self.digest = hashlib.sha256(json.dumps(parts).encode()).hexdigest()
        count = int(without.sum())
        left_out = f", {count} users without rows there left out" if count else ""
        self.description = (
            f"{name}: {len(self.keys)} users, days {split.days}, "
            f"HuMob {split.edition.name} format{left_out}"
        )

    def sample(self, index: int) -> Sample:
        away = "left in the partitions: only the workers of the cluster read them"
        return Sample(self.keys[index], away, away)

    def _check_targets(self, asked: int, masked: npt.NDArray[np.int64]) -> None:
        split = self.split
        if not len(self.indices):
            what = "rows" if self.truth_known else f"masked rows (x = y = {MASKED})"
            raise BenchmarkError(
                f"{self.name}: none of {asked} users has {what} on days {split.days}. "
                f"Set `predict_days:` or `users:`, or use `--mode test` where the truth is known"
            )
        hidden = self.uids[masked > 0]
        if self.truth_known and len(hidden):
            raise BenchmarkError(
                f"{self.name}: the truth of {len(hidden)} users (uid {hidden[0]} to "
                f"{hidden[-1]}) is masked (x = y = {MASKED}) on days {split.days}. Use "
                f"`--mode inference` to predict them, or set `users:` or `predict_days:` to "
                f"what is known"
            )


class HumobDataset(AskedUsers):
    """Users with something to predict, over arrays that all workers of a machine share."""

    samples_here = True

    def __init__(self, cached: CachedTable, split: Split, *, path: Path, name: str) -> None:
        self.read_ahead: Mapping[Path, Future[CachedTable]] = {}  # of a submission
        self.table = table = cached.table
        self.path = path
        starts, stops = _target_rows(table, split)
        users = UserCounts(table.uids, stops - starts, hidden_rows(table, split))
        super().__init__(users, split, digest=cached.digest, name=name)
        self.starts, self.stops = starts[self.indices], stops[self.indices]

    @functools.cached_property
    def days(self) -> npt.NDArray[np.int64]:
        """On how many days each user is asked about something."""
        span = slice(self.split.days.first, self.split.days.last + 2)
        rows = np.diff(self.table.day_starts[self.indices, span], axis=1)
        days: npt.NDArray[np.int64] = np.count_nonzero(rows, axis=1)
        return days

    def sample(self, index: int) -> Sample:
        """The context as plain lists; the truth as rows (d, t, x, y), or (d, t) if it is masked."""
        rows = self.table.at(int(self.indices[index]))
        history = rows[rows[:, 0] < self.split.days.first]
        history = history[history[:, 2] != MASKED]
        targets = self.targets(index)
        context = {
            "uid": int(self.uids[index]),
            "history": history.tolist(),
            "targets": targets[:, :2].tolist(),
            "grid": {
                "x": [CELL_MIN, CELL_MAX],
                "y": [CELL_MIN, CELL_MAX],
                "cell_km": CELL_KM,
            },
            "edition": self.split.edition.name,
        }
        # The truth has its own copy of the targets' times: an agent may change its context.
        truth = targets if self.truth_known else targets[:, :2]
        return Sample(self.keys[index], context, truth.astype(np.int64))

    def targets(self, index: int) -> npt.NDArray[np.int16]:
        """The rows (d, t, x, y) a user is asked about."""
        return self.table.rows[self.starts[index] : self.stops[index]]

    def targets_of(
        self, indices: npt.NDArray[np.intp]
    ) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.int64]]:
        """The rows of several users, one user after another, and how many each of them has."""
        starts, stops = self.starts[indices], self.stops[indices]
        return joined(self.table.rows, starts, stops), stops - starts


def load(settings: Settings) -> HumobDataset:
    """The data set that the settings name."""
    split = Split.from_settings(settings)
    demo = settings.dataset == "demo"
    if demo and split.mode == "inference":
        split = replace(split, hide=True)
    path = DEMO_FILE if demo else find_file(Path(settings.dataset), split)
    # Much of the work on a file is done by one core: the other reads the submission meanwhile.
    with ThreadPoolExecutor(1) as pool:
        beside = settings.submission
        ahead = {}
        if beside is not None and (is_partitioned(beside) or _is_table(beside)):
            ahead[beside] = pool.submit(table_cache.load_table, beside)
        cached = table_cache.load_table(path)
    name = "demo data (synthetic)" if demo else str(path)
    table_cache.check_days(cached, path, split.edition)
    dataset = HumobDataset(cached, split, path=path, name=name)
    dataset.read_ahead = ahead
    return dataset


def _is_table(path: Path) -> bool:
    return path.is_file() and path.name.lower().endswith(SUFFIXES)


def find_file(path: Path, split: Split) -> Path:
    """A file or partitions as they are; in a folder, the only data file or the only one named after the task."""
    if path.is_file() or is_partitioned(path):
        return path
    if not path.is_dir():
        raise BenchmarkError(
            f"dataset {path}: no such file or folder; expected `demo` or a file or folder of "
            f"{', '.join(SUFFIXES)}"
        )
    files = sorted(file for file in path.iterdir() if file.name.lower().endswith(SUFFIXES))
    chosen = files
    if len(files) > 1 and split.task is not None:
        word = f"{split.edition.task_word}{split.task}".lower()
        chosen = [file for file in files if word in file.name.lower().replace("_", "")]
    if len(chosen) != 1:
        listed = ", ".join(file.name for file in files[:10]) or "none"
        raise BenchmarkError(
            f"dataset {path}: expected one data file for "
            f"{split.edition.task_word} {split.task or '(not given)'}, got {listed}. "
            f"Name the file, or set `task:`; partitions of one table are called part-0.parquet, …, "
            f"or named by a pattern"
        )
    return chosen[0]


def _target_rows(table: Table, split: Split) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """For every user, where the rows to predict start and stop (they are in the order of time)."""
    starts = table.starts[:-1] + table.day_starts[:, split.days.first]
    stops = table.starts[:-1] + table.day_starts[:, split.days.last + 1]
    if split.mode == "inference" and not split.hide:
        hidden = hidden_rows(table, split)
        partly = (hidden > 0) & (hidden < stops - starts)
        if partly.any():
            uid = table.uids[int(partly.argmax())]
            raise BenchmarkError(
                f"uid {uid}: only some rows on days {split.days} are masked, expected all or none"
            )
        stops = np.where(hidden > 0, stops, starts)
    return starts, stops


def hidden_rows(table: Table, split: Split) -> npt.NDArray[np.int64]:
    """How many rows of each user are masked on the days to predict."""
    days = table.masked[:, split.days.first : split.days.last + 1]
    counts: npt.NDArray[np.int64] = days.sum(axis=1, dtype=np.int64)
    return counts
