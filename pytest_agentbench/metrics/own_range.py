"""The published distance of two sets of values: a Jensen-Shannon distance of own-range histograms.

It is a square root, with the natural logarithm, of two histograms, each over the range of its own
values. :class:`OwnRange` gives it for thousands of bootstrap resamples at once.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytest_agentbench.metrics.bootstrap import count_sums
from pytest_agentbench.metrics.divergence import BINS, Floats, blocks

_EPSILON = 1e-10  # the published code adds it to every bin
_FEW_LEVELS = 32  # for each value of a row: a product counts faster than a pass for each resample
_NARROWEST = 1e-290  # the density of 10^18 values in such a bin is finite


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
        for start, stop in blocks(len(weights), max(len(self._levels), self._level.size)):
            mass = self._mass(weights[start:stop])
            some = mass.sum(axis=1) > 0
            if some.any():
                histograms = _smoothed(self._densities(mass[some]))
                result[start:stop][some] = root_distance(histograms, reference)
        return result

    def _mass(self, weights: Floats) -> Floats:
        """How much weight each level (distinct value) has in each resample."""
        levels = len(self._levels)
        if levels <= _FEW_LEVELS * self._width:
            return count_sums(self._table, weights)
        each = np.repeat(weights, self._width, axis=1)
        if self._times is not None:
            each *= self._times.reshape(-1)
        return np.array([np.bincount(self._level, row, minlength=levels) for row in each])

    @functools.cached_property
    def _table(self) -> Floats:
        """How often each level counts in each row."""
        levels = len(self._levels)
        people = self._level.size // self._width
        cells = self._level + levels * np.repeat(np.arange(people), self._width)
        times = None if self._times is None else self._times.reshape(-1)
        counted = np.bincount(cells, times, minlength=people * levels)
        return counted.reshape(people, levels).astype(np.float64)

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
