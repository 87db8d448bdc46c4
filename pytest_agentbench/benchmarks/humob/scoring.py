"""Scoring: both metrics in both readings, day by day, then over a user's days, then over users."""

from __future__ import annotations

import hashlib
import itertools
import math
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_agentbench.benchmarks.protocol import Measured, Sample
from pytest_agentbench.metrics import (
    bootstrap,
    dtw,
    geobleu,
    kernel_loading,
    trajectory_kernels,
)
from pytest_agentbench.metrics.bootstrap import mean
from pytest_agentbench.metrics.estimator import Absent, Estimator, Values
from pytest_agentbench.metrics.trajectory_days import day_pairs
from pytest_agentbench.metrics.trajectory_rules import RULES

if TYPE_CHECKING:
    import numpy.typing as npt

    from pytest_agentbench.runs.record import Record

    Floats = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int64]
    DayScores = Mapping[str, Mapping[str, Floats]]

READINGS = tuple(RULES)
METRICS = ("geobleu", "dtw")
# Fewer days than this are scored before threads would have started.
THREADED_DAYS = 5000


def score_samples(samples: Sequence[Sample], answers: Sequence[Any]) -> list[Measured]:
    """``{reading: {metric: value}}`` of every checked answer: the means over the user's days."""
    if not samples:
        return []
    if samples[0].truth.shape[1] == 2:  # masked: nothing to compare with
        return [Measured({}) for _ in samples]
    truth: Ints = np.concatenate([sample.truth for sample in samples])
    generated = np.concatenate([cells_of(answer) for answer in answers])
    bounds, counts = bounds_of_days(truth[:, 0], np.array([len(one.truth) for one in samples]))
    return means(score_days(generated, truth[:, 2:], bounds), counts)


def means(scores: DayScores, counts: Ints) -> list[Measured]:
    """The means of users over their days, of which each has ``counts``; the scores of the days are their basis."""
    basis = np.stack([days for metrics in scores.values() for days in metrics.values()], axis=1)
    packed, width = basis.tobytes(), 8 * basis.shape[1]
    columns = columns_of_means(scores, counts)
    bounds = [0, *np.cumsum(counts).tolist()]
    return [
        Measured(
            {
                reading: {metric: column[user] for metric, column in metrics.items()}
                for reading, metrics in columns.items()
            },
            packed[width * low : width * high],
        )
        for user, (low, high) in enumerate(itertools.pairwise(bounds))
    ]


def columns_of_means(scores: DayScores, counts: Ints) -> dict[str, dict[str, list[float]]]:
    """The means of users over their days, of which each has ``counts``, by reading and metric."""
    bounds = [0, *np.cumsum(counts).tolist()]

    def of(days: list[float]) -> list[float]:
        # As metrics.bootstrap.mean.
        return [
            math.fsum(days[low:high]) / (high - low) for low, high in itertools.pairwise(bounds)
        ]

    return {
        reading: {metric: of(values.tolist()) for metric, values in metrics.items()}
        for reading, metrics in scores.items()
    }


def days_in(basis: bytes) -> Floats:
    """The scores of days that :func:`means` has packed, a column for each reading and metric."""
    return np.frombuffer(basis, np.float64).reshape(-1, len(READINGS) * len(METRICS))


def cells_of(answer: Sequence[Sequence[int]]) -> Ints:
    """A checked answer as an array of cells (x, y); twice as fast as NumPy on nested lists."""
    flat = itertools.chain.from_iterable(answer)
    return np.fromiter(flat, np.int64, 2 * len(answer)).reshape(-1, 2)


def day_bounds(days: npt.NDArray[np.integer[Any]]) -> Ints:
    """Where each day starts among rows in the order of time, and where the last one ends."""
    changes = np.flatnonzero(days[1:] != days[:-1]) + 1
    return np.concatenate(([0], changes, [len(days)])).astype(np.int64)


def bounds_of_days(days: npt.NDArray[np.integer[Any]], sizes: Ints) -> tuple[Ints, Ints]:
    """:func:`day_bounds` of the rows of several users, one after another, and the days of each.

    ``sizes`` are the rows of each user, at least one.
    """
    first = np.ones(len(days), bool)  # of its day
    first[1:] = days[1:] != days[:-1]
    ends = np.cumsum(sizes)
    first[ends[:-1]] = True
    starts = np.flatnonzero(first)
    counts = np.diff(np.searchsorted(starts, ends), prepend=0)
    return np.append(starts, len(days)).astype(np.int64), counts


def score_days(
    generated: npt.NDArray[Any],
    reference: npt.NDArray[Any],
    bounds: Ints,
    readings: Sequence[str] = READINGS,
) -> DayScores:
    """Both metrics in the readings, by day, for points (x, y) laid out day after day.

    Threads score pieces of the days from start to end: what one of them does in Python overlaps with
    the compiled loops of another.
    """
    days = len(bounds) - 1
    scores: DayScores = {
        reading: {metric: np.empty(days) for metric in METRICS} for reading in readings
    }

    def run(first: int, last: int) -> None:
        rows = slice(bounds[first], bounds[last])
        at = bounds[first : last + 1] - bounds[first]
        found = _score_piece(generated[rows], reference[rows], at, readings)
        for reading, metrics in found.items():
            for metric, values in metrics.items():
                scores[reading][metric][first:last] = values

    threads = 1
    if len(bounds) >= THREADED_DAYS:
        points, orders = np.diff(bounds), max(rules.max_n for rules in RULES.values())
        compiled = kernel_loading.kernels_for("auto", orders * int(points @ points))
        threads = 1 if compiled is None else os.cpu_count() or 1
    trajectory_kernels.over_days(run, days, threads)
    return scores


def _score_piece(
    generated: npt.NDArray[Any], reference: npt.NDArray[Any], bounds: Ints, readings: Sequence[str]
) -> DayScores:
    ours, real = (in_one_piece(s) if s.dtype == np.int16 else s for s in (generated, reference))
    pairs = day_pairs(ours, real, bounds, bounds)
    similar: Mapping[str, Floats]
    if len(readings) == 1:
        similar = {readings[0]: geobleu.score_pairs(pairs, readings[0])}
    else:
        similar = geobleu.score_pairs_by_edition(pairs)
    return {
        reading: {"geobleu": similar[reading], "dtw": dtw.score_pairs(pairs, reading)}
        for reading in readings
    }


def in_one_piece(cells: npt.NDArray[np.int16]) -> npt.NDArray[np.int32]:
    """Two columns of a table as kernels take them. NumPy copies columns ten times as fast as short rows."""
    copied = np.empty(cells.shape, np.int32)
    for column in range(cells.shape[1]):
        copied[:, column] = cells[:, column]
    return copied


def fingerprint() -> str:
    """A digest of the scores of two made-up days on this machine."""
    # Across the whole map, so that every distance and exponential that matters takes part.
    generated = np.stack([np.arange(1, 201, 2), np.arange(200, 0, -2)], axis=1)
    scores = score_days(generated, generated[::-1] // 2 + 1, np.array([0, 40, 100]))
    values = [score.tobytes() for reading in READINGS for score in scores[reading].values()]
    return hashlib.sha256(b"".join(values)).hexdigest()[:12]


def score_run(records: Sequence[Record], truth_known: bool) -> Estimator:
    """Means over the records: a failed user has GEO-BLEU 0, and leaves DTW without a value."""
    failed = sum(record.status != "ok" for record in records)
    reason = None
    if not truth_known:
        reason = "inference mode: the truth is not in the data"
    elif not records:
        reason = "no records"
    values = {
        reading: {
            metric: np.array(
                [
                    record.metrics[reading][metric] if record.status == "ok" else 0.0
                    for record in records
                ]
            )
            for metric in METRICS
        }
        for reading in (READINGS if reason is None else ())
    }

    def estimate(reading: str, weights: Floats | None) -> Values:
        if reason is not None:
            return {metric: Absent(reason) for metric in METRICS}
        found: dict[str, float | Floats | Absent] = {}
        if weights is None:
            found |= {metric: mean(column, None) for metric, column in values[reading].items()}
        else:
            found |= bootstrap.means(values[reading], weights)
        if failed:
            found["dtw"] = Absent(
                f"{failed} of {len(records)} users have no valid answer, and DTW has no worst value"
            )
        return found

    return estimate
