"""Scoring: what each answer is worth, and what all of them are worth in both readings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pytest_agentbench.benchmarks.behavior_modeling import extended
from pytest_agentbench.benchmarks.behavior_modeling.measured import (
    HIT_RATES,
    Mask,
    Measured,
    measure,
    star_error,
)
from pytest_agentbench.benchmarks.behavior_modeling.tasks import RECOMMENDATION, REVIEW
from pytest_agentbench.benchmarks.protocol import Sample
from pytest_agentbench.metrics.bootstrap import mean, sums
from pytest_agentbench.metrics.estimator import Absent, Estimator, Values
from pytest_agentbench.metrics.hit_rate import hits

if TYPE_CHECKING:
    from pytest_agentbench.benchmarks.behavior_modeling.data import BehaviorDataset
    from pytest_agentbench.runs.record import Record

Floats = npt.NDArray[np.float64]

DOCUMENTED = "documented"
PUBLISHED = "published-0.1.4"
PAPERS = (DOCUMENTED, PUBLISHED)  # the benchmark's document and its published code
READINGS = (*PAPERS, extended.READING)
TEXT_ERRORS = ("sentiment_error", "emotion_error", "topic_error")
TEXT_WEIGHTS = (0.25, 0.25, 0.5)
METRICS = (
    *HIT_RATES, "average_hit_rate", "preference_estimation", *TEXT_ERRORS, "review_generation",
    "overall_quality", "final_score",
)  # fmt: skip


def preference(star_error: Any, reading: str) -> Any:
    """``preference_estimation`` of a mean star error, as the document or the published code has it."""
    return 1 - star_error / 5 if reading == DOCUMENTED else 1 - star_error


def score_sample(sample: Sample, answer: Any) -> Mapping[str, Mapping[str, float]]:
    """The metrics that need no text model: hits of a ranking, or the error of the stars."""
    truth = sample.truth
    if sample.key.target == RECOMMENDATION:
        if truth["item"] is None:
            return {}
        rates = hits(answer["item_list"], truth["item"])
        values = dict(zip(HIT_RATES, rates, strict=True))
        values["average_hit_rate"] = mean(rates, None)
        beside = extended.ranking(answer["item_list"], truth["item"])
        return {**dict.fromkeys(PAPERS, values), extended.READING: beside}
    if truth is None:
        return {}
    error = star_error(answer["stars"], truth["stars"])
    found = {reading: {"preference_estimation": preference(error, reading)} for reading in PAPERS}
    found[extended.READING] = {"star_mae": abs(answer["stars"] - truth["stars"])}
    return found


def score_run(dataset: BehaviorDataset, records: Sequence[Record]) -> Estimator:
    """The estimator of these records."""
    reason = None
    if not dataset.truth_known:
        reason = "the data has no ground truth (inference mode)"
    elif not records:
        reason = "no records"
    if reason is not None:
        beside = [metric.name for metric in extended.METRICS]
        values = {name: dict.fromkeys(METRICS, Absent(reason)) for name in PAPERS}
        values[extended.READING] = dict.fromkeys(beside, Absent(reason))
        return lambda reading, *_: values[reading]
    return RunEstimator(measure(dataset, records))


@dataclass(frozen=True)
class RunEstimator:
    """Scores what was measured, of all records or of a group of them."""

    measured: Measured

    def __call__(self, reading: str, weights: Floats | None) -> Values:
        if reading == extended.READING:
            return extended.estimate(self.measured, weights)
        return estimate(self.measured, reading, weights)

    def part(self, chosen: Mask) -> RunEstimator:
        return RunEstimator(self.measured.part(chosen))


def estimate(measured: Measured, reading: str, weights: Floats | None) -> Values:
    """Every metric of the document's reading or of the published code's.

    ``documented`` counts every record; ``published-0.1.4`` the valid ones, as the published code does.
    """
    counted = np.ones(len(measured.valid), bool) if reading == DOCUMENTED else measured.valid
    result: dict[str, Any] = {}
    rankings = _Counted(measured, counted & measured.recommendation, weights, RECOMMENDATION)
    for name in HIT_RATES:
        result[name] = rankings.mean(name)
    result["average_hit_rate"] = combine(
        [result[name] for name in HIT_RATES], lambda *rates: sum(rates) / len(rates)
    )
    reviews = _Counted(measured, counted & ~measured.recommendation, weights, REVIEW)
    stars = reviews.mean("star_error")
    result["preference_estimation"] = combine([stars], lambda error: preference(error, reading))
    for name in TEXT_ERRORS:
        result[name] = reviews.mean(name)
    result["review_generation"] = combine(
        [result[name] for name in TEXT_ERRORS],
        lambda *errors: 1 - sum(w * e for w, e in zip(TEXT_WEIGHTS, errors, strict=True)),
    )
    result["overall_quality"] = combine(
        [result["preference_estimation"], result["review_generation"]], lambda a, b: (a + b) / 2
    )
    result["final_score"] = combine(
        [result["average_hit_rate"], result["overall_quality"]], lambda a, b: 100 * (a + b) / 2
    )
    return {name: result[name] for name in METRICS}


def combine(parts: Sequence[Any], formula: Any) -> Any:
    """A value computed from others; absent, with the same reason, where one of them is."""
    for part in parts:
        if isinstance(part, Absent):
            return part
    return formula(*parts)


class _Counted:
    """The records that count for a target: means of their columns, of all or of every resample."""

    def __init__(
        self, measured: Measured, counted: Mask, weights: Floats | None, target: str
    ) -> None:
        self._measured, self._counted, self._weights = measured, counted, weights
        self._missing = measured.nothing(counted, target)
        self._times: Any = None if weights is None else sums(counted, weights)

    def mean(self, name: str) -> float | Floats | Absent:
        if name in self._measured.absent:
            return Absent(self._measured.absent[name])
        if self._missing is not None:
            return self._missing
        values = self._measured.columns[name]
        if self._weights is None:
            return mean(values[self._counted], None)
        # Zeros instead of a slice: the weights, which are large, are not copied for every metric.
        with np.errstate(invalid="ignore"):  # a resample may have nobody of a kind
            resampled: Floats = sums(np.where(self._counted, values, 0.0), self._weights)
            resampled /= self._times
        return resampled
