"""The Jensen-Shannon divergence, base 2, of counts in bins that both sides share.

:class:`Columns` counts for thousands of bootstrap resamples at once: it holds the values once and
takes rows of weights, so that memory grows with the values alone.
"""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytest_agentbench.metrics.bootstrap import count_sums

Floats = NDArray[np.float64]

BINS = 50
_LARGEST_TABLE = 4096  # a table of joint codes that stays in the processor's cache
_FEW_PEOPLE = 2048  # of whom a product counts faster than a pass for each resample
_BLOCK_VALUES = 4_000_000  # intermediate values held at a time


def jensen_shannon(p: ArrayLike, q: ArrayLike) -> Floats:
    """Return the Jensen-Shannon divergence, base 2, of counts along the last axis.

    Range 0 to 1, lower is better: 0 for equal distributions, 1 for distributions without a common
    bin. Counts are normalised here; the other axes broadcast. Never NaN: a distribution without any
    mass is a ``ValueError``.

    >>> float(jensen_shannon([1, 1, 0], [2, 2, 0]))
    0.0
    >>> jensen_shannon([1, 0], [[1, 0], [0, 3], [1, 1]]).round(6).tolist()
    [0.0, 1.0, 0.311278]
    """
    first, second = _normalised(p), _normalised(q)
    both = first + second
    total = _information(first, both) + _information(second, both)
    clipped: Floats = np.clip(total.sum(axis=-1) / 2, 0.0, 1.0)
    return clipped


def _normalised(counts: ArrayLike) -> Floats:
    array: Floats = np.asarray(counts, dtype=np.float64)
    sums = array.sum(axis=-1, keepdims=True)
    if not (np.isfinite(sums).all() and (sums > 0).all() and (array >= 0).all()):
        raise ValueError(
            "expected finite counts of at least 0 with a positive sum along the last axis"
        )
    shares: Floats = array / sums
    return shares


def _information(share: Floats, both: Floats) -> Floats:
    """``share * log2(share / mean)``, in the form that is exactly 0 where both sides are equal."""
    ratio = np.divide(share, both, out=np.full(both.shape, 0.5), where=(both > 0) & (share > 0))
    information: Floats = share * (1.0 + np.log2(ratio))
    return information


def bin_numbers(values: ArrayLike, low: float, high: float, bins: int = BINS) -> NDArray[np.uint8]:
    """Return the bin of each value: 1 to ``bins`` over [low, high], 0 below it, ``bins + 1`` above.

    The open bins at the ends take what would otherwise stretch the range. A range of one value is
    widened by a half on each side, as ``numpy.histogram`` does.

    >>> bin_numbers([-1, 0, 5, 9.99, 10, 1e9], 0, 10, bins=10).tolist()
    [0, 1, 6, 10, 10, 11]
    """
    if not 1 <= bins <= 253:
        raise ValueError(f"expected 1 to 253 bins, got {bins}")
    array = np.asarray(values, dtype=np.float64)
    low, high = _widened(low, high)
    numbers = np.searchsorted(np.linspace(low, high, bins + 1), array, side="right")
    numbers[array == high] = bins
    return numbers.astype(np.uint8)


def round_half_up(values: ArrayLike) -> Floats:
    """Return the nearest whole numbers; halves are rounded up, not to the even neighbour.

    >>> round_half_up([0.5, 1.5, 2.49, 2.5]).tolist()
    [1.0, 2.0, 2.0, 3.0]
    """
    whole: Floats = np.floor(np.asarray(values, dtype=np.float64) + 0.5)
    return whole


class Columns:
    """Codes 0 … ``size`` - 1 in rows (people) and columns (slots): a histogram for each column.

    >>> columns = Columns(np.array([[0, 1], [0, 0], [2, 1]]), size=3)
    >>> columns.counts(None).tolist()
    [[2.0, 0.0, 1.0], [1.0, 2.0, 0.0]]
    >>> columns.counts(np.array([[0.0, 3.0, 0.0]])).tolist()
    [[[3.0, 0.0, 0.0], [3.0, 0.0, 0.0]]]
    """

    def __init__(self, codes: NDArray[Any], size: int) -> None:
        if codes.ndim != 2 or (codes.size and not 0 <= codes.min() <= codes.max() < size):
            raise ValueError(f"expected rows of codes 0 to {size - 1}")
        self.codes = codes
        self.size = size

    @functools.cached_property
    def _packs(self) -> list[tuple[int, int, NDArray[np.intp]]]:
        """Neighbouring columns as one code: a resample is then counted in fewer passes."""
        people, width = self.codes.shape
        together = self._together
        packs = []
        for first in range(0, width, together):
            columns = self.codes[:, first : first + together]
            joint = np.zeros(people, np.intp)
            for column in columns.T:
                joint *= self.size
                joint += column
            packs.append((first, columns.shape[1], joint))
        return packs

    @functools.cached_property
    def _together(self) -> int:
        """How many columns a joint code has: its table is no larger than the number of people."""
        people, width = self.codes.shape
        limit = min(people, _LARGEST_TABLE)
        together = 1
        while together < width and self.size ** (together + 1) <= limit:
            together += 1
        return together

    def counts(self, weights: Floats | None) -> Floats:
        """Return counts (columns x size); with weights (resamples x rows), one more axis in front."""
        if self._together == 1:
            return self._counts_of_few(weights)
        rows = 1 if weights is None else len(weights)
        result = np.empty((rows, self.codes.shape[1], self.size))
        for first, width, joint in self._packs:
            cells = self.size**width
            for start, stop in blocks(rows, cells):
                if weights is None:
                    tables = np.bincount(joint, minlength=cells)[None].astype(np.float64)
                else:
                    tables = np.array(
                        [np.bincount(joint, row, minlength=cells) for row in weights[start:stop]]
                    )
                tables = tables.reshape(-1, *(self.size,) * width)
                for column in range(width):
                    others = tuple(axis + 1 for axis in range(width) if axis != column)
                    result[start:stop, first + column] = tables.sum(axis=others)
        return result[0] if weights is None else result

    def _counts_of_few(self, weights: Floats | None) -> Floats:
        """All columns of a resample in one pass, each in bins of its own."""
        width = self.codes.shape[1]
        shape, cells = (width, self.size), width * self.size
        codes = (self.codes + self.size * np.arange(width)).reshape(-1)
        if weights is None:
            return np.bincount(codes, minlength=cells).reshape(shape).astype(np.float64)
        result = np.empty((len(weights), *shape))
        for start, stop in blocks(len(weights), codes.size):
            each = np.repeat(weights[start:stop], width, axis=1)
            for row, of_codes in zip(result[start:stop], each, strict=True):
                row[:] = np.bincount(codes, of_codes, minlength=cells).reshape(shape)
        return result


class MeanDivergence:
    """The mean over columns of the divergence within the column, from counts of the same columns.

    >>> columns = Columns(np.array([[0, 1], [0, 0], [2, 1]]), size=3)
    >>> mean = MeanDivergence(np.array([[2, 0, 1], [0, 3, 0]]), columns)
    >>> float(mean(None).round(6)), mean(np.array([[1.0, 1, 1], [0, 0, 5]])).round(6).tolist()
    (0.095437, [0.095437, 0.229574])
    """

    def __init__(self, truth: ArrayLike, columns: Columns) -> None:
        self._truth: Floats = np.asarray(truth, np.float64)
        self._columns = columns

    def __call__(self, weights: Floats | None) -> Any:
        if weights is None or len(self._columns.codes) > _FEW_PEOPLE:
            return jensen_shannon(self._truth, self._columns.counts(weights)).mean(axis=-1)
        table, truth, rest = self._used
        each = _of_shares(truth, count_sums(table, weights), weights.sum(axis=1, keepdims=True))
        return np.clip((each.sum(axis=-1) + rest) / 2 / len(self._truth), 0.0, 1.0)

    @functools.cached_property
    def _used(self) -> tuple[Floats, Floats, float]:
        """The cells (a column and a code) that anybody has: who has which, and the truth's share there.

        Few people have few of them. Where nobody is, the truth alone adds its share, the last value.
        """
        codes, size = self._columns.codes, self._columns.size
        people, width = codes.shape
        at = codes.astype(np.intp) + size * np.arange(width)
        used = np.zeros(width * size, bool)
        used[at] = True
        cells = np.flatnonzero(used)
        table = np.zeros((people, len(cells)))
        table[np.arange(people)[:, None], (np.cumsum(used) - 1)[at]] = 1.0
        shares = _normalised(self._truth).reshape(-1)
        return table, shares[cells], float(shares[~used].sum())


def _of_shares(truth: Floats, counts: Floats, totals: Floats) -> Floats:
    """What each cell adds to the divergence of counts (resamples x cells) from the truth's shares.

    Of few people drawn, a cell has few counts: each logarithm is then taken once, and looked up.
    """
    people = totals[0, 0]
    at = counts.astype(np.intp)
    if not (2 * people < len(counts) and (totals == people).all() and (at == counts).all()):
        return _both_sides(truth, counts / totals)
    known = _both_sides(truth, np.arange(people + 1)[:, None] / people)
    at *= len(truth)
    at += np.arange(len(truth))
    found: Floats = known.reshape(-1).take(at)
    return found


def _both_sides(truth: Floats, shares: Floats) -> Floats:
    both = truth + shares
    return _information(truth, both) + _information(shares, both)


def _widened(low: float, high: float) -> tuple[float, float]:
    return (low - 0.5, high + 0.5) if low == high else (low, high)


def blocks(rows: int, cells: int) -> list[tuple[int, int]]:
    """Where to cut rows of so many cells each, so that a block of them is not too large."""
    step = max(1, _BLOCK_VALUES // max(1, cells))
    return list(itertools.pairwise([*range(0, rows, step), rows])) if rows else []
