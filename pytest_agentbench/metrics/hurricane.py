"""How a hurricane changes travel: the published formulas of HurricaneMobility, and their worst cases.

Every function takes trips with any number of axes in front (one for each bootstrap resample) and
gives one score for each. The ``worst_`` ones are bounds: no trips that people without an answer could have
made give a lower score.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

CHANGE_WEIGHT = 0.6
DISTRIBUTION_WEIGHT = 0.4
_EPSILON = 1e-8  # the published code adds it to every denominator


def changes(totals: ArrayLike) -> Floats:
    """Return the changes in percent, (during, after) against before, of trips (before, during, after).

    A change from no trips at all has no meaning: NaN.

    >>> changes([200, 150, 190]).tolist()
    [-25.0, -5.0]
    """
    trips = np.asarray(totals, dtype=np.float64)
    before = trips[..., :1]
    known = np.where(before > 0, before, np.nan)
    with np.errstate(over="ignore"):  # against next to nothing any change is without bound
        percent: Floats = (trips[..., 1:] - before) / known * 100
    return percent


def change_rate_score(totals: ArrayLike, true_changes: ArrayLike) -> Floats:
    """Return 100 minus the mean absolute percentage error of the two changes, at least 0.

    Range 0 to 100, higher is better.

    >>> round(float(change_rate_score([200, 150, 190], [-25.0, -5.0])), 6)
    100.0
    >>> round(float(change_rate_score([200, 150, 190], [-50.0, -5.0])), 6)
    75.0
    """
    true = np.asarray(true_changes, dtype=np.float64)
    with np.errstate(over="ignore"):  # an error without bound scores 0 like any other above 100 %
        error = np.abs(true - changes(totals)) / (np.abs(true) + _EPSILON) * 100
        score: Floats = np.maximum(0.0, 100 - error.mean(axis=-1))
    return score


def worst_change_rate_score(totals: ArrayLike, true_changes: ArrayLike, most: ArrayLike) -> Floats:
    """Return the least :func:`change_rate_score` if 0 to ``most`` trips more were made on each day.

    The error is convex in the trips during and after, and in 1 / trips before: it is largest at a corner.
    Without trips before, it has no bound, and the score is 0.

    >>> round(float(worst_change_rate_score([200, 150, 190], [-25.0, -5.0], 0)), 6)
    100.0
    >>> round(float(worst_change_rate_score([200, 150, 190], [-25.0, -5.0], 10)), 4)  # 160 and 200
    40.0
    """
    trips = np.asarray(totals, dtype=np.float64)
    added = np.asarray(most, dtype=np.float64)[..., None]
    corners = itertools.product((0.0, 1.0), repeat=trips.shape[-1])
    scores = [
        change_rate_score(trips + added * np.array(corner), true_changes) for corner in corners
    ]
    worst: Floats = np.nan_to_num(np.min(scores, axis=0), nan=0.0)
    return worst


def distribution_score(hourly: ArrayLike, true_hourly: ArrayLike) -> Floats:
    """Return 100 times the mean cosine similarity of the three days' hourly trips.

    Range 0 to 100, higher is better. A day without trips is like no other: 0.

    >>> round(float(distribution_score([[1, 2], [2, 0], [0, 3]], [[2, 4], [5, 0], [7, 0]])), 4)
    66.6667
    """
    similarity: Floats = (_unit(hourly) * _unit(true_hourly)).sum(axis=-1).mean(axis=-1)
    score: Floats = np.maximum(0.0, similarity * 100)
    return score


def worst_distribution_score(hourly: ArrayLike, true_hourly: ArrayLike, most: ArrayLike) -> Floats:
    """Return a bound: :func:`distribution_score` is no lower if 0 to ``most`` trips more are made in each hour.

    They add nothing to the likeness, and to the length of a day's vector as much as they can.

    >>> round(float(worst_distribution_score([[3, 4, 0, 0]], [[3, 4, 0, 0]], 0)), 4)
    100.0
    >>> round(float(worst_distribution_score([[3, 4, 0, 0]], [[3, 4, 0, 0]], 2.5)), 4)
    50.0
    """
    trips = np.asarray(hourly, dtype=np.float64)
    added = np.asarray(most, dtype=np.float64)[..., None, None] * np.sqrt(trips.shape[-1])
    similarity: Floats = (_unit(trips, added) * _unit(true_hourly)).sum(axis=-1).mean(axis=-1)
    score: Floats = np.maximum(0.0, similarity * 100)
    return score


def final_score(change: Any, distribution: Any) -> Any:
    """Return 0.6 of the change rate score and 0.4 of the distribution score.

    Range 0 to 100, higher is better.

    >>> final_score(50.0, 100.0)
    70.0
    """
    return CHANGE_WEIGHT * change + DISTRIBUTION_WEIGHT * distribution


def _unit(vectors: ArrayLike, longer: ArrayLike = 0.0) -> Floats:
    """Vectors divided by their length and what is added to it."""
    array = np.asarray(vectors, dtype=np.float64)
    length = np.linalg.norm(array, axis=-1, keepdims=True)
    unit: Floats = array / (length + longer + _EPSILON)
    return unit
