"""Checking an answer: a cell for every target, however the agent wrote it down."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from pytest_agentbench.base.errors import InvalidAnswer, shown
from pytest_agentbench.benchmarks.humob.editions import CELL_MAX, CELL_MIN, COLUMNS, MASKED
from pytest_agentbench.benchmarks.protocol import Sample

if TYPE_CHECKING:
    import numpy.typing as npt

# The columns of an answer, by their number.
SHAPES = {2: COLUMNS[3:], 4: COLUMNS[1:], 5: COLUMNS}
SHAPE_WORDS = "(x, y), (d, t, x, y) or (uid, d, t, x, y)"


def check(sample: Sample, answer: Any) -> list[list[int]]:
    """The cells ``[[x, y], …]`` in the order of the targets, or :class:`InvalidAnswer`."""
    # Not the context's targets: an agent may change its context.
    times: npt.NDArray[np.int64] = sample.truth[:, :2]
    values = _plain(answer)
    if len(values) != len(times):
        raise InvalidAnswer(
            f"{len(times)} rows, one {SHAPE_WORDS} per target", described=f"{len(values)} rows"
        )
    array = _whole_numbers(values, times)
    names = SHAPES[array.shape[1]]
    if "d" in names:
        start = names.index("d")
        wrong = (array[:, start : start + 2] != times).any(axis=1)
        if wrong.any():
            row = int(wrong.argmax())
            d, t = array[row, start : start + 2].tolist()
            raise InvalidAnswer(_at(row, times), described=f"d={d}, t={t}")
    if "uid" in names:
        other = array[:, 0] != int(sample.key.id)
        if other.any():
            row = int(other.argmax())
            raise InvalidAnswer(f"uid {sample.key.id} in row {row}", int(array[row, 0]))
    cells = array[:, -2:]
    outside = ((cells < CELL_MIN) | (cells > CELL_MAX)).any(axis=1)
    if outside.any():
        row = int(outside.argmax())
        _refuse_cell(row, times, cells[row].tolist())
    plain: list[list[int]] = cells.tolist()
    return plain


def _plain(answer: Any) -> Any:
    """An answer as a sequence of rows; the columns of a frame by name where it has our names."""
    columns = getattr(answer, "columns", None)
    if columns is not None and hasattr(answer, "to_numpy"):
        names = [str(name).lower() for name in columns]
        known = [name for name in COLUMNS if name in names]
        if tuple(known) in SHAPES.values():
            answer = answer[[columns[names.index(name)] for name in known]]
        return answer.to_numpy()
    if isinstance(answer, (list, tuple, np.ndarray)):
        if isinstance(answer, np.ndarray) and answer.ndim != 2:
            came = f"an array of shape {answer.shape}"
            raise InvalidAnswer(f"rows of {SHAPE_WORDS}", described=came)
        return answer
    expected = f"a list, array or frame with one {SHAPE_WORDS} per target"
    if not hasattr(answer, "__array__"):
        raise InvalidAnswer(expected, answer)
    try:  # tensors
        array = np.asarray(answer)
    except Exception as error:  # someone else's object may do anything
        raise InvalidAnswer(expected, described=f"{type(answer).__name__} ({error})") from None
    return _plain(array)


def _whole_numbers(values: Any, times: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The rows as one integer array; anything else is checked row by row."""
    if not isinstance(values, np.ndarray) and not _is_flat(values):
        return _refuse_values(values, times)
    try:
        array = np.asarray(values)
    except OverflowError:  # 10**400 beside a float
        return _refuse_values(values, times)
    if array.ndim == 2 and array.shape[1] in SHAPES:
        if array.dtype.kind == "i" or (array.dtype.kind == "u" and array.dtype.itemsize < 8):
            return array.astype(np.int64)
        if array.dtype.kind == "f":
            with np.errstate(invalid="ignore"):
                whole = np.isfinite(array) & (array == np.floor(array)) & (np.abs(array) < 2**31)
            if whole.all():
                return array.astype(np.int64)
    return _refuse_values(values, times)


def _is_flat(rows: Sequence[Any]) -> bool:
    """Whether these are lists of numbers, all of one length.

    NumPy would also accept [True, 7], and fill the memory with lists of lists of lists.
    """
    return (
        type(rows) in (list, tuple)
        and set(map(type, rows)) <= {list, tuple}
        and len(set(map(len, rows))) == 1
        and len(rows[0]) in SHAPES
        and set(map(type, chain.from_iterable(rows))) <= {int, float}
    )


def _refuse_values(values: Any, times: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Names the first row that is not whole numbers; mixed kinds of whole numbers are fine."""
    rows: list[list[int]] = []
    width: int | None = None
    for index, row in enumerate(islice(values, len(times))):
        if not isinstance(row, (list, tuple, np.ndarray)):
            raise InvalidAnswer(f"{SHAPE_WORDS} in row {index}", row)
        if len(row) not in SHAPES or (width is not None and len(row) != width):
            wanted = SHAPE_WORDS if width is None else f"{width} values as in row 0"
            got = row.tolist() if isinstance(row, np.ndarray) else row
            raise InvalidAnswer(f"{wanted} in row {index}", got)
        width = len(row)
        rows.append([])
        for name, value in zip(SHAPES[width], row, strict=True):
            if not _is_whole(value):
                plain = value.item() if isinstance(value, np.generic) else value
                came = f"{name}={shown(plain)}"
                raise InvalidAnswer(
                    f"whole numbers in row {index}{_when(index, times)}", described=came
                )
            rows[-1].append(int(value))
    return np.array(rows, np.int64)


def _is_whole(value: Any) -> bool:
    if isinstance(value, (bool, np.bool_, np.timedelta64)):
        return False
    if isinstance(value, (float, np.floating)):
        return math.isfinite(value) and float(value).is_integer() and abs(value) < 2**31
    return isinstance(value, (int, np.integer)) and abs(int(value)) < 2**31


def _refuse_cell(row: int, times: npt.NDArray[np.int64], cell: Sequence[int]) -> NoReturn:
    masked = f" ({MASKED} is the mask, not a cell)" if MASKED in cell else ""
    raise InvalidAnswer(
        f"x and y within {CELL_MIN}-{CELL_MAX} in row {row}{_when(row, times)}",
        described=f"x={cell[0]}, y={cell[1]}{masked}",
    )


def _at(row: int, times: npt.NDArray[np.int64]) -> str:
    return f"d={times[row, 0]}, t={times[row, 1]} in row {row} (the order of the targets)"


def _when(row: int, times: npt.NDArray[np.int64]) -> str:
    return f" (d={times[row, 0]}, t={times[row, 1]})" if row < len(times) else ""
