"""Submission files: read as answers, and written by inference runs."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks.humob import table_cache
from pytest_agentbench.benchmarks.humob.data import TARGET, AskedUsers, HumobDataset
from pytest_agentbench.benchmarks.humob.editions import COLUMNS
from pytest_agentbench.benchmarks.humob.tables import Table, joined
from pytest_agentbench.benchmarks.humob.validate import SUCCESS, validate
from pytest_agentbench.benchmarks.protocol import Submission
from pytest_agentbench.benchmarks.sources.partitions import is_partitioned

if TYPE_CHECKING:
    import numpy.typing as npt

    from pytest_agentbench.runs.record import Record

    Places = npt.NDArray[np.intp]
    Mask = npt.NDArray[np.bool_]

SHOWN = 10  # of each kind of problem; the rest is counted
_AT_ONCE = 1000  # users whose rows are compared together


class FileAnswers(Mapping[str, Any]):
    """The rows (d, t, x, y) of each user by the sample's name, looked up on demand."""

    def __init__(self, table: Table) -> None:
        self.table = table

    def __getitem__(self, key: str) -> npt.NDArray[np.int64]:
        uid = key.removeprefix(f"{TARGET}[").removesuffix("]")
        rows = self.table.of(int(uid)) if uid.isascii() and uid.isdigit() else ()
        if not len(rows):
            raise KeyError(key)
        return np.array(rows, np.int64)

    def __iter__(self) -> Iterator[str]:
        return (f"{TARGET}[{uid}]" for uid in self.table.uids.tolist())

    def __len__(self) -> int:
        return len(self.table.uids)


def read_submission(path: Path, dataset: HumobDataset) -> Submission:
    """The answers in a prediction file, and what is wrong with it as a whole.

    A user who is missing is missing in the answers; users nobody asked about and rows that do not
    fit the targets are problems.
    """
    if not path.is_file() and not is_partitioned(path):
        raise BenchmarkError(f"submission {path}: no such file; expected rows {','.join(COLUMNS)}")
    ahead = dataset.read_ahead.get(path)
    table = (table_cache.load_table(path) if ahead is None else ahead.result()).table
    problems = [
        *extra_users(path, table.uids, dataset, dataset.table.uids),
        *wrong_rows(path, list(wrong_users(table, dataset).values())),
    ]
    table_cache.let_go(table, dataset.table)
    return Submission(FileAnswers(table), tuple(problems))


def extra_users(
    path: Path,
    uids: npt.NDArray[np.int64],
    dataset: AskedUsers,
    known: npt.NDArray[np.int64],
) -> Iterator[str]:
    """The problem of users that are not to be predicted; ``known`` are the users in the data."""
    extra = np.setdiff1d(uids, dataset.uids)
    if dataset.split.selected:  # then others may be left out on purpose, if the data have them
        asked = dataset.split.users
        assert asked is not None
        inside = (extra >= asked.first) & (extra <= asked.last)
        extra = extra[inside | ~np.isin(extra, known)]
    if len(extra):
        yield (
            f"{path}: {len(extra)} users are not among the {len(dataset.keys)} to predict: "
            f"uid {listed(extra.tolist())}"
        )


def wrong_users(table: Table, dataset: HumobDataset) -> dict[int, str]:
    """The users whose days and half hours are not those to predict, and what is wrong."""
    wrong: dict[int, str] = {}
    for low in range(0, len(dataset.uids), _AT_ONCE):
        places = np.arange(low, min(low + _AT_ONCE, len(dataset.uids)))
        at, there = found(table, dataset, places)
        fits = times_fit(table, dataset, places, at, there)
        for index in places[there & ~fits].tolist():
            uid = int(dataset.uids[index])
            given, wanted = table.of(uid)[:, :2], dataset.targets(index)[:, :2]
            if len(given) != len(wanted):
                wrong[uid] = f"uid {uid} has {len(given)} rows, expected {len(wanted)}"
                continue
            row = int((given != wanted).any(axis=1).argmax())
            (d, t), (right_d, right_t) = given[row].tolist(), wanted[row].tolist()
            wrong[uid] = f"uid {uid} has d={d}, t={t} where d={right_d}, t={right_t} is expected"
    return wrong


def found(table: Table, dataset: HumobDataset, places: Places) -> tuple[Places, Mask]:
    """Where the table has the users at these places of the data set, and whether it has them."""
    at = np.searchsorted(table.uids, dataset.uids[places]).clip(max=len(table.uids) - 1)
    return at, table.uids[at] == dataset.uids[places]


def times_fit(table: Table, dataset: HumobDataset, places: Places, at: Places, there: Mask) -> Mask:
    """Whether the days and half hours of these users are those to predict."""
    starts, stops = table.starts[at], table.starts[at + 1]
    fits: Mask = there & (stops - starts == (dataset.stops - dataset.starts)[places])
    users = np.flatnonzero(fits)
    if len(users):
        wanted, sizes = dataset.targets_of(places[users])
        given = joined(table.rows, starts[users], stops[users])
        fits[users] = of_all_rows(_times(given) == _times(wanted), sizes)
    return fits


def _times(rows: npt.NDArray[np.int16]) -> npt.NDArray[np.int32]:
    """Day and half hour of each row as one number, which is compared ten times as fast as two."""
    return rows.view(np.int32)[:, 0]


def of_all_rows(right: Mask, sizes: npt.NDArray[np.int64]) -> Mask:
    """Whether something holds for all rows of a user; of each there are ``sizes``, at least one."""
    every: Mask = np.logical_and.reduceat(right, np.cumsum(sizes) - sizes)
    return every


def wrong_rows(path: Path, wrong: Sequence[str]) -> Iterator[str]:
    """The problem of :func:`wrong_users`, if there are any."""
    if wrong:
        yield (
            f"{path}: the rows of {len(wrong)} users do not fit the days and half hours to "
            f"predict: {listed(wrong, '; ')}"
        )


def listed(items: Sequence[object], separator: str = ", ") -> str:
    """The first items, and how many more there are."""
    text = separator.join(str(item) for item in items[:SHOWN])
    more = len(items) - SHOWN
    return f"{text}{separator}… and {more} more" if more > 0 else text


def submission_task(dataset: HumobDataset) -> str | None:
    """The task a run predicts: as given, else the one that all its users belong to."""
    split = dataset.split
    if split.task is not None:
        return split.task
    first, last = (split.edition.task_of(int(uid)) for uid in dataset.uids[[0, -1]])
    return first if first == last else None


def write_validated(folder: Path, dataset: HumobDataset, records: Sequence[Record]) -> None:
    """Writes the valid answers in the edition's format and, beside them, what the validation found.

    Of several epochs the first is written. Users without a valid answer have no rows: the validation
    names them.
    """
    edition, task = dataset.split.edition, submission_task(dataset)
    team = dataset.split.team
    name = "submission.csv.gz" if task is None else edition.submission_name(team, task)
    path = folder / name
    path.write_bytes(gzip.compress(_csv(dataset, records), compresslevel=6, mtime=0))
    problems = [f"the users belong to no task of HuMob {edition.name}"]
    if task is not None:
        problems = validate(path, edition.name, task, dataset.path) or [SUCCESS]
    text = "\n".join([path.name, *problems])
    (folder / "validation.txt").write_text(f"{text}\n", encoding="utf-8")


def _csv(dataset: HumobDataset, records: Sequence[Record]) -> bytes:
    import polars as pl

    answers = first_answers(records)
    parts = [
        np.column_stack(
            [
                np.full(len(cells), dataset.uids[index]),
                dataset.targets(index)[:, :2],
                np.asarray(cells, np.int64),
            ]
        )
        for index, key in enumerate(dataset.keys)
        if (cells := answers.get(str(key))) is not None
    ]
    rows = np.concatenate(parts) if parts else np.empty((0, len(COLUMNS)), np.int64)
    out = io.BytesIO()
    pl.DataFrame(rows, schema=dict.fromkeys(COLUMNS, pl.Int64), orient="row").write_csv(out)
    return out.getvalue()


def first_answers(records: Sequence[Record]) -> dict[str, Any]:
    """The valid answer of each sample in its first valid epoch."""
    answers: dict[str, Any] = {}
    for record in sorted(records, key=lambda record: record.epoch):
        if record.status == "ok":
            answers.setdefault(record.sample, record.answer)
    return answers
