"""A stored run measured again: its records by their answers, its scores by its records.

Gates, comparisons and ranks are decided on what comes out here. What the files of the run say otherwise is
reported, and decides nothing.
"""

from __future__ import annotations

import dataclasses

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks.protocol import Dataset
from pytest_agentbench.runs import run_folder
from pytest_agentbench.runs.remeasure import remeasured, same_number
from pytest_agentbench.runs.scores_file import Readings, Score, Values
from pytest_agentbench.runs.stored import StoredRun
from pytest_agentbench.scoring import scores
from pytest_agentbench.settings.settings import Settings


def verified(run: StoredRun, settings: Settings, dataset: Dataset) -> StoredRun:
    """The run as its answers are, with a line about each thing that its files say otherwise.

    Refused where records are missing, or hold no answers: nobody can tell what they said.
    """
    if without_answers(run):
        raise BenchmarkError(
            f"{run.folder}: its records hold no answers, as those of a run that a cluster has scored; they "
            "cannot be measured again: score the submission here (--engine local)"
        )
    if not dataset.samples_here:
        raise BenchmarkError(
            f"{run.folder}: its records are measured again before they are compared, for which the data "
            "must be read here and not on a cluster (--engine local)"
        )
    again = remeasured(settings.benchmark, dataset, run.records)
    counted = run.scores.samples.total
    if len(again.records) < counted:
        raise BenchmarkError(
            f"{run.folder}: its {run_folder.SCORES} counts {counted} answers, and its {run_folder.RECORDS} "
            f"has {len(again.records)} of them; go on with that run first (--resume={run.folder})"
        )
    notes = [again.note(run.folder.name)]
    questions = [(dataset.index_of[record.sample], record.epoch) for record in again.records]
    values = scores.values_of(settings, dataset, questions, again.records)
    readings, difference = _corrected(run.scores.readings, values)
    if difference is not None and run.scores.incomplete is None:
        notes.append(f"{run.folder.name}: its {run_folder.SCORES} says {difference}")
    return dataclasses.replace(
        run,
        scores=dataclasses.replace(run.scores, readings=readings),
        measured=again.records,
        notes=tuple(note for note in notes if note is not None),
    )


def as_recorded(run: StoredRun) -> StoredRun:
    """A run without answers, which says that nobody has measured it again."""
    note = f"{run.folder.name}: as recorded, not recomputed: its records hold no answers"
    return dataclasses.replace(run, notes=(note,))


def without_answers(run: StoredRun) -> bool:
    """Whether no valid record holds its answer: a cluster keeps them."""
    valid = [record for record in run.records if record.status == "ok"]
    return bool(valid) and not any(record.has_answer for record in valid)


def _corrected(said: Readings, values: Values) -> tuple[Readings, str | None]:
    """The readings with the values that the records have, and the first that was not what it said.

    A value that was right keeps its interval.
    """
    found: dict[str, dict[str, Score]] = {}
    first = None
    for reading, metrics in said.items():
        found[reading] = {}
        for name, score in metrics.items():
            if reading not in values or name not in values[reading]:
                continue  # of an older version, or made up
            now = values[reading][name]
            if _same(score.value, now):
                found[reading][name] = score
                continue
            found[reading][name] = Score(
                now, reason="absent in its records" if now is None else None
            )
            first = first or f"{name} of {reading} is {score.value}, its answers give {now}"
    return {reading: found[reading] for reading in said}, first


def _same(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return same_number(one, other)
