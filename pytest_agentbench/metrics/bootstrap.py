"""Means and bootstrap intervals: seeded, clustered by person, equal for any number of workers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from pytest_agentbench.metrics.estimator import Absent, Estimator

FloatArray = npt.NDArray[np.float64]

RESAMPLES = 2000
CONFIDENCE = 0.95
INTERVAL = f"{100 * CONFIDENCE:g} % interval"  # as every report calls it
_TAIL = 100 * (1 - CONFIDENCE) / 2
PERCENTILES = (_TAIL, 100 - _TAIL)  # of resamples: the ends of an interval
_BLOCK_VALUES = 4_000_000  # weights in a block: 32 MB; the last bit of a product depends on it
_COUNTED_AT_ONCE = 65_536  # draws: they stay in the processor's cache
_FEW = 100  # records
# Multiplications that OpenBLAS leaves to one thread: of a vector, of a table.
_ONE_THREAD = (8192, 131_072)
_TILE_ROWS = 16
_SHORT = 50_000_000  # multiplications that take one thread a few milliseconds


@overload
def mean(values: Sequence[float] | FloatArray, weights: None) -> float: ...
@overload
def mean(values: Sequence[float] | FloatArray, weights: FloatArray) -> FloatArray: ...
@overload
def mean(
    values: Sequence[float] | FloatArray, weights: FloatArray | None
) -> float | FloatArray: ...
def mean(values: Sequence[float] | FloatArray, weights: FloatArray | None) -> float | FloatArray:
    """The mean of ``values``; with weights (resamples x values), one weighted mean a resample.

    The sum of the plain mean is exact before it is rounded: it does not depend on the order.

    >>> mean([0.1] * 10, None)  # added up one by one: 0.09999999999999999
    0.1
    >>> mean([1.0, 4.0], np.array([[2.0, 1.0], [0.0, 3.0]]))
    array([2., 4.])
    """
    if weights is None:
        return math.fsum(values) / len(values)
    return means({"": values}, weights)[""]


def means(
    columns: Mapping[str, Sequence[float] | FloatArray], weights: FloatArray
) -> dict[str, FloatArray]:
    """:func:`mean` of several columns with the same weights, which are added up once."""
    totals = weights.sum(axis=1)
    return {
        name: sums(np.asarray(one, dtype=float), weights) / totals for name, one in columns.items()
    }


def sums(values: npt.NDArray[Any], weights: FloatArray) -> FloatArray:
    """``weights @ values`` for values in one column or several; of few records in short pieces.

    A second thread of OpenBLAS does not speed up a product of few records, but stays busy waiting for
    the next: for longer than a short run needs for all its scores.

    >>> sums(np.array([1.0, 4.0]), np.array([[2.0, 1.0], [0.0, 3.0]]))
    array([ 6., 12.])
    """
    each = max(1, math.prod(values.shape))  # multiplications for one resample
    rows = _ONE_THREAD[values.ndim - 1] // each // 16 * 16  # whole tiles: the same bits
    if len(values) > _FEW or not 0 < rows < len(weights):
        found: FloatArray = weights @ values
        return found
    starts = range(0, len(weights), rows)
    return np.concatenate([weights[start : start + rows] @ values for start in starts])


def count_sums(counts: FloatArray, weights: FloatArray) -> FloatArray:
    """``weights @ counts`` of whole numbers, which is exact in any order; a short product by one thread.

    >>> count_sums(np.array([[1.0, 0.0], [3.0, 2.0]]), np.array([[2.0, 1.0], [0.0, 3.0]])).tolist()
    [[5.0, 2.0], [9.0, 6.0]]
    """
    people, width = counts.shape
    height = max(_TILE_ROWS, _ONE_THREAD[1] // max(1, counts.size))
    columns = _ONE_THREAD[1] // height // max(1, people)
    if not columns or len(weights) * counts.size > _SHORT:
        found: FloatArray = weights @ counts
        return found
    found = np.empty((len(weights), width))
    for row in range(0, len(weights), height):
        rows = slice(row, row + height)
        for column in range(0, width, columns):
            tile = slice(column, column + columns)
            found[rows, tile] = weights[rows] @ counts[:, tile]
    return found


def draw(clusters: Sequence[str], seed: int, resamples: int = RESAMPLES) -> Iterator[FloatArray]:
    """Bootstrap weights for records of these clusters, in blocks of rows.

    Whole clusters (people) are drawn with replacement; every record of a cluster shares its weight.
    All are drawn from one stream, in order, so the weights do not depend on the size of the blocks.
    """
    names = {name: number for number, name in enumerate(dict.fromkeys(clusters))}
    member = np.array([names[cluster] for cluster in clusters])
    rows = max(1, _BLOCK_VALUES // max(1, len(clusters)))
    rng = np.random.default_rng(seed)
    for start in range(0, resamples, rows):
        # No name here holds it: whoever lets go of a block before the next one holds one at a time.
        yield _block(rng, member, len(names), min(rows, resamples - start))


def _block(rng: np.random.Generator, member: Any, people: int, rows: int) -> FloatArray:
    block = np.empty((rows, len(member)))
    together = max(1, _COUNTED_AT_ONCE // max(1, people))
    for first in range(0, rows, together):
        part = block[first : first + together]
        drawn = rng.integers(0, people, size=(len(part), people))
        drawn += people * np.arange(len(part))[:, None]
        counts = np.bincount(drawn.reshape(-1), minlength=drawn.size).reshape(drawn.shape)
        part[:] = counts if people == len(member) else counts[:, member]
    return block


def intervals(
    estimate: Estimator,
    readings: Sequence[str],
    clusters: Sequence[str],
    seed: int,
    other: Estimator | None = None,
    ranges: Mapping[str, tuple[float, float]] = MappingProxyType({}),
    spare: float = 0.0,
    resamples: int = RESAMPLES,
) -> dict[str, dict[str, tuple[float, float]]]:
    """The 95 % bootstrap interval of every metric of every reading, within the metric's range.

    With ``other``, the interval of the difference ``estimate - other`` on the same resamples.
    A metric that is absent, or that one person alone decides, has none. Resamples are centred on
    the value: a divergence of a resample is larger on average than that of the whole, and plain
    percentiles would then leave the value itself outside. ``spare`` is the largest share of resamples
    without a value (a small group may draw nobody of a kind) that are left out; with more, or by
    default with any, there is no interval.
    """
    if len(set(clusters)) < 2:
        return {reading: {} for reading in readings}
    drawn: dict[str, dict[str, list[FloatArray]]] = {reading: {} for reading in readings}
    for weights in draw(clusters, seed, resamples):
        for reading in readings:
            for name, values in _differences(estimate, other, reading, weights).items():
                drawn[reading].setdefault(name, []).append(values)
        del weights  # before the next block is made
    result: dict[str, dict[str, tuple[float, float]]] = {}
    for reading, metrics in drawn.items():
        result[reading] = {}
        point = _differences(estimate, other, reading, None)
        spreads = _spreads({name: np.concatenate(each) for name, each in metrics.items()}, spare)
        for name, spread in spreads.items():
            lowest, highest = ranges.get(name, (-math.inf, math.inf))
            low, high = np.clip(point[name][0] + spread, lowest, highest)
            if math.isfinite(low) and math.isfinite(high):
                result[reading][name] = (float(low), float(high))
    return result


def _spreads(metrics: Mapping[str, FloatArray], spare: float) -> dict[str, FloatArray]:
    """How far the ends of each metric's interval are from the mean of its resamples."""
    spreads, whole = dict[str, FloatArray](), dict[str, FloatArray]()
    for name, found in metrics.items():
        known = np.isfinite(found)
        if 0 < np.count_nonzero(~known) <= spare * len(found):
            spreads[name] = _spread(found[None, known])[0]
        else:
            whole[name] = found
    if whole:  # together, for each call takes long for so few numbers
        spreads |= dict(zip(whole, _spread(np.stack([*whole.values()])), strict=True))
    return spreads


def _spread(rows: FloatArray) -> FloatArray:
    ends = np.percentile(rows, PERCENTILES, axis=1)
    spread: FloatArray = ends.T - rows.mean(axis=1, keepdims=True)
    return spread


def _differences(
    estimate: Estimator, other: Estimator | None, reading: str, weights: FloatArray | None
) -> Mapping[str, FloatArray]:
    values = _arrays(estimate, reading, weights)
    if other is None:
        return values
    against = _arrays(other, reading, weights)
    return {name: value - against[name] for name, value in values.items() if name in against}


def _arrays(
    estimate: Estimator, reading: str, weights: FloatArray | None
) -> Mapping[str, FloatArray]:
    """The metrics that are not absent, one value a resample; constants may come as scalars."""
    rows = 1 if weights is None else len(weights)
    return {
        name: np.broadcast_to(np.asarray(value, dtype=float), rows)
        for name, value in estimate(reading, weights).items()
        if not isinstance(value, Absent)
    }
