"""GEO-BLEU: how much of a trajectory's local pattern another one reproduces."""

from __future__ import annotations

import functools
import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pytest_agentbench.metrics import kernel_loading, trajectory_kernels
from pytest_agentbench.metrics.kernel_loading import Backend
from pytest_agentbench.metrics.trajectory_days import DayPairs, Floats, day_pairs
from pytest_agentbench.metrics.trajectory_rules import RULES, rules_of


def geobleu_score(
    generated: ArrayLike,
    reference: ArrayLike,
    edition: str = "2023",
    *,
    max_n: int | None = None,
    beta: float = 0.5,
) -> float:
    """Return the GEO-BLEU of one sequence of (x, y) points against another.

    Range 0 to 1, higher is better, 1 for equal sequences. ``max_n`` replaces the edition's longest
    n-gram; ``beta`` is the decay of proximity with distance in cells.

    >>> geobleu_score([(1, 1), (2, 2), (3, 3)], [(1, 1), (1, 1), (1, 2), (2, 2), (2, 2)])
    0.2644414706605502
    >>> geobleu_score([(7, 4), (8, 4)], [(7, 4), (8, 4)], edition="2025")
    1.0
    """
    gen, ref = np.asarray(generated), np.asarray(reference)
    pairs = day_pairs(gen, ref, [0, len(gen)], [0, len(ref)])
    return float(score_pairs(pairs, edition, max_n=max_n, beta=beta)[0])


def score_pairs(
    pairs: DayPairs,
    edition: str = "2023",
    *,
    max_n: int | None = None,
    beta: float = 0.5,
    threads: int = 1,
    backend: Backend = "auto",
) -> Floats:
    """Return the GEO-BLEU of every day, range 0 to 1, higher is better.

    The backends agree to the bit; ``threads`` serves the numba one. Coordinates that are not whole
    go through NumPy.

    >>> pairs = day_pairs([(1, 1), (5, 5)], [(1, 1), (5, 7)], [0, 1, 2], [0, 1, 2])
    >>> score_pairs(pairs).round(6).tolist()
    [1.0, 0.367879]
    """
    rules = rules_of(edition)
    orders = rules.max_n if max_n is None else max_n
    sums = _taken_sums(pairs, orders, beta, threads, backend)
    return _scores(_logs(sums, pairs, rules.divide_by_taken), pairs)


def score_pairs_by_edition(pairs: DayPairs) -> dict[str, Floats]:
    """Return what :func:`score_pairs` gives for each edition, at the price of the longest one.

    >>> days = score_pairs_by_edition(day_pairs([(1, 1)], [(1, 1)], [0, 1], [0, 1]))
    >>> {edition: scores.tolist() for edition, scores in days.items()}
    {'2023': [1.0], '2025': [1.0]}
    """
    longest = max(rules.max_n for rules in RULES.values())
    # The pairs taken at one order depend on nothing else: editions only divide differently, and not
    # even that on days without more generated than reference points.
    sums = _taken_sums(pairs, longest, 0.5, 1, "auto")
    n, m = pairs.lengths()
    logs = {True: _logs(sums, pairs, divide_by_taken=True)}
    logs[False] = _logs(sums, pairs, divide_by_taken=False) if (n > m).any() else logs[True]
    return {
        edition: _scores(logs[rules.divide_by_taken][:, : rules.max_n], pairs)
        for edition, rules in RULES.items()
    }


def _taken_sums(
    pairs: DayPairs, orders: int, beta: float, threads: int, backend: Backend
) -> Floats:
    if orders < 1:
        raise ValueError(f"max_n must be at least 1, got {orders}")
    if not (math.isfinite(beta) and beta >= 0):
        raise ValueError(f"beta must be a number of at least 0, got {beta!r}")
    n, m = pairs.lengths()
    shorter = np.minimum(n, m)
    sums = np.zeros((pairs.days, min(orders, shorter.max(initial=1))))
    if pairs.squares is None:
        return _numpy_sums(pairs, None, beta, sums)
    # Sizes double, so that a run builds a few tables at most.
    table = _proximity_table(float(beta), 1 << (pairs.squares + 1).bit_length())
    kernels = kernel_loading.kernels_for(backend, sums.shape[1] * int(n @ m))
    if kernels is None:
        return _numpy_sums(pairs, table, beta, sums)

    def run(first: int, last: int) -> None:
        kernels.taken_sums(*pairs[:4], table, sums.shape[1], first, last, sums)

    trajectory_kernels.over_days(run, pairs.days, threads)
    return sums


def _exp(values: Floats) -> Floats:
    """Return the C library's exponentials: NumPy's differ between processors in the last bit."""
    every = map(math.exp, values.ravel().tolist())
    return np.fromiter(every, np.float64, values.size).reshape(values.shape)


@functools.lru_cache(maxsize=8)
def _proximity_table(beta: float, size: int) -> Floats:
    """Return the proximity of every squared distance below ``size``, shared by all backends."""
    return _exp(-beta * np.sqrt(np.arange(size, dtype=np.float64)))


def _numpy_sums(pairs: DayPairs, table: Floats | None, beta: float, sums: Floats) -> Floats:
    for batch, n, m, squares in pairs.batches():
        near = _exp(-beta * np.sqrt(squares)) if table is None else table[squares]
        near = np.ascontiguousarray(np.moveaxis(near, 2, 0))
        product = near
        for order in range(sums.shape[1]):
            if order:
                product = product[:, :-1, :-1] * near[:, order:, order:]
            sums[batch, order] = _greedy_sums(product, n - order, m - order)
            if not product.size:
                break
    return sums


def _greedy_sums(product: Floats, rows: NDArray[np.int64], cols: NDArray[np.int64]) -> Floats:
    """Take the best open pair of every day again and again; the first of equals in row order."""
    days, tall, wide = product.shape
    totals = np.zeros(days)
    if not product.size:
        return totals
    inside = (np.arange(tall) < rows[:, None])[:, :, None] & (np.arange(wide) < cols[:, None])[
        :, None, :
    ]
    still_open = np.where(inside, product, -1.0)
    flat = still_open.reshape(days, -1)
    every = np.arange(days)
    for _ in range(max(0, int(np.minimum(rows, cols).max()))):
        best = flat.argmax(axis=1)
        value = flat[every, best]
        totals += np.maximum(value, 0.0)
        row, col = np.divmod(best, wide)
        still_open[every, row] = -1.0
        still_open[every, :, col] = -1.0
    return totals


def _logs(sums: Floats, pairs: DayPairs, divide_by_taken: bool) -> Floats:
    """Return the logarithm of each precision: of nothing taken minus infinity."""
    n, m = pairs.lengths()
    shorter = np.minimum(n, m)
    grams = shorter if divide_by_taken else n
    order = np.arange(sums.shape[1])
    # Orders longer than a day count as 1: their logarithm adds nothing, to the bit.
    counted = order < shorter[:, None]
    precision = np.where(counted, sums / np.maximum(grams[:, None] - order, 1), 1.0)
    nothing = precision == 0
    precision[nothing] = 1.0
    # The C library's, like the exponentials.
    every = map(math.log, precision.ravel().tolist())
    logs = np.fromiter(every, np.float64, precision.size).reshape(precision.shape)
    logs[nothing] = -np.inf
    return logs


def _scores(logs: Floats, pairs: DayPairs) -> Floats:
    """Return brevity penalty times the geometric mean of the precisions, day by day."""
    n, m = pairs.lengths()
    total = logs[:, 0]
    for column in range(1, logs.shape[1]):
        total = total + logs[:, column]
    scores = _exp(total / np.minimum(np.minimum(n, m), logs.shape[1]))
    fewer = n < m
    if fewer.any():
        scores[fewer] = _exp(1.0 - m[fewer] / n[fewer]) * scores[fewer]
    return scores
