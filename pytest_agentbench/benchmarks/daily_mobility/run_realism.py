"""The days of a run, as the reading ``realism`` compares them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from pytest_agentbench.benchmarks.daily_mobility import scoring
from pytest_agentbench.benchmarks.daily_mobility.data import DailyMobilityDataset
from pytest_agentbench.benchmarks.daily_mobility.intentions import CODES, LABELS, SLOTS
from pytest_agentbench.benchmarks.days.day_facts import Facts, facts
from pytest_agentbench.benchmarks.days.lived_day import DAY
from pytest_agentbench.benchmarks.days.realism import READING, Realism
from pytest_agentbench.metrics.estimator import Values

if TYPE_CHECKING:
    from pytest_agentbench.benchmarks.days.realism import Bools, Floats
    from pytest_agentbench.runs.record import Record


class RunScores:
    """The estimator of a run: the readings of the published numbers, and ``realism`` beside them."""

    def __init__(self, numbers: scoring.PopulationScores, days: Callable[[], Realism]) -> None:
        self._numbers = numbers
        self._days = functools.cache(days)  # most comparisons never ask for them

    def __call__(self, reading: str, weights: Floats | None) -> Values:
        if reading == READING:
            return self._days().estimate(weights)
        return self._numbers(reading, weights)

    def part(self, chosen: Bools) -> RunScores:
        """The estimator of some of the records."""
        return RunScores(self._numbers.part(chosen), lambda: self._days().part(chosen))


def of_run(dataset: DailyMobilityDataset, records: Sequence[Record]) -> Realism:
    """Everybody's day, if it is told, and everybody's half hours, against the reference and the truth."""
    people: list[Facts | None] = []
    sequences = np.full((len(records), SLOTS), 255, np.uint8)
    for row, record in enumerate(records):
        answer = record.answer if record.status == "ok" else {}
        day = answer.get(DAY)
        told = None
        if day is not None and dataset.city is not None:
            told = facts(day, _home(dataset, record), dataset.position)
        people.append(told)
        if answer:
            sequences[row] = np.array(answer["intention_sequences"]) - 1
    true = dataset.truth.intention_sequences - np.uint8(1)
    return Realism(people, dataset.reference, sequences, true, len(LABELS))


def label_note(records: Sequence[Record]) -> str | None:
    """A line about labels that lived days spell otherwise, and that therefore count as other."""
    people, example = 0, ""
    for record in records:
        day = record.answer.get(DAY) if record.status == "ok" else None
        said = {row[2] for row in (day or {}).get("rows", ()) if row[2]} - CODES.keys()
        meant = [text for text in said if text.strip().lower() in CODES]
        people += bool(meant)
        example = example or min(meant, default="")
    if not people:
        return None
    who = "1 person says" if people == 1 else f"{people} people say"
    return f"warning: {who} {example!r}: other, as published, unless spelt as the labels"


def _home(dataset: DailyMobilityDataset, record: Record) -> object:
    index = dataset.index_of.get(record.sample)
    return None if index is None else dataset.profiles[index].get("home")
