"""Scoring: the trips of all people together against what the hurricane really changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_agentbench.benchmarks.hurricane_mobility.answers import HOURLY, TOTALS
from pytest_agentbench.benchmarks.hurricane_mobility.data import CHANGES, HOURS, PERIODS, Truth
from pytest_agentbench.metrics import hurricane
from pytest_agentbench.metrics.estimator import Absent, Estimator, Values

if TYPE_CHECKING:
    from pytest_agentbench.metrics.hurricane import Floats
    from pytest_agentbench.runs.record import Record

READINGS = ("published-0.1.4",)
METRICS = ("change_rate_score", "distribution_score", "final_score")


def score_run(truth: Truth, records: Sequence[Record]) -> Estimator:
    """Sums over the valid answers, as the published code would see them."""
    valid = np.array([record.status == "ok" for record in records], bool)
    totals, hourly = trips(records)

    def estimate(_reading: str, weights: Floats | None) -> Values:
        if not valid.any():
            return dict.fromkeys(METRICS, Absent("no valid answer" if len(valid) else "no records"))
        if not totals[:, 0].sum():
            reason = "no trips before the hurricane: changes are relative to them"
            return dict.fromkeys(METRICS, Absent(reason))
        drawn = np.ones((1, len(totals))) if weights is None else weights[:, valid]
        change = hurricane.change_rate_score(drawn @ totals, truth.changes)
        sums = (drawn @ hourly.reshape(len(hourly), -1)).reshape(-1, len(PERIODS), HOURS)
        distribution = hurricane.distribution_score(sums, truth.hourly)
        values = (change, distribution, hurricane.final_score(change, distribution))
        return {
            metric: float(value[0]) if weights is None else value
            for metric, value in zip(METRICS, values, strict=True)
        }

    return estimate


def trips(records: Sequence[Record]) -> tuple[Floats, Floats]:
    """Trips a day (people x 3) and trips an hour (people x 3 x 24) of the valid answers."""
    answers = [record.answer for record in records if record.status == "ok"]
    totals = np.array([answer[TOTALS] for answer in answers], np.float64)
    hourly = np.array([answer[HOURLY] for answer in answers], np.float64)
    return totals.reshape(-1, len(PERIODS)), hourly.reshape(-1, len(PERIODS), HOURS)


def describe(truth: Truth, records: Sequence[Record]) -> Mapping[str, Any]:
    """The changes on both sides, and how similar the hours of each day are."""
    totals, hourly = trips(records)
    summed = totals.sum(axis=0)
    if not len(totals) or not summed[0]:
        return {}
    found = hurricane.changes(summed).tolist()
    true = truth.changes.tolist()
    alike = [
        float(hurricane.distribution_score(ours[None], theirs[None]))
        for ours, theirs in zip(hourly.sum(axis=0), truth.hourly, strict=True)
    ]
    pairs = [f"{ours:+.1f} % ({theirs:+.1f} %)" for ours, theirs in zip(found, true, strict=True)]
    return {
        "notes": [f"trips against before (truth): during {pairs[0]}, after {pairs[1]}"],
        "changes": {
            name: {"answers": ours, "truth": theirs}
            for name, ours, theirs in zip(CHANGES, found, true, strict=True)
        },
        "trips": dict(zip(PERIODS, summed.tolist(), strict=True)),
        "hours_alike": dict(zip(PERIODS, alike, strict=True)),
    }
