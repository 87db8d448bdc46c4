"""Validates the file that is sent to the organisers, and reports all problems at once."""

from __future__ import annotations

import itertools
import re
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pytest_agentbench.base.compressed import HARMLESS, unzipped
from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks.humob import table_cache
from pytest_agentbench.benchmarks.humob.editions import (
    CELL_MAX,
    CELL_MIN,
    COLUMNS,
    MASKED,
    SLOTS,
    Edition,
    Span,
    find_edition,
)
from pytest_agentbench.benchmarks.humob.tables import is_whole

if TYPE_CHECKING:
    import numpy.typing as npt

    Ints = npt.NDArray[np.int64]
    Bools = npt.NDArray[np.bool_]

SUCCESS = "Validation finished without errors!"
SHOWN = 5  # examples of each kind of problem; all are counted
HEADER = ",".join(COLUMNS)


def validate(path: Path, edition: object, task: object, dataset: Path | None = None) -> list[str]:
    """All problems of a submission file, one line for each kind; none means it can be sent.

    With the data set the half hours of every user are compared too.
    """
    rules = find_edition(edition)
    name = rules.task_name(str(task))
    if not path.is_file():
        raise BenchmarkError(f"{path}: no such file; expected a submission")
    found = Problems()
    _check_name(path, rules, name, found)
    text = _text(path, found)
    rows = _parse(text, found)
    del text
    if len(rows):
        _check_values(rows, rules, found)
        _check_order(rows, found)
        _check_users(rows, rules.task(name), found)
        if dataset is not None:
            _check_moments(rows, rules, name, dataset, found)
    elif not found.lines:
        found.add("the file has no rows")
    return found.lines


@dataclass
class Problems:
    """What was found, one line for each kind."""

    lines: list[str] = field(default_factory=list)

    def add(self, line: str) -> None:
        self.lines.append(line)

    def add_all(self, rule: str, count: int, examples: Iterable[str]) -> None:
        """A rule that is broken ``count`` times, with the first examples."""
        shown = list(itertools.islice(examples, SHOWN))
        self._add_shown(rule, count, shown, count - len(shown))

    def add_users(self, rule: str, uids: Ints) -> None:
        """User ids; consecutive ones are shown as a range, so that many of them do not fill the screen."""
        breaks = np.flatnonzero(np.diff(uids) != 1)
        firsts = uids[np.append(0, breaks + 1)].tolist()
        lasts = uids[np.append(breaks, len(uids) - 1)].tolist()
        runs = [Span(*run) for run in zip(firsts[:SHOWN], lasts[:SHOWN], strict=True)]
        shown = [f"uid {run if len(run) > 1 else run.first}" for run in runs]
        self._add_shown(rule, len(uids), shown, len(uids) - sum(map(len, runs)))

    def _add_shown(self, rule: str, count: int, shown: list[str], more: int) -> None:
        rest = f", … and {more} more" if more else ""
        self.lines.append(f"{rule}: {count} ({', '.join(shown)}{rest})")


@dataclass(frozen=True)
class Lines:
    """The rows that are whole numbers, and the lines they stand in."""

    numbers: Ints  # (rows, 5)
    line: Ints

    def __len__(self) -> int:
        return len(self.numbers)


def _check_name(path: Path, edition: Edition, task: str, found: Problems) -> None:
    expected = edition.submission_name("TEAM", task)
    if not re.fullmatch(re.escape(expected).replace("TEAM", r"[\w-]+"), path.name, re.ASCII):
        found.add(f"file name: expected {expected.replace('TEAM', '{team}')}, got {path.name}")


def _text(path: Path, found: Problems) -> bytes:
    """The contents; of a damaged gzip file, what can be read of it."""
    raw = path.read_bytes()
    if raw[:2] != b"\x1f\x8b":
        found.add(f"gzip: expected a gzip file, got one that starts with {raw[:8]!r}")
        return raw
    try:
        return unzipped(path, raw)
    except (EOFError, OSError, zlib.error) as error:
        found.add(f"gzip: the data are damaged or cut off: {error}")
    try:
        return zlib.decompressobj(wbits=31).decompress(raw, HARMLESS)
    except zlib.error:
        return b""


def _parse(text: bytes, found: Problems) -> Lines:
    """All rows of whole numbers; the header and every line that is not such a row are problems."""
    first = text.split(b"\n", 1)[0].decode("utf-8", "replace").rstrip("\r")
    header = bool(first) and not first[0].isdigit() and first[0] not in "-+."
    if header and first != HEADER:
        found.add(f"header: expected {HEADER}, got {first[:80]!r}")
    fast = _parse_fast(text, header)
    return fast if fast is not None else _parse_lines(text, header, found)


def _parse_fast(text: bytes, header: bool) -> Lines | None:
    """A columnar read; None where the file is not plain whole numbers throughout."""
    import polars as pl

    if b'"' in text or b" " in text or b"+" in text:
        return None  # read as numbers here, but not by everybody
    schema = dict.fromkeys(COLUMNS, pl.Int64)
    try:
        frame = pl.read_csv(text, has_header=False, skip_rows=int(header), schema=schema)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        return None
    if any(frame[name].null_count() for name in COLUMNS):
        return None
    return Lines(frame.to_numpy(), np.arange(frame.height) + 1 + header)


def _parse_lines(text: bytes, header: bool, found: Problems) -> Lines:
    """Line by line, for files with something wrong in them."""
    rows: list[list[int]] = []
    numbers: list[int] = []
    wrong_width: list[str] = []
    not_whole: list[str] = []
    for number, line in enumerate(text.decode("utf-8", "replace").splitlines(), 1):
        values = line.split(",")
        if number == 1 and header:
            continue
        if len(values) != len(COLUMNS):
            wrong_width.append(f"line {number} has {len(values)}")
            continue
        bad = next((v for v in values if not (is_whole(v) and v[0] != "+")), None)
        if bad is not None:
            not_whole.append(f"line {number}: {bad[:40]!r}")
            continue
        rows.append([int(value) for value in values])
        numbers.append(number)
    if wrong_width:
        found.add_all(f"lines without {len(COLUMNS)} columns", len(wrong_width), wrong_width)
    if not_whole:
        found.add_all("lines with a value that is no whole number", len(not_whole), not_whole)
    array = np.array(rows, np.int64).reshape(-1, len(COLUMNS))
    return Lines(array, np.array(numbers, np.int64))


def _check_values(rows: Lines, edition: Edition, found: Problems) -> None:
    masked = (rows.numbers[:, 3:] == MASKED).any(axis=1)
    _report(rows, masked, f"rows with {MASKED} left in", ("x", "y"), found)
    cells = Span(CELL_MIN, CELL_MAX)
    spans = (edition.predict_days, Span(0, SLOTS - 1), cells, cells)
    for name, values, span in zip(COLUMNS[1:], rows.numbers.T[1:], spans, strict=True):
        bad = (values < span.first) | (values > span.last)
        if name in "xy":
            bad &= ~masked
        _report(rows, bad, f"rows with {name} outside {span}", (name,), found)


def _report(rows: Lines, bad: Bools, rule: str, names: tuple[str, ...], found: Problems) -> None:
    """A problem that rows have, with the first lines and their values."""
    if not bad.any():
        return
    columns = [COLUMNS.index(name) for name in names]
    examples = (
        f"line {rows.line[i]}: " + " ".join(f"{COLUMNS[c]}={rows.numbers[i, c]}" for c in columns)
        for i in np.flatnonzero(bad)[:SHOWN]
    )
    found.add_all(rule, int(bad.sum()), examples)


def _check_order(rows: Lines, found: Problems) -> None:
    uid, d, t = rows.numbers[:, :3].T
    moment = d * SLOTS + t
    for order, wrong, rule in (
        (np.argsort(uid, kind="stable"), np.less, "rows earlier than the user's row before"),
        (np.lexsort((moment, uid)), np.equal, "rows that repeat a uid, d and t"),
    ):
        row, before = order[1:], order[:-1]
        bad = np.zeros(len(rows), bool)
        bad[row] = (uid[row] == uid[before]) & wrong(moment[row], moment[before])
        _report(rows, bad, rule, ("uid", "d", "t"), found)


def _check_users(rows: Lines, users: Span, found: Problems) -> None:
    present = np.unique(rows.numbers[:, 0])
    wanted = np.arange(users.first, users.last + 1)
    for rule, uids in (
        (f"users missing of {users}", np.setdiff1d(wanted, present)),
        (f"users that are not of {users}", np.setdiff1d(present, wanted)),
    ):
        if len(uids):
            found.add_users(rule, uids)


def _check_moments(
    rows: Lines, edition: Edition, task: str, dataset: Path, found: Problems
) -> None:
    """The half hours of every user against those the data set asks about."""
    cached = table_cache.load_table(dataset)
    table_cache.check_days(cached, dataset, edition)
    table, users, days = cached.table, edition.task(task), edition.predict_days
    wanted_parts = []
    for index in np.flatnonzero((table.uids >= users.first) & (table.uids <= users.last)):
        low, high = table.day_starts[index, [days.first, days.last + 1]]
        times = table.at(int(index))[low:high, :2].astype(np.int64)
        wanted_parts.append(_moments(np.full(len(times), table.uids[index]), times))
    if not wanted_parts:
        found.add(f"{dataset} has none of the users {users}: is it of another task?")
        return
    wanted = np.concatenate(wanted_parts)
    in_both = np.isin(rows.numbers[:, 0], table.uids) & (rows.numbers[:, 0] >= users.first)
    in_both &= (rows.numbers[:, 0] <= users.last) & (rows.numbers[:, 2] < SLOTS)
    in_both &= (rows.numbers[:, 1:3] >= 0).all(axis=1)
    given = _moments(rows.numbers[in_both, 0], rows.numbers[in_both, 1:3])
    unexpected = np.zeros(len(rows), bool)
    unexpected[np.flatnonzero(in_both)[~np.isin(given, wanted)]] = True
    _report(rows, unexpected, "rows the data set does not ask for", ("uid", "d", "t"), found)
    lacking = wanted[~np.isin(wanted, given)]
    lacking = lacking[np.isin(lacking // _USER, rows.numbers[:, 0])]  # whole users: listed already
    if len(lacking):
        found.add_all(
            "rows of the data set that are not predicted",
            len(lacking),
            (f"uid={m // _USER} d={m % _USER // SLOTS} t={m % SLOTS}" for m in lacking.tolist()),
        )


_USER = 1000 * SLOTS  # moments a user: one number for uid, d and t


def _moments(uid: Ints, times: Ints) -> Ints:
    return uid.astype(np.int64) * _USER + times[:, 0] * SLOTS + times[:, 1]
