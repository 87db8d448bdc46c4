"""Reading HuMob files: CSV (gzipped or not, with a header or not) or Parquet into checked arrays.

The fast path is a columnar read followed by whole-array checks. Only when one of them fails is the
file gone through for a message that names the file, the line, the value and the rule.
"""

from __future__ import annotations

import csv
import gzip
import io
import itertools
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from pytest_agentbench.base.compressed import check_gzip, check_parquet
from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks.humob.editions import (
    CELL_MAX,
    CELL_MIN,
    COLUMNS,
    DAY_MAX,
    DAY_MIN,
    MASKED,
    SLOTS,
    Span,
)
from pytest_agentbench.benchmarks.sources.partitions import files_of, is_partitioned

if TYPE_CHECKING:
    import numpy.typing as npt
    import polars as pl

    Ints = npt.NDArray[np.integer[Any]]
    Rows = tuple[Ints, npt.NDArray[np.int16], Callable[[int], str]]

SUFFIXES = (".csv", ".csv.gz", ".parquet")
MAX_UID = 2**31 - 1
# Of a file that are read together: small enough for the processor's cache, for few calls of the reader.
_BYTES, _ROWS = 8 << 20, 400_000
_CUT = (EOFError, zlib.error)  # what gzip raises beside OSError


@dataclass(frozen=True)
class Table:
    """Rows (d, t, x, y) of many users: those of ``uids[i]`` are ``rows[starts[i]:starts[i + 1]]``.

    Users are in ascending order, a user's rows in the order of time.
    """

    uids: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]  # one longer than uids
    rows: npt.NDArray[np.int16]
    day_starts: npt.NDArray[np.int16]  # (users, days + 1): rows of the user before each day
    masked: npt.NDArray[np.int8]  # (users, days): masked rows of the user on each day

    def of(self, uid: int) -> npt.NDArray[np.int16]:
        """The rows of a user; none for a uid that is not in the table."""
        index = int(np.searchsorted(self.uids, uid))
        if index == len(self.uids) or self.uids[index] != uid:
            return self.rows[:0]
        return self.at(index)

    def at(self, index: int) -> npt.NDArray[np.int16]:
        return self.rows[self.starts[index] : self.starts[index + 1]]


def joined(
    rows: npt.NDArray[np.int16], starts: npt.NDArray[np.int64], stops: npt.NDArray[np.int64]
) -> npt.NDArray[np.int16]:
    """Several stretches of rows, one after another; no copy where they lie so already."""
    if not len(starts):
        return rows[:0]
    if (starts[1:] == stops[:-1]).all():
        return rows[starts[0] : stops[-1]]
    pairs = zip(starts.tolist(), stops.tolist(), strict=True)
    return np.concatenate([rows[start:stop] for start, stop in pairs])


def suffix_of(path: Path) -> str:
    """The suffix that says how to read a file; :class:`BenchmarkError` where there is none."""
    for suffix in SUFFIXES:
        if path.name.lower().endswith(suffix):
            return suffix
    raise BenchmarkError(f"{path}: expected a file ending in {', '.join(SUFFIXES)}")


def read_table(path: Path, *, masked: bool = True) -> Table:
    """Reads and checks a table; ``masked`` says whether x = y = 999 may stand for a hidden cell.

    A file has the rows of a user in the order of time; partitions of a table may have them in any.
    """
    partitioned = is_partitioned(path)
    files = files_of(path) if partitioned else [path]
    parts = [read_rows(file, masked=masked) for file in files]
    if not any(len(uid) for uid, _, _ in parts):
        _refuse_empty(path)
    return merged(parts) if partitioned else in_order(*parts[0])


def read_rows(path: Path, *, masked: bool = True) -> Rows:
    """The checked rows of one file in its order: uids, (d, t, x, y), and how to name a row."""
    kind = suffix_of(path)
    if kind != ".parquet" and _is_gzipped(path):
        check_gzip(path)  # before any of it is unpacked
    header = kind != ".parquet" and has_header(path)
    frames = _read_parquet(path) if kind == ".parquet" else _read_csv(path, header)
    where = RowNames(path, first_line=None if kind == ".parquet" else 1 + header)
    # They grow in place: arrays joined at the end would be in memory twice.
    all_uids, all_rows, within = bytearray(), bytearray(), True
    for frame in frames:
        some_uids, some_rows = rows_of(frame)
        all_uids += some_uids.astype(np.int32, copy=False).data
        all_rows += some_rows.data
        within = within and _is_within(frame)
    uid = np.frombuffer(all_uids, np.int32)
    rows = np.frombuffer(all_rows, np.int16).reshape(-1, 4)
    if not within:
        _check_ranges(uid, rows, where, masked)
    return uid, rows, where


def _is_within(frame: pl.DataFrame) -> bool:
    """Whether every value is an ordinary one: then no row need be looked at, masked or wrong."""
    return frame.height > 0 and all(
        span.first <= frame[name].min() and frame[name].max() <= span.last  # type: ignore[operator]
        for name, (_, span) in _RULES.items()
    )


def rows_of(frame: pl.DataFrame) -> tuple[Ints, npt.NDArray[np.int16]]:
    """The columns of a frame as uids and rows (d, t, x, y)."""
    rows = np.empty((frame.height, 4), np.int16)
    for column, name in enumerate(COLUMNS[1:]):
        rows[:, column] = frame[name].to_numpy()
    return frame["uid"].to_numpy(), rows


def merged(parts: Sequence[Rows]) -> Table:
    """The table of rows that lie in several partitions, in any order."""
    uid = np.concatenate([part[0] for part in parts]).astype(np.int64)
    rows = np.concatenate([part[1] for part in parts])
    starts = np.cumsum([0, *(len(part[0]) for part in parts)])
    order = np.argsort((uid << 16) + _moments(rows), kind="stable")

    def where(index: int) -> str:
        row = int(order[index])
        part = int(np.searchsorted(starts, row, side="right")) - 1
        return parts[part][2](row - int(starts[part]))

    return in_order(uid[order], rows[order], where)


@dataclass(frozen=True)
class RowNames:
    """The name of a row in messages: its line in a text file, its number in a Parquet file."""

    path: Path
    first_line: int | None

    def __call__(self, index: int) -> str:
        if self.first_line is None:
            return f"{self.path}, row {index}"
        return f"{self.path}, line {index + self.first_line}"


def has_header(path: Path) -> bool:
    """Whether the first line is names: it is not when it starts with a digit or a sign."""
    first = next(text_lines(path), "").lstrip("\ufeff \t\"'")
    return bool(first.strip()) and not (first[0].isdigit() or first[0] in "-+.,")


def text_lines(path: Path) -> Iterator[str]:
    """The lines of a file, gzipped or not, without their ends."""
    try:
        with _opened(path) as stream:
            for line in stream:
                yield line.decode("utf-8", "replace").rstrip("\r\n")
    except (gzip.BadGzipFile, *_CUT) as error:
        raise BenchmarkError(f"{path}: expected whole gzip data, got a part ({error})") from None


def _opened(path: Path) -> gzip.GzipFile | io.BufferedReader:
    return gzip.GzipFile(path, "rb") if _is_gzipped(path) else path.open("rb")


def _is_gzipped(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == b"\x1f\x8b"


def _read_parquet(path: Path) -> Iterator[pl.DataFrame]:
    import polars as pl

    check_parquet(path)
    try:
        frame = pl.read_parquet(path, glob=False)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        # Polars panics on a damaged page, and its panic is not an Exception.
        raise BenchmarkError(f"{path}: expected a Parquet file, got: {error!s:.200}") from None
    _check_names(path, frame.columns)
    frame = frame.select(COLUMNS)
    for name in COLUMNS:
        column = frame[name]
        if column.null_count():
            row = column.is_null().arg_true()[0]
            raise BenchmarkError(f"{path}, row {row}: {name} is missing, expected a whole number")
        if not column.dtype.is_integer():
            raise BenchmarkError(
                f"{path}: column {name} is {column.dtype}, expected whole numbers (an integer type)"
            )
        _check_bounds(column.to_numpy(), name, RowNames(path, None))
    return frame.iter_slices(_ROWS)


def _read_csv(path: Path, header: bool) -> Iterator[pl.DataFrame]:
    """The rows of a text file, some at a time: they need half of the memory of all at once."""
    import polars as pl

    names = list(COLUMNS)
    if header:
        names = _header_names(path)
        _check_names(path, names)
    else:
        width = len(next(text_lines(path), "").split(","))
        if width > 1 and width != len(COLUMNS):
            raise BenchmarkError(
                f"{path}, line 1: expected 5 columns ({','.join(COLUMNS)}), got {width}"
            )
    kinds = {name: pl.Int32 if name == "uid" else pl.Int16 for name in names if name in COLUMNS}
    schema = {name: kinds.get(name, pl.String) for name in names}
    ended = False  # by an empty line
    try:
        # Texts in further columns may have line ends of their own: such a file is read at once.
        for text in _pieces(path, header, _BYTES if len(names) == len(COLUMNS) else -1):
            if text.isspace():
                ended = True
                continue
            frame = pl.read_csv(text, has_header=False, schema=schema)
            wrong = ended
            if any(frame[name].null_count() for name in COLUMNS):
                frame = frame.select(COLUMNS)
                while frame.height and not any(value is not None for value in frame.row(-1)):
                    frame, ended = frame.head(-1), True
                wrong = wrong or any(frame[name].null_count() for name in COLUMNS)
            if wrong:
                _explain(path, names, header, "a value is missing")
            yield frame
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, *_CUT) as error:
        _explain(path, names, header, str(error))


def _pieces(path: Path, header: bool, size: int) -> Iterator[bytes]:
    """The text below the header in pieces of whole lines."""
    with _opened(path) as file:
        if header:
            file.readline()
        while text := file.read(size):
            yield text + file.readline()


def _header_names(path: Path) -> list[str]:
    line = next(text_lines(path)).lstrip("\ufeff")
    if line.count('"') % 2 or "\r" in line:
        raise BenchmarkError(f"{path}, header: expected names in one line, got {line[:80]!r}")
    return [name.strip(" \t\"'").lower() for name in next(csv.reader([line]))]


def _check_names(path: Path, names: list[str]) -> None:
    missing = [name for name in COLUMNS if name not in names]
    twice = [name for name in COLUMNS if names.count(name) > 1]
    if missing or twice:
        raise BenchmarkError(
            f"{path}, header: expected the columns {','.join(COLUMNS)}, got {','.join(names)[:200]}"
        )


def _explain(path: Path, names: list[str], header: bool, error: str) -> NoReturn:
    """Finds the first line that the fast reader could not take."""
    number = int(header)
    for number, line in itertools.islice(enumerate(text_lines(path), 1), int(header), None):
        values = line.split(",")
        if len(values) != len(names):
            raise BenchmarkError(
                f"{path}, line {number}: expected {len(names)} columns ({','.join(names)}), "
                f"got {len(values)}: {line[:80]!r}"
            )
        for name, value in zip(names, values, strict=True):
            if name in COLUMNS and not is_whole(value):
                raise BenchmarkError(
                    f"{path}, line {number}: {name} must be a whole number, got {value[:80]!r}"
                )
            if name in COLUMNS:
                _check_bounds(np.array([int(value)]), name, RowNames(path, number))
    if number == int(header):
        _refuse_empty(path)
    raise BenchmarkError(f"{path}: cannot be read as CSV: {error}")


def _refuse_empty(path: Path) -> NoReturn:
    raise BenchmarkError(f"{path}: expected rows {','.join(COLUMNS)}, got an empty file")


def is_whole(text: str) -> bool:
    """Whether a field is plain digits with at most a sign: `12`, but not `12.0` or ` 12`."""
    digits = text[1:] if text[:1] in ("-", "+") else text
    return digits.isascii() and digits.isdigit() and len(digits) < 19


# What the values of a column are called, and their smallest and largest.
_RULES = {
    "uid": ("", Span(0, MAX_UID)),
    "d": ("a day ", Span(DAY_MIN, DAY_MAX)),
    "t": ("a half hour ", Span(0, SLOTS - 1)),
    "x": ("a cell ", Span(CELL_MIN, CELL_MAX)),
    "y": ("a cell ", Span(CELL_MIN, CELL_MAX)),
}


def _check_bounds(
    values: Ints, name: str, where: RowNames, allowed: npt.NDArray[np.bool_] | None = None
) -> None:
    words, span = _RULES[name]
    bad = (values < span.first) | (values > span.last)
    if name in "xy":
        bad &= ~(values == MASKED if allowed is None else allowed)
    if bad.any():
        index = int(bad.argmax())
        hint = " (x and y are 999 together where masked)" if values[index] == MASKED else ""
        raise BenchmarkError(
            f"{where(index)}: {name} must be {words}{span}, got {values[index]}{hint}"
        )


def _check_ranges(uid: Ints, rows: Ints, where: RowNames, masked: bool) -> None:
    hidden = (rows[:, 2] == MASKED) & (rows[:, 3] == MASKED)
    if not masked and hidden.any():
        raise BenchmarkError(
            f"{where(int(hidden.argmax()))}: x and y are {MASKED}, expected cells "
            f"{CELL_MIN}-{CELL_MAX}: nothing may be left masked here"
        )
    for name, values in (("uid", uid), *zip(COLUMNS[1:], rows.T, strict=True)):
        _check_bounds(values, name, where, hidden)


def _moments(rows: npt.NDArray[np.int16]) -> npt.NDArray[np.int16]:
    """Half hours since the first day."""
    moments: npt.NDArray[np.int16] = rows[:, 0] * np.int16(SLOTS) + rows[:, 1]
    return moments


def in_order(uid: Ints, rows: npt.NDArray[np.int16], where: Callable[[int], str]) -> Table:
    """Users into ascending order; a user's own rows must come in the order of time already."""
    order: Ints | None = None
    if (uid[1:] < uid[:-1]).any():
        order = np.argsort(uid, kind="stable")
        uid, rows = uid[order], rows[order]
    moment = _moments(rows)
    late = (uid[1:] == uid[:-1]) & (moment[1:] <= moment[:-1])
    if late.any():
        row = int(late.argmax()) + 1
        index = row if order is None else int(order[row])
        d, t = rows[row, :2]
        same = moment[row] == moment[row - 1]
        raise BenchmarkError(
            f"{where(index)}: uid {uid[row]} has a second row for d={d}, t={t}"
            if same
            else f"{where(index)}: uid {uid[row]} goes back in time, to d={d}, t={t} after "
            f"d={rows[row - 1, 0]}, t={rows[row - 1, 1]}; expected ascending d, t"
        )
    first = np.flatnonzero(np.concatenate(([True], uid[1:] != uid[:-1])))
    starts = np.append(first, len(uid)).astype(np.int64)
    day_starts, masked = _count_days(starts, rows)
    return Table(uid[first].astype(np.int64), starts, rows, day_starts, masked)


def _count_days(
    starts: npt.NDArray[np.int64], rows: npt.NDArray[np.int16]
) -> tuple[npt.NDArray[np.int16], npt.NDArray[np.int8]]:
    """Rows of every user before each day and masked on each day, so that a split needs no scan."""
    users, days = len(starts) - 1, DAY_MAX + 1
    day_starts = np.zeros((users, days + 1), np.int16)
    masked = np.zeros((users, days), np.int8)
    step = 2000  # users at a time: an index over all rows would be larger than the rows
    for low in range(0, users, step):
        high = min(users, low + step)
        part = rows[starts[low] : starts[high]]
        cell = np.repeat(np.arange(high - low) * days, np.diff(starts[low : high + 1])) + part[:, 0]
        shape = (high - low, days)
        counts = np.bincount(cell, minlength=shape[0] * days).reshape(shape)
        day_starts[low:high, 1:] = counts.cumsum(axis=1)
        hidden = np.bincount(cell[part[:, 2] == MASKED], minlength=shape[0] * days)
        masked[low:high] = hidden.reshape(shape)
    return day_starts, masked
