"""What stands beside the scores: breakdowns, chance, how fast and how reliably the agent answered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_agentbench.benchmarks.behavior_modeling import items, scoring
from pytest_agentbench.benchmarks.behavior_modeling.tasks import RECOMMENDATION, Task
from pytest_agentbench.metrics.bootstrap import mean
from pytest_agentbench.metrics.hit_rate import CUTS, chance

if TYPE_CHECKING:
    from pytest_agentbench.benchmarks.behavior_modeling.data import BehaviorDataset
    from pytest_agentbench.runs.record import Record

MOST_CATEGORIES = 30
OTHER = "other"
PERCENTILES = (50, 90, 99)


def describe(dataset: BehaviorDataset, records: Sequence[Record]) -> dict[str, Any]:
    """Everything as plain JSON; lines for the terminal under ``notes``."""
    tasks = [dataset.task_of(record.sample) for record in records]
    details: dict[str, Any] = {"text_models": text_models(dataset)}
    reader = dataset.reader() if dataset.truth_known else None
    if reader is not None:
        details["text_models_version"] = reader.label()
    details["performance"] = performance(records)
    expected = chance_rates(tasks)
    if expected:
        details["chance"] = expected
    if dataset.truth_known and records:
        details["breakdown"] = breakdown(dataset, tasks, records)
    details["notes"] = notes(dataset, expected)
    return details


def text_models(dataset: BehaviorDataset) -> str:
    return "none" if dataset.models is None else dataset.models.name


def performance(records: Sequence[Record]) -> dict[str, Any]:
    """Latency in seconds, the share of answers that failed, and tokens where agents report them."""
    seconds = [record.seconds for record in records]
    result: dict[str, Any] = {}
    if seconds:
        values = np.percentile(seconds, PERCENTILES)
        result["seconds"] = {
            **{f"p{p}": float(value) for p, value in zip(PERCENTILES, values, strict=True)},
            "max": max(seconds),
        }
        for status in ("invalid", "error", "timeout"):
            count = sum(record.status == status for record in records)
            result[f"{status}_rate"] = count / len(records)
    usage: Counter[str] = Counter()
    for record in records:
        usage.update(record.usage)
    if usage:
        result["usage"] = dict(sorted(usage.items()))
    return result


def chance_rates(tasks: Sequence[Task]) -> dict[str, float]:
    """The hit rates of a random order of the same candidates."""
    sizes = [len(task.candidates) for task in tasks if task.target == RECOMMENDATION]
    if not sizes:
        return {}
    rates = {
        name: mean([chance(size, n) for size in sizes], None)
        for name, n in zip(scoring.HIT_RATES, CUTS, strict=True)
    }
    return {**rates, "average_hit_rate": mean(list(rates.values()), None)}


def breakdown(
    dataset: BehaviorDataset, tasks: Sequence[Task], records: Sequence[Record]
) -> dict[str, dict[str, dict[str, float]]]:
    """The primary reading's scores of each target, each source and each leading category."""
    measured = scoring.measure(dataset, records)
    asked_about = [dataset.store.get("item", _item_id(task)) for task in tasks]
    sources = [
        str(task.fields.get("candidate_category") or items.kind(item)).lower()
        if task.target == RECOMMENDATION
        else items.kind(item)
        for task, item in zip(tasks, asked_about, strict=True)
    ]
    named = [(items.categories(item) or [items.UNKNOWN])[0] for item in asked_about]
    frequent = {name for name, _ in Counter(named).most_common(MOST_CATEGORIES)}
    kept = [name if name in frequent else OTHER for name in named]
    return {
        "target": _grouped(measured, [task.target for task in tasks]),
        "source": _grouped(measured, sources),
        "category": _grouped(measured, kept),
    }


def _item_id(task: Task) -> str:
    """The item that a task is about: the true one of a recommendation."""
    return task.item_id if task.item_id is not None else str(task.truth)


def _grouped(measured: scoring.Measured, groups: Sequence[str]) -> dict[str, dict[str, float]]:
    result: dict[str, dict[str, float]] = {}
    for group in sorted(set(groups)):
        part = measured.part(np.array([name == group for name in groups]))
        scores = scoring.estimate(part, scoring.DOCUMENTED, None)
        result[group] = {
            "samples": len(part.valid),
            **{k: float(v) for k, v in scores.items() if isinstance(v, (int, float))},
        }
    return result


def notes(dataset: BehaviorDataset, expected: Mapping[str, float]) -> list[str]:
    """Lines of at most 80 columns."""
    lines = []
    if dataset.models is not None:
        lines.append(f"text models: {_short(dataset.models.name)}")
        if dataset.models.name == "offline":
            lines.append("offline text models are for trends, not for a leaderboard")
    if expected:
        rates = [
            f"top {n} {expected[name]:.3f}" for name, n in zip(scoring.HIT_RATES, CUTS, strict=True)
        ]
        lines.append(f"chance: {', '.join(rates)}, average {expected['average_hit_rate']:.3f}")
    return lines


def _short(name: str) -> str:
    return name if len(name) <= 60 else f"…{name[-59:]}"
