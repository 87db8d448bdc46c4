"""From records to scores.json: every reading, intervals, coverage, gates, decided once."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pytest_agentbench import gates, runlog, statistics
from pytest_agentbench.benchmarks.protocol import Absent, BenchmarkError, Dataset, Estimator
from pytest_agentbench.options import Settings
from pytest_agentbench.records import STATUSES, Record, jsonable

SCHEMA = 1


@dataclasses.dataclass(frozen=True)
class Baseline:
    """A finished run to compare with."""

    folder: Path
    scores: dict[str, Any]
    records: Sequence[Record]


def load_baseline(folder: Path, settings: Settings, dataset: Dataset) -> Baseline:
    """A run to compare with; refused where the comparison would mean nothing."""
    scores = runlog.read_json(folder / runlog.SCORES, "the scores of a run")
    ours = {
        "schema": SCHEMA,
        "benchmark": settings.benchmark.name,
        "mode": settings.mode,
        "data digest": dataset.digest,
        **dataset.conditions,
    }
    theirs = {
        **scores,
        "data digest": (scores.get("dataset") or {}).get("digest"),
        **(scores.get("conditions") or {}),
    }
    for key, value in ours.items():
        if theirs.get(key) != value:
            raise BenchmarkError(
                f"--baseline: {folder} cannot be compared with this run: its {key} is "
                f"{theirs.get(key)!r}, this run's is {value!r}"
            )
    return Baseline(folder, scores, runlog.read_records(folder))


def score(
    settings: Settings,
    dataset: Dataset,
    indices: Sequence[int],
    records: Sequence[Record],
    baseline: Baseline | None = None,
) -> dict[str, Any]:
    """The scores of the samples ``indices``; those without a record count as errors.

    Sorted by sample first, so that the order in which workers finish decides nothing.
    """
    by_sample = {record.sample: record for record in runlog.latest(records)}
    name = settings.benchmark.name
    complete = [
        by_sample.get(str(dataset.keys[index]))
        or Record(name, str(dataset.keys[index]), "error", error="no answer was recorded")
        for index in indices
    ]
    clusters = [dataset.cluster(index) for index in indices]
    counts = {status: sum(r.status == status for r in complete) for status in STATUSES}
    estimate = _with_coverage(settings.benchmark.score_run(dataset, complete), complete)
    result: dict[str, Any] = {
        "schema": SCHEMA,
        "benchmark": name,
        "mode": settings.mode,
        "dataset": {"source": str(settings.dataset), "digest": dataset.digest,
                    "description": dataset.description},
        "conditions": dict(dataset.conditions),
        "seed": settings.seed,
        "primary": settings.reading,
        "samples": {"total": len(complete), **counts},
        "readings": _readings(settings, estimate, clusters),
    }  # fmt: skip
    result["details"] = jsonable(settings.benchmark.describe(dataset, complete))
    if baseline is not None:
        result["baseline"] = {
            "run": baseline.folder.name,
            "agent": baseline.scores.get("agent"),
            "readings": baseline.scores.get("readings") or {},
            **_difference(settings, dataset, indices, complete, baseline),
        }
    return result


def _with_coverage(estimate: Estimator, records: Sequence[Record]) -> Estimator:
    valid = [float(record.status == "ok") for record in records]
    return lambda reading, weights: {
        **estimate(reading, weights),
        gates.COVERAGE.metric: statistics.mean(valid, weights),
    }


def _readings(
    settings: Settings, estimate: Estimator, clusters: Sequence[str]
) -> dict[str, dict[str, dict[str, Any]]]:
    readings = settings.benchmark.readings
    bounds = statistics.intervals(estimate, readings, clusters, settings.seed)
    return {
        reading: {
            name: _score(value, bounds[reading].get(name))
            for name, value in estimate(reading, None).items()
        }
        for reading in readings
    }


def _score(value: Any, bounds: tuple[float, float] | None) -> dict[str, Any]:
    if isinstance(value, Absent):
        return {"value": None, "reason": value.reason}
    if not math.isfinite(value):
        return {"value": None, "reason": f"not a finite number ({value})"}
    score: dict[str, Any] = {"value": float(value)}
    if bounds is not None:
        score["low"], score["high"] = bounds
    return score


def _difference(
    settings: Settings,
    dataset: Dataset,
    indices: Sequence[int],
    records: Sequence[Record],
    baseline: Baseline,
) -> dict[str, Any]:
    """The paired difference (this run - baseline) on the samples that both have."""
    theirs = {record.sample: record for record in baseline.records}
    common = [n for n, record in enumerate(records) if record.sample in theirs]
    if not common:
        return {"common_samples": 0, "deltas": {}}
    pairs = [(records[n], theirs[records[n].sample]) for n in common]
    ours, other = (
        _with_coverage(settings.benchmark.score_run(dataset, side), side)
        for side in ([pair[0] for pair in pairs], [pair[1] for pair in pairs])
    )
    clusters = [dataset.cluster(indices[n]) for n in common]
    readings = settings.benchmark.readings
    bounds = statistics.intervals(ours, readings, clusters, settings.seed, other)
    deltas: dict[str, dict[str, dict[str, Any]]] = {}
    for reading in readings:
        mine, against = ours(reading, None), other(reading, None)
        deltas[reading] = {}
        for name, value in mine.items():
            absent = next((v for v in (value, against[name]) if isinstance(v, Absent)), None)
            difference = absent or float(value) - float(against[name])  # type: ignore[arg-type]
            deltas[reading][name] = _score(difference, bounds[reading].get(name))
    return {"common_samples": len(common), "deltas": deltas}


def judge(
    settings: Settings, scores: dict[str, Any], incomplete: str | None
) -> list[dict[str, Any]]:
    """Every gate's result, as it stands in scores.json; none is decided on an incomplete run."""
    if incomplete is not None:
        results = [gates.GateResult(g.text, None, None, None, incomplete) for g in settings.gates]
    else:
        compared = scores.get("baseline") or {}
        results = [
            gates.evaluate(
                gate, settings.reading, scores["readings"],
                compared.get("readings"), compared.get("deltas"),
            )
            for gate in settings.gates
        ]  # fmt: skip
    return [dataclasses.asdict(result) for result in results]
