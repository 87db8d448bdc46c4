"""Scoring: the divergences and their mean, in both readings, for a run and for its resamples."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_agentbench.benchmarks.daily_mobility.intentions import LABELS
from pytest_agentbench.benchmarks.daily_mobility.population import Population
from pytest_agentbench.benchmarks.protocol import Metric
from pytest_agentbench.metrics.divergence import (
    BINS,
    Columns,
    MeanDivergence,
    bin_numbers,
    round_half_up,
)
from pytest_agentbench.metrics.estimator import Absent, Values
from pytest_agentbench.metrics.own_range import OwnRange, own_range_histogram, root_distance

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
FINAL = "final_score"


def score_run(truth: Population, records: Sequence[Record]) -> PopulationScores:
    """The estimator of a run; its records say who has a valid answer, and which."""
    valid = np.array([record.status == "ok" for record in records], bool)
    answers = Population.from_answers([r.answer for r in records if r.status == "ok"])
    return score_population(truth, answers, valid)


def score_population(
    truth: Population, answers: Population, valid: Bools | None = None
) -> PopulationScores:
    """The estimator of a population: ``answers`` holds the people for whom ``valid`` is true."""
    if valid is None:
        valid = np.ones(len(answers.gyration_radius), bool)
    return PopulationScores(truth, answers, valid)


class PopulationScores:
    """The estimator of a population, or of a part of it.

    In the documented reading everybody without a valid answer is mass in a bin of its own; the published
    reading is over the valid answers alone.
    """

    def __init__(
        self,
        truth: Population,
        answers: Population,
        valid: Bools,
        true_counts: Callable[[], Sequence[Floats]] | None = None,
    ) -> None:
        self._truth, self._answers, self._valid = truth, answers, valid
        self._true_counts = true_counts or functools.cache(lambda: counted_truth(truth))
        self._known: dict[str, Mapping[str, Divergence]] = {}

    def __call__(self, reading: str, weights: Floats | None) -> Values:
        names = (*(row.metric for row in DIVERGENCES), FINAL)
        if not len(self._valid):
            return dict.fromkeys(names, Absent("no records"))
        if reading == PUBLISHED:
            if not self._valid.any():
                return dict.fromkeys(names, Absent("no valid answer"))
            weights = None if weights is None else np.ascontiguousarray(weights[:, self._valid])
        values: dict[str, Any] = {
            metric: divergence(weights) for metric, divergence in self._divergences(reading).items()
        }
        values[FINAL] = 100 * sum(1 - value for value in values.values()) / len(values)
        return values

    def part(self, chosen: Bools) -> PopulationScores:
        """The estimator of some of the people: their own arrays are small."""
        return PopulationScores(
            self._truth,
            self._answers.part(chosen[self._valid]),
            self._valid[chosen],
            self._true_counts,
        )

    def _divergences(self, reading: str) -> Mapping[str, Divergence]:
        if reading not in self._known:
            self._known[reading] = (
                documented(self._truth, self._answers, self._valid, self._true_counts())
                if reading == DOCUMENTED
                else published(self._truth, self._answers)
            )
        return self._known[reading]


def documented(
    truth: Population,
    answers: Population,
    valid: Bools | None = None,
    true_counts: Sequence[Floats] | None = None,
) -> dict[str, Divergence]:
    """The documented reading: base-2 divergence in bins that the truth decides."""
    counted = counted_truth(truth) if true_counts is None else true_counts
    return {
        row.metric: _ColumnDivergence(counts, row.columns(truth, answers, valid))
        for row, counts in zip(DIVERGENCES, counted, strict=True)
    }


def counted_truth(truth: Population) -> list[Floats]:
    """The truth's counts of every divergence: the same for all groups of a run."""
    return [row.columns(truth, truth).counts(None) for row in DIVERGENCES]


class _ColumnDivergence:
    """The mean over columns (slots, intentions) of the divergence within the column."""

    def __init__(self, true_counts: Floats, answers: Columns) -> None:
        self._mean = MeanDivergence(true_counts, answers)

    def __call__(self, weights: Floats | None) -> float | Floats:
        means: Floats = self._mean(weights)
        return float(means) if weights is None else means


@dataclass(frozen=True)
class Row:
    """One divergence: its metric, what it is measured on, and its bins in the documented reading."""

    metric: str
    description: str
    field: str  # of a population; several metrics may be measured on one
    codes: Callable[[Population, Population], tuple[npt.NDArray[Any], int]]

    def columns(self, truth: Population, given: Population, valid: Bools | None = None) -> Columns:
        """The codes of a population in bins of the truth.

        The last code of each column belongs to people without a valid answer; the truth has none.
        """
        codes, size = self.codes(truth, given)
        if valid is not None and not valid.all():
            everybody = np.full((len(valid), codes.shape[1]), size, codes.dtype)
            everybody[valid] = codes
            codes = everybody
        return Columns(codes, size + 1)


def _radius_codes(truth: Population, given: Population) -> tuple[npt.NDArray[Any], int]:
    low, high = float(truth.gyration_radius.min()), float(truth.gyration_radius.max())
    return bin_numbers(given.gyration_radius, low, high)[:, None], BINS + 2


def _location_codes(truth: Population, given: Population) -> tuple[npt.NDArray[Any], int]:
    known = np.unique(round_half_up(truth.daily_location_numbers))
    return _positions(known, given.daily_location_numbers)[:, None], len(known) + 1


def _sequence_codes(_: Population, given: Population) -> tuple[npt.NDArray[Any], int]:
    return given.intention_sequences - np.uint8(1), len(LABELS)


def _share_codes(_: Population, given: Population) -> tuple[npt.NDArray[Any], int]:
    return bin_numbers(given.intention_proportions, 0.0, 1.0), BINS + 2


# The only list of divergences; the final score is their mean.
DIVERGENCES = (
    Row("jsd_gyration_radius", "how far people go", "gyration_radius", _radius_codes),
    Row("jsd_daily_location_numbers", "places a day", "daily_location_numbers", _location_codes),
    Row(
        "jsd_intention_sequences", "what they do, and when", "intention_sequences", _sequence_codes
    ),
    Row(
        "jsd_intention_proportions", "what they do, how long", "intention_proportions", _share_codes
    ),
)
METRICS = tuple(row.metric for row in DIVERGENCES)
TABLE = (
    Metric(FINAL, "higher", 0.0, 100.0, description="100 * mean(1 - divergence)"),
    *(Metric(row.metric, "lower", 0.0, 1.0, description=row.description) for row in DIVERGENCES),
)


def _positions(known: Floats, values: Floats) -> npt.NDArray[np.intp]:
    """The position of each rounded value among the known ones; unknown values come last.

    Values that the truth does not have may share a bin: mass without a counterpart adds the same to
    the divergence in one bin as in many.
    """
    rounded = round_half_up(values)
    at = np.searchsorted(known, rounded)
    unknown = known[np.minimum(at, len(known) - 1)] != rounded
    return np.where(unknown, len(known), at)


def published(truth: Population, answers: Population) -> dict[str, Divergence]:
    """The published reading: each side's histogram over its own range, two axes flattened."""
    true, given = vars(truth), vars(answers)
    return {row.metric: _OwnRangeDistance(true[row.field], given[row.field]) for row in DIVERGENCES}


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
