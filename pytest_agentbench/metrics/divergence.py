"""How far two distributions are apart: Jensen-Shannon, from counts or from values.

Two formulas, one for each reading of DailyMobility:

- :func:`jensen_shannon`, the divergence in base 2, of counts in bins that both sides share;
- :func:`own_range_distance`, the published distance (a square root, natural logarithm) of two
  histograms, each over the range of its own values.

:class:`Columns` and :class:`OwnRange` do the same for thousands of bootstrap resamples at once: they
hold the values once and take rows of weights, so that memory grows with the values alone.
"""

from __future__ import annotations

import functools
import itertools
import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

BINS = 50
_EPSILON = 1e-10  # the published code adds it to every bin
_NARROWEST = 1e-290  # the density of 10^18 values in such a bin is finite
_LARGEST_TABLE = 4096  # a table of joint codes that stays in the processor's cache
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
    """Return the nearest whole numbers; halves go up, whichever neighbour is even.

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
        self._codes = codes
        self.size = size

    @functools.cached_property
    def _packs(self) -> list[tuple[int, int, NDArray[np.intp]]]:
        """Neighbouring columns as one code: a resample is then counted in fewer passes."""
        people, width = self._codes.shape
        limit = min(people, _LARGEST_TABLE)
        together = 1
        while together < width and self.size ** (together + 1) <= limit:
            together += 1
        packs = []
        for first in range(0, width, together):
            columns = self._codes[:, first : first + together]
            joint = np.zeros(people, np.intp)
            for column in columns.T:
                joint *= self.size
                joint += column
            packs.append((first, columns.shape[1], joint))
        return packs

    def counts(self, weights: Floats | None) -> Floats:
        """Return counts (columns x size); with weights (resamples x rows), one more axis in front."""
        rows = 1 if weights is None else len(weights)
        result = np.empty((rows, self._codes.shape[1], self.size))
        for first, width, joint in self._packs:
            cells = self.size**width
            for start, stop in _blocks(rows, cells):
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


def own_range_distance(p: ArrayLike, q: ArrayLike, bins: int = BINS) -> float:
    """Return the published distance of two arrays of values; arrays of two axes are flattened.

    Range 0 to 0.8326 (the root of ln 2), lower is better. Each side has its own ``bins`` equal bins
    over its own range, so a shifted or scaled copy is all but equal to the original. Where rounding makes
    the published code NaN this is 0.

    >>> round(own_range_distance([1.0, 2.0, 4.0], [1000.0, 2000.0, 4000.0]), 3)
    0.0
    >>> round(own_range_distance([1.0, 2.0, 4.0], [1.0, 3.0, 4.0]), 4)
    0.4807
    """
    return float(root_distance(own_range_histogram(p, bins), own_range_histogram(q, bins)))


def own_range_histogram(values: ArrayLike, bins: int = BINS) -> Floats:
    """Return the density in equal bins over the values' own range, made positive and normalised."""
    array = np.asarray(values).ravel()
    if not array.size:
        raise ValueError("expected values, got none")
    edges = _edges(array.min(keepdims=True), array.max(keepdims=True), bins)[0]
    own = (edges[0], edges[-1])
    return _smoothed(np.histogram(array, bins=bins, range=own, density=True)[0])


def _edges(lows: NDArray[Any], highs: NDArray[Any], bins: int) -> Floats:
    """The edges of equal bins, a row for each range; one too narrow for them is widened by a half.

    ``numpy.histogram`` does that where low and high are equal, and fails where rounding makes edges so;
    in bins narrower than ``_NARROWEST`` a density would be infinite.
    """
    lows, highs = lows.astype(np.float64), highs.astype(np.float64)
    edges: Floats = np.linspace(lows, highs, bins + 1, axis=1)
    narrow = (np.diff(edges, axis=1) < _NARROWEST).any(axis=1)
    edges[narrow] = np.linspace(lows[narrow] - 0.5, highs[narrow] + 0.5, bins + 1, axis=1)
    return edges


def _smoothed(density: Floats) -> Floats:
    positive = density + _EPSILON
    smoothed: Floats = positive / positive.sum(axis=-1, keepdims=True)
    return smoothed


def root_distance(p: Floats, q: Floats) -> Floats:
    """Return the root of the divergence, natural logarithm, of positive histograms that sum to 1.

    Range 0 to 0.8326, lower is better.

    >>> root_distance(np.array([0.5, 0.5]), np.array([[0.5, 0.5], [0.9, 0.1]])).round(4).tolist()
    [0.0, 0.319]
    """
    middle = (p + q) / 2
    total = (p * np.log(p / middle) + q * np.log(q / middle)).sum(axis=-1)
    root: Floats = np.sqrt(np.maximum(total, 0.0) / 2)
    return root


class OwnRange:
    """Values in rows (people): the published histogram of any weighted selection of the rows.

    ``times`` says how often each value counts in its row (once, where it is not given).

    >>> values = np.array([[1.0], [2.0], [4.0]])
    >>> OwnRange(values).distances(np.array([[1.0, 1.0, 1.0]]), own_range_histogram(values)).tolist()
    [0.0]
    """

    def __init__(
        self, values: NDArray[Any], times: NDArray[Any] | None = None, bins: int = BINS
    ) -> None:
        self._levels, level = np.unique(values, return_inverse=True)
        self._level = level.reshape(-1)
        self._times = times
        self._width = values.shape[1]
        self._bins = bins

    def distances(self, weights: Floats, reference: Floats) -> Floats:
        """Return the distance from a reference histogram, one for each row of weights.

        NaN for a row that selects nothing.
        """
        result = np.full(len(weights), math.nan)
        for start, stop in _blocks(len(weights), max(len(self._levels), self._level.size)):
            mass = np.array([self._mass(row) for row in weights[start:stop]])
            some = mass.sum(axis=1) > 0
            if some.any():
                histograms = _smoothed(self._densities(mass[some]))
                result[start:stop][some] = root_distance(histograms, reference)
        return result

    def _mass(self, row: Floats) -> Floats:
        """How much weight each level (distinct value) has in a resample."""
        spread = row[:, None] if self._times is None else row[:, None] * self._times
        flat = np.broadcast_to(spread, (len(row), self._width)).reshape(-1)
        mass: Floats = np.bincount(self._level, flat, minlength=len(self._levels)).astype(
            np.float64
        )
        return mass

    def _densities(self, mass: Floats) -> Floats:
        """What ``numpy.histogram(…, density=True)`` says of the levels, each repeated by its mass."""
        present = mass > 0
        lows = self._levels[present.argmax(axis=1)]
        highs = self._levels[-1 - present[:, ::-1].argmax(axis=1)]
        edges = _edges(lows, highs, self._bins)
        below = np.cumsum(mass, axis=1)
        at = np.searchsorted(self._levels, edges[:, 1:-1])  # levels left of each inner edge
        inner = np.where(at > 0, np.take_along_axis(below, np.maximum(at - 1, 0), axis=1), 0.0)
        total = below[:, -1:]
        counts = np.diff(np.hstack([np.zeros_like(total), inner, total]), axis=1)
        densities: Floats = counts / np.diff(edges, axis=1) / total
        return densities


def _widened(low: float, high: float) -> tuple[float, float]:
    return (low - 0.5, high + 0.5) if low == high else (low, high)


def _blocks(rows: int, cells: int) -> list[tuple[int, int]]:
    """Where to cut rows of so many cells each, so that a block of them is not too large."""
    step = max(1, _BLOCK_VALUES // max(1, cells))
    return list(itertools.pairwise([*range(0, rows, step), rows])) if rows else []
