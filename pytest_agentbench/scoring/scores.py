"""From records to :class:`Scores`: every reading with its intervals, coverage, the difference to a baseline."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Container, Sequence
from typing import Any

import numpy as np

from pytest_agentbench.base.plain import jsonable
from pytest_agentbench.benchmarks.protocol import Dataset, Metric
from pytest_agentbench.metrics import bootstrap
from pytest_agentbench.metrics.estimator import Absent, Estimator, Values
from pytest_agentbench.metrics.estimator_part import part_of
from pytest_agentbench.runs import run_folder
from pytest_agentbench.runs.record import STATUSES, Record
from pytest_agentbench.runs.scores_file import (
    BaselineScores,
    Counts,
    DataFacts,
    Readings,
    Score,
    Scores,
)
from pytest_agentbench.runs.scores_file import Values as PlainValues
from pytest_agentbench.runs.stored import StoredRun
from pytest_agentbench.scoring import groups
from pytest_agentbench.settings import gates
from pytest_agentbench.settings.settings import Settings

# Groups are many: half the resamples of the whole run, of which some may lack a kind of sample.
_GROUP_RESAMPLES = bootstrap.RESAMPLES // 2
_SPARE = 0.05


@dataclasses.dataclass(frozen=True)
class Epoch:
    """The records of one pass over the samples, in the order of the data."""

    indices: Sequence[int]
    records: Sequence[Record]


def score(
    settings: Settings,
    dataset: Dataset,
    questions: Sequence[tuple[int, int]],
    records: Sequence[Record],
    baseline: StoredRun | None = None,
    by_group: bool = True,
) -> Scores:
    """The scores of these questions (sample, epoch); those without a record count as errors.

    They are sorted first, so that the order in which workers finish decides nothing. Agent, gates
    and floor are not known here: whoever ends the run adds them.
    """
    epochs = _epochs(settings, dataset, questions, records)
    every = [record for epoch in epochs for record in epoch.records]
    prepared = _prepared(settings, dataset, epochs)
    estimate, indices = _joined(prepared)
    clusters = [dataset.cluster(index) for index in indices]
    of_each = tuple(
        plain_values(_joined([one])[0], settings.benchmark.readings)
        for one in (prepared if len(prepared) > 1 else ())
    )

    def of_group(places: Sequence[int]) -> dict[str, Score]:
        chosen = {indices[place] for place in places}
        own, members = _joined(_parts(prepared, chosen))
        drawn = [dataset.cluster(index) for index in members]
        reading = settings.reading
        found = _readings(settings, own, drawn, [reading], _GROUP_RESAMPLES, _SPARE)[reading]
        pooled = {metric.name for metric in settings.benchmark.metrics if metric.pooled}
        return {name: score for name, score in found.items() if name not in pooled}

    return Scores(
        schema=run_folder.SCHEMA,
        benchmark=settings.benchmark.name,
        mode=settings.mode,
        dataset=DataFacts(str(settings.dataset), dataset.digest, dataset.description),
        conditions=dict(dataset.conditions()),
        seed=settings.seed,
        primary=settings.reading,
        samples=Counts(
            len(every), **{status: sum(r.status == status for r in every) for status in STATUSES}
        ),
        readings=_readings(settings, estimate, clusters, settings.benchmark.readings),
        groups=(groups.group_scores(dataset, indices, of_group) or None) if by_group else None,
        epochs=of_each or None,
        details=jsonable(settings.benchmark.describe(dataset, every)),
        baseline=None if baseline is None else _compared(settings, dataset, epochs, baseline),
    )


def _epochs(
    settings: Settings,
    dataset: Dataset,
    questions: Sequence[tuple[int, int]],
    records: Sequence[Record],
) -> list[Epoch]:
    found = {(record.sample, record.epoch): record for record in records}
    by_epoch: dict[int, list[int]] = {}
    for index, epoch in sorted(questions):
        by_epoch.setdefault(epoch, []).append(index)

    def record_of(index: int, epoch: int) -> Record:
        name = str(dataset.keys[index])
        return found.get((name, epoch)) or Record(
            settings.benchmark.name, name, "error", epoch=epoch, error="no answer was recorded"
        )

    return [
        Epoch(indices, [record_of(index, epoch) for index in indices])
        for epoch, indices in sorted(by_epoch.items())
    ]


def values_of(
    settings: Settings,
    dataset: Dataset,
    questions: Sequence[tuple[int, int]],
    records: Sequence[Record],
) -> PlainValues:
    """The values alone of what :func:`score` gives, which take no resamples."""
    prepared = _prepared(settings, dataset, _epochs(settings, dataset, questions, records))
    return plain_values(_joined(prepared)[0], settings.benchmark.readings)


# The estimator of an epoch's records, and the epoch.
Prepared = tuple[Estimator, Epoch]


def _prepared(settings: Settings, dataset: Dataset, epochs: Sequence[Epoch]) -> list[Prepared]:
    """Every epoch with its estimator: the benchmark measures its records once."""
    return [(settings.benchmark.score_run(dataset, epoch.records), epoch) for epoch in epochs]


def _parts(prepared: Sequence[Prepared], chosen: Container[int]) -> list[Prepared]:
    """The same for these samples only."""
    found = []
    for estimate, epoch in prepared:
        mask = np.array([index in chosen for index in epoch.indices], bool)
        if mask.any():
            kept = np.flatnonzero(mask).tolist()
            part = Epoch([epoch.indices[n] for n in kept], [epoch.records[n] for n in kept])
            found.append((part_of(estimate, mask), part))
    return found


def _joined(prepared: Sequence[Prepared]) -> tuple[Estimator, list[int]]:
    """The mean of the epochs' scores, and the sample behind each column of its weights."""
    every = sorted({index for _, epoch in prepared for index in epoch.indices})
    column = {index: number for number, index in enumerate(every)}
    parts = [
        (_with_coverage(estimate, epoch.records), [column[index] for index in epoch.indices])
        for estimate, epoch in prepared
    ]

    def estimate(reading: str, weights: Any) -> Values:
        found = [
            part(reading, weights if weights is None or len(own) == len(every) else weights[:, own])
            for part, own in parts
        ]
        return found[0] if len(found) == 1 else {name: _mean_of(name, found) for name in found[0]}

    return estimate, every


def _mean_of(name: str, epochs: Sequence[Values]) -> Any:
    values: list[Any] = [epoch[name] for epoch in epochs]
    absent = next((value for value in values if isinstance(value, Absent)), None)
    return absent or sum(values) / len(values)


def _with_coverage(estimate: Estimator, records: Sequence[Record]) -> Estimator:
    valid = np.array([record.status == "ok" for record in records], float)

    def covered(weights: Any) -> Any:
        if weights is not None and valid.all():  # 1, where anybody is drawn at all
            totals = weights.sum(axis=1)
            return totals / totals
        return bootstrap.mean(valid, weights)

    return lambda reading, weights: {
        **estimate(reading, weights),
        gates.COVERAGE.metric: covered(weights),
    }


def _readings(
    settings: Settings,
    estimate: Estimator,
    clusters: Sequence[str],
    readings: Sequence[str],
    resamples: int = bootstrap.RESAMPLES,
    spare: float = 0.0,
) -> Readings:
    ranges = {metric.name: _range(metric) for metric in settings.benchmark.metrics}
    ranges[gates.COVERAGE.metric] = (0.0, 1.0)
    bounds = bootstrap.intervals(
        estimate, readings, clusters, settings.seed, None, ranges, spare, resamples
    )
    return {
        reading: {
            name: _score(value, bounds[reading].get(name))
            for name, value in estimate(reading, None).items()
        }
        for reading in readings
    }


def _range(metric: Metric) -> tuple[float, float]:
    return (
        -math.inf if metric.low is None else metric.low,
        math.inf if metric.high is None else metric.high,
    )


def plain_values(estimate: Estimator, readings: Sequence[str]) -> PlainValues:
    """The values of every reading, without intervals; None where there is no finite one."""
    return {
        reading: {name: _score(v, None).value for name, v in estimate(reading, None).items()}
        for reading in readings
    }


def _score(value: Any, bounds: tuple[float, float] | None) -> Score:
    if isinstance(value, Absent):
        return Score(None, reason=value.reason)
    if not math.isfinite(value):
        return Score(None, reason=f"not a finite number ({value})")
    low, high = bounds or (None, None)
    return Score(float(value), low, high)


def _compared(
    settings: Settings, dataset: Dataset, epochs: Sequence[Epoch], baseline: StoredRun
) -> BaselineScores:
    """The paired difference (this run - baseline) on the samples that both have."""
    about = baseline.scores
    found = BaselineScores(baseline.folder.name, about.agent, about.readings)
    theirs: dict[str, list[Record]] = {}
    for record in sorted(baseline.records, key=lambda record: record.epoch):
        theirs.setdefault(record.sample, []).append(record)
    ours, others = [], []
    for epoch in epochs:
        common = [n for n, record in enumerate(epoch.records) if record.sample in theirs]
        ours.append(Epoch([epoch.indices[n] for n in common], [epoch.records[n] for n in common]))
    every = sorted({index for epoch in ours for index in epoch.indices})
    if not every:
        return found
    names = [str(dataset.keys[index]) for index in every]
    for number in range(max(len(theirs[name]) for name in names)):
        kept = [n for n, name in enumerate(names) if number < len(theirs[name])]
        others.append(Epoch([every[n] for n in kept], [theirs[names[n]][number] for n in kept]))
    asked = [epoch for epoch in ours if epoch.indices]
    mine_of, indices = _joined(_prepared(settings, dataset, asked))
    theirs_of, _ = _joined(_prepared(settings, dataset, others))
    clusters = [dataset.cluster(index) for index in indices]
    readings = settings.benchmark.readings
    bounds = bootstrap.intervals(mine_of, readings, clusters, settings.seed, theirs_of)
    deltas: dict[str, dict[str, Score]] = {}
    for reading in readings:
        left, right = mine_of(reading, None), theirs_of(reading, None)
        deltas[reading] = {}
        for name, value in left.items():
            absent = next((v for v in (value, right[name]) if isinstance(v, Absent)), None)
            difference = absent or float(value) - float(right[name])  # type: ignore[arg-type]
            deltas[reading][name] = _score(difference, bounds[reading].get(name))
    return dataclasses.replace(found, common_samples=len(every), deltas=deltas)
