"""What was measured of each record of a run: read once, then weighed in every reading and resample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pytest_agentbench.benchmarks.behavior_modeling import extended
from pytest_agentbench.benchmarks.behavior_modeling.tasks import RECOMMENDATION
from pytest_agentbench.benchmarks.behavior_modeling.text_models import sentiment
from pytest_agentbench.metrics.estimator import Absent
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
Mask = npt.NDArray[np.bool_]

HIT_RATES = tuple(f"top_{n}_hit_rate" for n in CUTS)
LARGEST_STAR_ERROR = 4 / 5  # one star where five are true


def star_error(predicted: float, true: float) -> float:
    """The distance of two ratings as a share of five stars.

    >>> star_error(3.0, 5.0)
    0.4
    """
    return abs(predicted - true) / 5


@dataclass(frozen=True)
class Measured:
    """Per-record values of one run. Failed records hold the worst value of each column."""

    valid: Mask
    recommendation: Mask
    # By star_error and metric names, for the kinds of records that have them.
    columns: Mapping[str, Floats]
    absent: Mapping[str, str] = field(default_factory=dict)  # columns that nobody has, and why

    def part(self, mask: Mask) -> Measured:
        """The values of these records only."""
        columns = {name: column[mask] for name, column in self.columns.items()}
        return Measured(self.valid[mask], self.recommendation[mask], columns, self.absent)

    def nothing(self, counted: Mask, target: str) -> Absent | None:
        """Why a metric of a target is absent where no record of it counts; None where one does."""
        if counted.any():
            return None
        asked = self.recommendation if target == RECOMMENDATION else ~self.recommendation
        if asked.any():
            return Absent(f"none of {int(asked.sum())} {target} samples has a valid answer")
        return Absent(f"the run has no {target} samples")


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
    columns |= extended.columns(count)
    for index in np.flatnonzero(valid & recommendation).tolist():
        ranked, truth = records[index].answer["item_list"], tasks[index].truth
        for name, value in zip(HIT_RATES, hits(ranked, truth), strict=True):
            columns[name][index] = value
        for name, value in extended.ranking(ranked, truth).items():
            columns[name][index] = value
    absent: dict[str, str] = {}
    if recommendation.all():  # no reviews: nothing to read, and no model to load
        return Measured(valid, recommendation, columns, absent)
    reviewed = np.flatnonzero(valid & ~recommendation).tolist()
    for index in reviewed:
        stars = records[index].answer["stars"]
        columns["star_error"][index] = star_error(stars, tasks[index].truth["stars"])
    answers = [str(records[index].answer["review"]) for index in reviewed]
    truths = [str(tasks[index].truth["review"]) for index in reviewed]
    found = extended.stars(
        [records[index].answer["stars"] for index in reviewed],
        [tasks[index].truth["stars"] for index in reviewed],
    )
    found |= extended.texts(answers, truths)
    problem = sentiment.missing()
    if problem is None:
        given, true = sentiment.compound_scores(answers), sentiment.compound_scores(truths)
        columns["sentiment_error"][reviewed] = sentiment_errors(given, true)
        found |= extended.pair("sentiment", given, true)
    else:
        absent |= dict.fromkeys(("sentiment_error", "sentiment"), problem)
    reader = dataset.reader()
    if reader is None:
        reason = dataset.without_models
        absent |= dict.fromkeys(("emotion_error", "topic_error", "topic_similarity"), reason)
    else:
        columns["emotion_error"] = np.full(count, reader.largest_emotion_error())
        if reviewed:
            half = len(reviewed)
            reader.prepare([*answers, *truths])
            emotions = reader.emotions([*answers, *truths])
            topics = reader.topics([*answers, *truths])
            columns["emotion_error"][reviewed] = emotion_errors(emotions[:half], emotions[half:])
            columns["topic_error"][reviewed] = topic_errors(topics[:half], topics[half:])
            found |= extended.topics(topics[:half], topics[half:])
    for name, values in found.items():
        columns[name][reviewed] = values
    return Measured(valid, recommendation, columns, absent)
