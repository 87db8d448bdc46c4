"""Scoring: what each answer is worth, and what all of them are worth in both readings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pytest_agentbench.benchmarks.behavior_modeling.tasks import RECOMMENDATION
from pytest_agentbench.benchmarks.behavior_modeling.text_models import sentiment
from pytest_agentbench.benchmarks.protocol import Sample
from pytest_agentbench.metrics.bootstrap import mean
from pytest_agentbench.metrics.estimator import Absent, Estimator, Values
from pytest_agentbench.metrics.hit_rate import CUTS, hits
from pytest_agentbench.metrics.review_text import (
    LARGEST_SENTIMENT_ERROR,
    LARGEST_TOPIC_ERROR,
    emotion_errors,
    sentiment_errors,
    topic_errors,
)

if TYPE_CHECKING:
    from pytest_agentbench.benchmarks.behavior_modeling.data import BehaviorDataset
    from pytest_agentbench.runs.record import Record

Floats = npt.NDArray[np.float64]

DOCUMENTED = "documented"
PUBLISHED = "published-0.1.4"
READINGS = (DOCUMENTED, PUBLISHED)
HIT_RATES = tuple(f"top_{n}_hit_rate" for n in CUTS)
TEXT_ERRORS = ("sentiment_error", "emotion_error", "topic_error")
TEXT_WEIGHTS = (0.25, 0.25, 0.5)
METRICS = (
    *HIT_RATES, "average_hit_rate", "preference_estimation", *TEXT_ERRORS, "review_generation",
    "overall_quality", "final_score",
)  # fmt: skip
LARGEST_STAR_ERROR = 4 / 5  # one star where five are true


def star_error(predicted: float, true: float) -> float:
    """The distance of two ratings as a share of five stars.

    >>> star_error(3.0, 5.0)
    0.4
    """
    return abs(predicted - true) / 5


def preference(star_error: Any, reading: str) -> Any:
    """``preference_estimation`` of a mean star error, as the document or the published code has it."""
    return 1 - star_error / 5 if reading == DOCUMENTED else 1 - star_error


def score_sample(sample: Sample, answer: Any) -> Mapping[str, Mapping[str, float]]:
    """The metrics that need no text model: hits of a ranking, or the error of the stars."""
    truth = sample.truth
    if sample.key.target == RECOMMENDATION:
        if truth["item"] is None:
            return {}
        found = hits(answer["item_list"], truth["item"])
        values = dict(zip(HIT_RATES, found, strict=True))
        values["average_hit_rate"] = mean(found, None)
        return dict.fromkeys(READINGS, values)
    if truth is None:
        return {}
    error = star_error(answer["stars"], truth["stars"])
    return {reading: {"preference_estimation": preference(error, reading)} for reading in READINGS}


@dataclass(frozen=True)
class Measured:
    """Per-record values of one run. Failed records hold the worst value of each column."""

    valid: npt.NDArray[np.bool_]
    recommendation: npt.NDArray[np.bool_]
    # By star_error and metric names, for the kinds of records that have them.
    columns: Mapping[str, Floats]
    absent: Mapping[str, str] = field(default_factory=dict)  # columns that nobody has, and why

    def part(self, mask: npt.NDArray[np.bool_]) -> Measured:
        """The values of these records only."""
        columns = {name: column[mask] for name, column in self.columns.items()}
        return Measured(self.valid[mask], self.recommendation[mask], columns, self.absent)


def measure(dataset: BehaviorDataset, records: Sequence[Record]) -> Measured:
    """Measures all records; the texts of all valid reviews are read together, once."""
    count = len(records)
    tasks = [dataset.task_of(record.sample) for record in records]
    valid = np.array([record.status == "ok" for record in records], dtype=bool)
    recommendation = np.array([task.target == RECOMMENDATION for task in tasks], dtype=bool)
    worst = {"star_error": LARGEST_STAR_ERROR, "sentiment_error": LARGEST_SENTIMENT_ERROR,
             "topic_error": LARGEST_TOPIC_ERROR}  # fmt: skip
    columns = {name: np.zeros(count) for name in HIT_RATES}
    columns |= {name: np.full(count, value) for name, value in worst.items()}
    for index in np.flatnonzero(valid & recommendation).tolist():
        found = hits(records[index].answer["item_list"], tasks[index].truth)
        for name, value in zip(HIT_RATES, found, strict=True):
            columns[name][index] = value
    reviewed = np.flatnonzero(valid & ~recommendation).tolist()
    for index in reviewed:
        stars = records[index].answer["stars"]
        columns["star_error"][index] = star_error(stars, tasks[index].truth["stars"])
    answers = [str(records[index].answer["review"]) for index in reviewed]
    truths = [str(tasks[index].truth["review"]) for index in reviewed]
    absent: dict[str, str] = {}
    if recommendation.all():  # no reviews: nothing to read, and no model to load
        return Measured(valid, recommendation, columns, absent)
    problem = sentiment.missing()
    if problem is None:
        columns["sentiment_error"][reviewed] = sentiment_errors(
            sentiment.compound_scores(answers), sentiment.compound_scores(truths)
        )
    else:
        absent["sentiment_error"] = problem
    reader = dataset.reader()
    if reader is None:
        reason = dataset.without_models
        return Measured(
            valid, recommendation, columns,
            {**absent, "emotion_error": reason, "topic_error": reason},
        )  # fmt: skip
    columns["emotion_error"] = np.full(count, reader.largest_emotion_error())
    if reviewed:
        half = len(reviewed)
        reader.prepare([*answers, *truths])
        emotions = reader.emotions([*answers, *truths])
        topics = reader.topics([*answers, *truths])
        columns["emotion_error"][reviewed] = emotion_errors(emotions[:half], emotions[half:])
        columns["topic_error"][reviewed] = topic_errors(topics[:half], topics[half:])
    return Measured(valid, recommendation, columns, absent)


def score_run(dataset: BehaviorDataset, records: Sequence[Record]) -> Estimator:
    """The estimator of these records."""
    reason = None
    if not dataset.truth_known:
        reason = "the data has no ground truth (inference mode)"
    elif not records:
        reason = "no records"
    if reason is not None:
        values = {metric: Absent(reason) for metric in METRICS}
        return lambda *_: values
    measured = measure(dataset, records)
    return lambda reading, weights: estimate(measured, reading, weights)


def estimate(measured: Measured, reading: str, weights: Floats | None) -> Values:
    """Every metric of a reading.

    ``documented`` counts every record; ``published-0.1.4`` the valid ones, as the published code does.
    """
    counted = np.ones(len(measured.valid), bool) if reading == DOCUMENTED else measured.valid
    result: dict[str, Any] = {}
    for name in HIT_RATES:
        result[name] = _mean(
            measured, name, counted & measured.recommendation, weights, "recommendation"
        )
    result["average_hit_rate"] = combine(
        [result[name] for name in HIT_RATES], lambda *rates: sum(rates) / len(rates)
    )
    reviews = counted & ~measured.recommendation
    stars = _mean(measured, "star_error", reviews, weights, "review_writing")
    result["preference_estimation"] = combine([stars], lambda error: preference(error, reading))
    for name in TEXT_ERRORS:
        result[name] = _mean(measured, name, reviews, weights, "review_writing")
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


def _mean(
    measured: Measured,
    name: str,
    counted: npt.NDArray[np.bool_],
    weights: Floats | None,
    target: str,
) -> float | Floats | Absent:
    if name in measured.absent:
        return Absent(measured.absent[name])
    if not counted.any():
        asked = measured.recommendation if target == RECOMMENDATION else ~measured.recommendation
        if asked.any():
            return Absent(f"none of {int(asked.sum())} {target} samples has a valid answer")
        return Absent(f"the run has no {target} samples")
    values = measured.columns[name]
    if weights is None:
        return mean(values[counted], None)
    # Zeros instead of a slice: the weights, which are large, are not copied for every metric.
    with np.errstate(invalid="ignore"):  # a resample may have nobody of a kind
        resampled: Floats = (weights @ np.where(counted, values, 0.0)) / (weights @ counted)
    return resampled
