"""Columns of a large table, as arrays that a file can hold and processes can share.

A city has hundreds of thousands of things. As Python objects they would take seconds to make and memory
in every worker; as arrays they are mapped from a file, and an object is made when it is asked for.
"""

from __future__ import annotations

import itertools
import operator
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Whole = npt.NDArray[np.int64]
    Rows = npt.NDArray[np.int64]

_LARGEST = 2**62


class Ids:
    """The ids of a table, each once: whole numbers in an array, or texts among them in a list."""

    def __init__(self, values: Sequence[Any] | Whole, what: str = "place") -> None:
        self._array: Whole | None = None
        self._order: Whole | None = (
            None  # rows in the order of the ids; None where that is the same
        )
        self._row: dict[Any, int] = {}
        self._list: list[Any] | None = None
        if isinstance(values, np.ndarray):
            self._array = values
        elif all(type(value) is int and -_LARGEST < value < _LARGEST for value in values):
            self._array = np.array(values, np.int64)
        if self._array is None:
            self._list = list(values)
            self._row = {value: row for row, value in enumerate(self._list)}
            once = len(self._row) == len(self._list)
        else:
            if not np.all(self._array[:-1] < self._array[1:]):
                self._order = np.argsort(self._array, kind="stable")
            ordered = self._array if self._order is None else self._array[self._order]
            once = bool(np.all(ordered[:-1] < ordered[1:]))
            self._sorted = ordered
        if not once:
            twice, _ = Counter(self.values()).most_common(1)[0]
            raise ValueError(f"expected every {what} once, got {twice!r} twice")

    def __len__(self) -> int:
        return len(self.values() if self._array is None else self._array)

    @property
    def array(self) -> Whole | None:
        """The ids as numbers; None where some are texts."""
        return self._array

    def values(self) -> list[Any]:
        """All ids in the order of the rows; the caller must not change it."""
        if self._list is None:
            assert self._array is not None
            self._list = self._array.tolist()
        return self._list

    def at(self, row: int) -> Any:
        return self.values()[row] if self._array is None else int(self._array[row])

    def some(self, rows: Any) -> list[Any]:
        """The ids in these rows."""
        if self._array is None:
            ids = self.values()
            return [ids[row] for row in rows.tolist()]
        return list(self._array[rows].tolist())

    def row(self, value: Any) -> int | None:
        """The row of an id; None where there is none."""
        if self._array is None:
            try:
                return self._row.get(value)
            except TypeError:  # a list
                return None
        try:
            number = operator.index(value)
        except TypeError:
            return None
        if not -_LARGEST < number < _LARGEST:
            return None
        at = int(self._sorted.searchsorted(number))
        if at == len(self._sorted) or self._sorted[at] != number:
            return None
        return at if self._order is None else int(self._order[at])


class Texts:
    """Many texts as bytes in one array, and where each begins."""

    def __init__(self, data: Any, starts: Any) -> None:
        self.data = data
        self.starts = starts

    @classmethod
    def of(cls, texts: Iterable[str]) -> Texts:
        # What is no character (half of one) survives as it does in the digest of the city.
        coded = [text.encode("utf-8", "surrogatepass") for text in texts]
        starts = np.zeros(len(coded) + 1, np.int64)
        np.cumsum([len(text) for text in coded], out=starts[1:])
        return cls(np.frombuffer(b"".join(coded), np.uint8), starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def at(self, row: int) -> str:
        begin, end = self.starts[row], self.starts[row + 1]
        return bytes(self.data[begin:end]).decode("utf-8", "surrogatepass")

    def some(self, rows: Any) -> list[str]:
        """The texts in these rows."""
        pairs = zip(self.starts[rows].tolist(), self.starts[rows + 1].tolist(), strict=True)
        return [
            self.data[begin:end].tobytes().decode("utf-8", "surrogatepass") for begin, end in pairs
        ]

    def values(self) -> list[str]:
        whole, starts = bytes(self.data), self.starts.tolist()
        return [
            whole[begin:end].decode("utf-8", "surrogatepass")
            for begin, end in itertools.pairwise(starts)
        ]


def coded(texts: Sequence[str]) -> tuple[list[str], Any]:
    """Each text once, in the order of their first use, and the number of each row's.

    >>> coded(["shop", "park", "shop"])[0]
    ['shop', 'park']
    """
    known: dict[str, int] = {}
    numbers = [known.setdefault(text, len(known)) for text in texts]
    return list(known), np.array(numbers, np.int32)


def starts_of(counts: Any) -> Any:
    """Where the rows of each group begin, from how many there are; one more at the end.

    >>> starts_of([2, 0, 1]).tolist()
    [0, 2, 2, 3]
    """
    starts = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=starts[1:])
    return starts


def ranges(begins: Any, ends: Any) -> Any:
    """The numbers of several ranges, one after the other.

    >>> ranges(np.array([3, 10]), np.array([5, 13])).tolist()
    [3, 4, 10, 11, 12]
    """
    counts = ends - begins
    total = int(counts.sum())
    if not total:
        return np.empty(0, np.int64)
    shift = begins - (np.cumsum(counts) - counts)
    return np.arange(total) + np.repeat(shift, counts)
