"""What stands beside the scores: chance, calibration, context, how fast and how reliably the agent answered."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_agentbench.benchmarks.behavior_modeling.measured import HIT_RATES
from pytest_agentbench.benchmarks.behavior_modeling.tasks import RECOMMENDATION, REVIEW, Task
from pytest_agentbench.metrics import star_calibration
from pytest_agentbench.metrics.bootstrap import mean
from pytest_agentbench.metrics.divergence import round_half_up
from pytest_agentbench.metrics.hit_rate import CUTS, chance

if TYPE_CHECKING:
    from pytest_agentbench.benchmarks.behavior_modeling.data import BehaviorDataset
    from pytest_agentbench.runs.record import Record

BOARDS = "challenge_boards.json"
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
    stars = [
        (record.answer["stars"], task.truth["stars"])
        for record, task in zip(records, tasks, strict=True)
        if record.status == "ok" and task.target == REVIEW and task.truth is not None
    ]
    found = [calibration(stars)] if stars else []
    details["tables"] = [*found, boards(dataset.digest)]
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
        for name, n in zip(HIT_RATES, CUTS, strict=True)
    }
    return {**rates, "average_hit_rate": mean(list(rates.values()), None)}


def calibration(pairs: Sequence[tuple[float, float]]) -> dict[str, Any]:
    """What reviews were worth that were given each star: (given, true) in, one row for a star out."""
    given, true = np.array(pairs, np.float64).T
    stars = round_half_up(given)
    rows = []
    for star in star_calibration.STARS:
        own = stars == star
        if own.any():
            means = given[own].mean(), true[own].mean()
            rows.append([str(star), str(int(own.sum())), *(f"{value:.2f}" for value in means)])
    return {
        "title": "Calibration of the stars",
        "note": "Reviews by the star they were given (rounded): a calibrated agent's four stars are "
        "worth four on average. star_calibration_error is the mean distance over all reviews.",
        "head": ["stars given", "reviews", "mean given", "mean true"],
        "rows": rows,
    }


def boards(digest: str) -> dict[str, Any]:
    """The public boards of the challenge, as context; other data unless the digest says otherwise."""
    known = json.loads(resources.files(__package__).joinpath(BOARDS).read_text(encoding="utf-8"))
    rows = [
        [f"{one['track']}, {one['phase']}: {one['metric']}", str(one["submissions"]),
         f"{one['top']:.4f}", f"{one['median']:.4f}"]
        for one in known["boards"]
    ]  # fmt: skip
    other = "" if digest in known["data_digests"] else f"Not comparable: {known['data']}. "
    return {
        "title": "Context: the boards of the challenge",
        "note": f"{other}Formulas as in the reading {known['reading']}. Source: {known['source']}.",
        "head": ["track, phase: metric", "submissions", "best", "median"],
        "rows": rows,
    }


def notes(dataset: BehaviorDataset, expected: Mapping[str, float]) -> list[str]:
    """Lines of at most 80 columns."""
    lines = []
    if dataset.models is not None:
        lines.append(f"text models: {_short(dataset.models.name)}")
        if dataset.models.name == "offline":
            lines.append("offline text models are for trends, not for a leaderboard")
    if expected:
        rates = [f"top {n} {expected[name]:.3f}" for name, n in zip(HIT_RATES, CUTS, strict=True)]
        lines.append(f"chance: {', '.join(rates)}, average {expected['average_hit_rate']:.3f}")
    return lines


def _short(name: str) -> str:
    return name if len(name) <= 60 else f"…{name[-59:]}"
