"""Bins that a reference decides: each holds about the same share of the reference's own values.

Lengths and durations have long tails: equal bins over their range would put nearly all into the first.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

MOST_BINS = 20


def inner_edges(reference: ArrayLike, most: int = MOST_BINS) -> Floats:
    """Return the edges between the bins; the first and the last bin are open.

    As many bins as the root of the number of values, and at most ``most``: few values cannot fill many.
    Edges at the same value are one.

    >>> inner_edges(range(100), most=4).tolist()
    [24.75, 49.5, 74.25]
    >>> inner_edges([5, 5, 5, 5, 5, 5, 5, 5, 9]).tolist(), inner_edges([3.0]).tolist()
    ([5.0], [])
    """
    values = np.asarray(reference, np.float64)
    bins = min(most, math.isqrt(len(values)))
    if bins < 2:
        return np.empty(0)
    edges: Floats = np.unique(np.quantile(values, np.arange(1, bins) / bins))
    return edges


def bin_of(values: ArrayLike, edges: Floats) -> NDArray[np.intp]:
    """Return the bin of each value, 0 to ``len(edges)``: a value on an edge is below it.

    >>> bin_of([1, 5, 5.1, 1e9], np.array([5.0, 6.0])).tolist()
    [0, 0, 1, 2]
    """
    return np.searchsorted(edges, np.asarray(values, np.float64), side="left")
