"""Scoring: four divergences and their mean, in both readings, for a run and for its resamples."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_agentbench.benchmarks.daily_mobility.intentions import FIELDS, LABELS
from pytest_agentbench.benchmarks.daily_mobility.population import Population
from pytest_agentbench.metrics.divergence import (
    BINS,
    Columns,
    OwnRange,
    bin_numbers,
    jensen_shannon,
    own_range_histogram,
    root_distance,
    round_half_up,
)
from pytest_agentbench.metrics.estimator import Absent, Estimator, Values

if TYPE_CHECKING:
    import numpy.typing as npt

    from pytest_agentbench.metrics.divergence import Floats
    from pytest_agentbench.runs.record import Record

    Bools = npt.NDArray[np.bool_]
    # A divergence: with weights (resamples x people), one value a resample.
    Divergence = Callable[["Floats | None"], "float | Floats"]

DOCUMENTED = "documented"
PUBLISHED = "published-0.1.4"
READINGS = (DOCUMENTED, PUBLISHED)
METRICS = tuple(f"jsd_{name}" for name in FIELDS)
FINAL = "final_score"


def score_run(truth: Population, records: Sequence[Record]) -> Estimator:
    """The estimator of a run; its records say who has a valid answer, and which."""
    valid = np.array([record.status == "ok" for record in records], bool)
    answers = Population.from_answers([r.answer for r in records if r.status == "ok"])
    return score_population(truth, answers, valid)


def score_population(
    truth: Population, answers: Population, valid: Bools | None = None
) -> Estimator:
    """The estimator of a population: ``answers`` holds the people for whom ``valid`` is true.

    In the documented reading everybody else is mass in a bin of its own; the published reading is
    over the valid answers alone.
    """
    if valid is None:
        valid = np.ones(len(answers.gyration_radius), bool)

    @functools.cache
    def divergences(reading: str) -> Mapping[str, Divergence]:
        if reading == DOCUMENTED:
            return documented(truth, answers, valid)
        return published(truth, answers)

    def estimate(reading: str, weights: Floats | None) -> Values:
        names = (*METRICS, FINAL)
        if not len(valid):
            return dict.fromkeys(names, Absent("no records"))
        if reading == PUBLISHED:
            if not valid.any():
                return dict.fromkeys(names, Absent("no valid answer"))
            weights = None if weights is None else np.ascontiguousarray(weights[:, valid])
        values: dict[str, Any] = {
            metric: divergence(weights) for metric, divergence in divergences(reading).items()
        }
        values[FINAL] = 100 * sum(1 - values[metric] for metric in METRICS) / len(METRICS)
        return values

    return estimate


def documented(
    truth: Population, answers: Population, valid: Bools | None = None
) -> dict[str, Divergence]:
    """The documented reading: base-2 divergence in bins that the truth decides."""
    pairs = zip(METRICS, columns(truth), columns(truth, answers, valid), strict=True)
    return {metric: _ColumnDivergence(true, given) for metric, true, given in pairs}


class _ColumnDivergence:
    """The mean over columns (slots, intentions) of the divergence within the column."""

    def __init__(self, truth: Columns, answers: Columns) -> None:
        self._truth = truth.counts(None)
        self._answers = answers

    def __call__(self, weights: Floats | None) -> float | Floats:
        means = self.by_column(weights).mean(axis=-1)
        return float(means) if weights is None else means

    def by_column(self, weights: Floats | None) -> Floats:
        counts = self._answers.counts(weights)
        return jensen_shannon(self._truth, counts)


def columns(
    truth: Population, answers: Population | None = None, valid: Bools | None = None
) -> tuple[Columns, Columns, Columns, Columns]:
    """The codes of the four arrays, in the order of the metrics: of the truth, or of answers.

    The last code of each column belongs to people without a valid answer; the truth has none.
    """
    given = truth if answers is None else answers
    radius = truth.gyration_radius
    known = np.unique(round_half_up(truth.daily_location_numbers))
    return (
        _coded(
            bin_numbers(given.gyration_radius, float(radius.min()), float(radius.max()))[:, None],
            BINS + 2,
            valid,
        ),
        _coded(_positions(known, given.daily_location_numbers)[:, None], len(known) + 1, valid),
        _coded(given.intention_sequences - np.uint8(1), len(LABELS), valid),
        _coded(bin_numbers(given.intention_proportions, 0.0, 1.0), BINS + 2, valid),
    )


def _positions(known: Floats, values: Floats) -> npt.NDArray[np.intp]:
    """Where each value, rounded, stands among the known ones; all that are unknown stand behind.

    Values that the truth does not have may share a bin: mass without a counterpart adds the same to
    the divergence in one bin as in many.
    """
    rounded = round_half_up(values)
    at = np.searchsorted(known, rounded)
    unknown = known[np.minimum(at, len(known) - 1)] != rounded
    return np.where(unknown, len(known), at)


def _coded(codes: npt.NDArray[Any], size: int, valid: Bools | None) -> Columns:
    if valid is not None and not valid.all():
        everybody = np.full((len(valid), codes.shape[1]), size, codes.dtype)
        everybody[valid] = codes
        codes = everybody
    return Columns(codes, size + 1)


def published(truth: Population, answers: Population) -> dict[str, Divergence]:
    """The published reading: each side's histogram over its own range, two axes flattened."""
    true, given = vars(truth), vars(answers)
    return {
        metric: _OwnRangeDistance(true[name], given[name])
        for metric, name in zip(METRICS, FIELDS, strict=True)
    }


class _OwnRangeDistance:
    def __init__(self, truth: npt.NDArray[Any], answers: npt.NDArray[Any]) -> None:
        self._truth = own_range_histogram(truth)
        self._answers = answers

    @functools.cached_property
    def _resampled(self) -> OwnRange:
        if self._answers.ndim == 1:
            return OwnRange(self._answers[:, None])
        if self._answers.dtype != np.uint8:
            return OwnRange(self._answers)
        # 48 codes a person, of 7 kinds: how often each kind occurs is all that the histogram needs.
        kinds = np.arange(1, len(LABELS) + 1)
        times = np.stack([(self._answers == kind).sum(axis=1) for kind in kinds], axis=1)
        return OwnRange(np.broadcast_to(kinds, times.shape), times)

    def __call__(self, weights: Floats | None) -> float | Floats:
        if weights is None:
            return float(root_distance(self._truth, own_range_histogram(self._answers)))
        return self._resampled.distances(weights, self._truth)
