"""Dynamic time warping: how far apart two trajectories stay when time may stretch."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytest_agentbench.metrics import kernel_loading, trajectory_kernels
from pytest_agentbench.metrics.kernel_loading import Backend
from pytest_agentbench.metrics.trajectory_days import DayPairs, Floats, day_pairs
from pytest_agentbench.metrics.trajectory_rules import rules_of

# Cells are 500 m: distances come out in kilometres.
CELLS_PER_KM = 2.0

_INT64 = np.dtype(np.int64)
# Reaches across the challenge's 200 x 200 cells.
_ONE_CALL_TABLE = 1 << 17
_MOST_TABLES = 8
# What one call needs, by edition and scale, once kernels are loaded: to check and to lay out a day, or
# only to look these up one by one, takes longer than its recursion.
_one_call: dict[tuple[str, float], tuple[Any, Floats, float]] = {}


def dtw_distance(
    generated: ArrayLike,
    reference: ArrayLike,
    edition: str = "2023",
    *,
    scale_factor: float = CELLS_PER_KM,
) -> float:
    """Return the dynamic time warping cost between two sequences of (x, y) points.

    Range 0 to infinity, lower is better, 0 for equal sequences. Euclidean distances in cells are
    divided by ``scale_factor``.

    >>> dtw_distance([(1, 1), (2, 2), (3, 3)], [(1, 1), (1, 3), (3, 3)], scale_factor=1)
    1.4142135623730951
    >>> dtw_distance([(5, 5)], [(1, 1), (5, 5)]), dtw_distance([(5, 5)], [(1, 1), (5, 5)], "2025")
    (0.0, 2.8284271247461903)
    """
    try:
        score, table, edge = _one_call[edition, scale_factor]
        if generated.dtype is _INT64 is reference.dtype:  # type: ignore[union-attr]  # or it has none
            cost: float = score(generated, reference, table, edge)
            if cost == cost:  # else the points are none, not (x, y), or beyond the table
                return cost
    except (KeyError, AttributeError, TypeError):
        pass  # the first such call, points that are no array, or not an array of contiguous pairs
    gen, ref = np.asarray(generated), np.asarray(reference)
    pairs = day_pairs(gen, ref, [0, len(gen)], [0, len(ref)])
    costs = score_pairs(pairs, edition, scale_factor=scale_factor)
    kernels = kernel_loading.loaded()
    if kernels is not None and len(_one_call) < _MOST_TABLES:
        table = _distance_table(float(scale_factor), _ONE_CALL_TABLE)
        _one_call[edition, scale_factor] = kernels.warp_cost, table, _edge(edition)
    return float(costs[0])


def score_pairs(
    pairs: DayPairs,
    edition: str = "2023",
    *,
    scale_factor: float = CELLS_PER_KM,
    threads: int = 1,
    backend: Backend = "auto",
) -> Floats:
    """Return the dynamic time warping cost of every day, 0 or more, lower is better.

    The backends agree to the bit; ``threads`` serves the numba one. Coordinates that are not whole
    go through NumPy.

    >>> score_pairs(day_pairs([(1, 1), (5, 5)], [(1, 1), (5, 7)], [0, 1, 2], [0, 1, 2])).tolist()
    [0.0, 1.0]
    """
    edge = _edge(edition)
    if not (math.isfinite(scale_factor) and scale_factor > 0):
        raise ValueError(f"scale_factor must be a number above 0, got {scale_factor!r}")
    if pairs.squares is None:
        return _numpy_costs(pairs, scale_factor, edge)
    n, m = pairs.lengths()
    kernels = kernel_loading.kernels_for(backend, int(n @ m))
    if kernels is None:
        return _numpy_costs(pairs, scale_factor, edge)
    costs = np.empty(pairs.days)
    table = _distance_table(float(scale_factor), 1 << (pairs.squares + 1).bit_length())

    def run(first: int, last: int) -> None:
        kernels.warp_costs(*pairs[:4], table, edge, first, last, costs)

    trajectory_kernels.over_days(run, pairs.days, threads)
    return costs


def _edge(edition: str) -> float:
    """What it costs an alignment to start later in the reference than its first point."""
    return 0.0 if rules_of(edition).start_anywhere else math.inf


@functools.lru_cache(maxsize=_MOST_TABLES)
def _distance_table(scale_factor: float, size: int) -> Floats:
    return np.sqrt(np.arange(size, dtype=np.float64)) / scale_factor


def _numpy_costs(pairs: DayPairs, scale_factor: float, edge: float) -> Floats:
    costs = np.empty(pairs.days)
    for batch, n, m, squares in pairs.batches():
        costs[batch] = _warp(np.sqrt(squares) / scale_factor, n, m, edge)
    return costs


def _warp(distance: Floats, n: NDArray[np.int64], m: NDArray[np.int64], edge: float) -> Floats:
    """Run the recursion along anti-diagonals, whose cells do not depend on each other.

    A cell depends on smaller indices alone: a shorter day's cost is met on the way through the
    padded matrix.
    """
    tall, wide, days = distance.shape
    cells = distance.reshape(-1, days)
    # Entry i + 1 is row i of the matrix, entry 0 the row above the first.
    before, current, after = (np.full((tall + 1, days), np.inf) for _ in range(3))
    before[0] = 0.0
    current[0] = after[0] = edge
    costs = np.empty(days)
    ends = n + m - 2
    for diagonal in range(int(ends.max()) + 1):
        low, high = max(0, diagonal - wide + 1), min(diagonal, tall - 1) + 1
        first, last = diagonal + low * (wide - 1), diagonal + (high - 1) * (wide - 1)
        step = cells[first : last + 1 : max(1, wide - 1)]
        best = np.minimum(current[low:high], current[low + 1 : high + 1])
        np.minimum(best, before[low:high], out=best)
        np.add(best, step, out=after[low + 1 : high + 1])
        after[high + 1 :] = np.inf
        done = np.flatnonzero(ends == diagonal)
        if len(done):
            costs[done] = after[n[done], done]
        before, current, after = current, after, before
        after[0] = edge
    return costs
