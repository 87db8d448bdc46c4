"""Scoring: the trips of all people together against what the hurricane really changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_agentbench.benchmarks.hurricane_mobility import set_out
from pytest_agentbench.benchmarks.hurricane_mobility.answers import HOURLY, MOST_PER_HOUR, TOTALS
from pytest_agentbench.benchmarks.hurricane_mobility.data import CHANGES, HOURS, PERIODS, Truth
from pytest_agentbench.metrics import hurricane
from pytest_agentbench.metrics.bootstrap import sums
from pytest_agentbench.metrics.estimator import Absent, Estimator, Values

if TYPE_CHECKING:
    from pytest_agentbench.metrics.hurricane import Floats
    from pytest_agentbench.runs.record import Record

DOCUMENTED, PUBLISHED = "documented", "published-0.1.4"
READINGS = (DOCUMENTED, PUBLISHED)
# The line under the table, at most 80 characters.
NO_TRIPS = "warning: no trip on day 0 (before): changes are relative to it, and score 0"
METRICS = ("change_rate_score", "distribution_score", "final_score")


def score_run(truth: Truth, records: Sequence[Record]) -> Estimator:
    """The sums over all people, against the truth.

    ``documented`` takes totals from the hours, those of lived days from their trips, and the worst that
    people without a valid answer could have done: no one's failure raises a score. ``published-0.1.4`` has the valid answers alone, with the
    totals that they say, as the published code would see them.
    """
    valid = np.array([record.status == "ok" for record in records], bool)
    totals, hourly = trips(records)
    departed = set_out_by_hour(records)

    def estimate(reading: str, weights: Floats | None) -> Values:
        if not len(valid):
            return dict.fromkeys(METRICS, Absent("no records"))
        times = np.ones((1, len(valid))) if weights is None else weights
        drawn, failed = times[:, valid], times[:, ~valid].sum(axis=1)
        counted = departed if reading == DOCUMENTED else hourly
        flat = counted.reshape(len(counted), len(PERIODS) * HOURS)
        by_hour = sums(flat, drawn).reshape(-1, len(PERIODS), HOURS)
        if reading == DOCUMENTED:
            values = _documented(truth, by_hour, failed)
        elif not valid.any():
            return dict.fromkeys(METRICS, Absent("no valid answer"))
        elif not totals[:, 0].sum():
            reason = "no trips before the hurricane: changes are relative to them"
            return dict.fromkeys(METRICS, Absent(reason))
        else:
            values = (
                hurricane.change_rate_score(sums(totals, drawn), truth.changes),
                hurricane.distribution_score(by_hour, truth.hourly),
            )
        scores = (*values, hurricane.final_score(*values))
        return {
            metric: float(value[0]) if weights is None else value
            for metric, value in zip(METRICS, scores, strict=True)
        }

    return estimate


def _documented(truth: Truth, by_hour: Floats, failed: Floats) -> tuple[Floats, Floats]:
    """Both scores, with so many people who may have made any trips that an answer may have."""
    most = MOST_PER_HOUR * failed
    return (
        hurricane.worst_change_rate_score(by_hour.sum(axis=-1), truth.changes, HOURS * most),
        hurricane.worst_distribution_score(by_hour, truth.hourly, most),
    )


def trips(records: Sequence[Record]) -> tuple[Floats, Floats]:
    """Trips a day (people x 3) and trips an hour (people x 3 x 24) of the valid answers."""
    answers = [record.answer for record in records if record.status == "ok"]
    totals = np.array([answer[TOTALS] for answer in answers], np.float64)
    hourly = np.array([answer[HOURLY] for answer in answers], np.float64)
    return totals.reshape(-1, len(PERIODS)), hourly.reshape(-1, len(PERIODS), HOURS)


def set_out_by_hour(records: Sequence[Record]) -> Floats:
    """Trips an hour (people x 3 x 24) of the valid answers; of lived days by their trips, not their rows."""
    found = [set_out.departures(record.answer) for record in records if record.status == "ok"]
    return np.array(found, np.float64).reshape(-1, len(PERIODS), HOURS)


def describe(truth: Truth, records: Sequence[Record]) -> dict[str, Any]:
    """The changes and the hours on both sides, and how similar the hours of each day are."""
    hourly = set_out_by_hour(records)
    summed = hourly.sum(axis=(0, 2))
    if not len(hourly):
        return {}
    if not summed[0]:
        return {"notes": [NO_TRIPS]}
    found = hurricane.changes(summed).tolist()
    true = truth.changes.tolist()
    alike = [
        float(hurricane.distribution_score(ours[None], theirs[None]))
        for ours, theirs in zip(hourly.sum(axis=0), truth.hourly, strict=True)
    ]
    pairs = [f"{ours:+.1f} % ({theirs:+.1f} %)" for ours, theirs in zip(found, true, strict=True)]
    notes = [f"trips against before (truth): during {pairs[0]}, after {pairs[1]}"]
    failed = sum(record.status != "ok" for record in records)
    if failed:
        notes.append(
            f"{failed} without a valid answer: {DOCUMENTED} counts the worst they could do"
        )
    return {
        "notes": notes,
        "changes": {
            name: {"answers": ours, "truth": theirs}
            for name, ours, theirs in zip(CHANGES, found, true, strict=True)
        },
        "trips": dict(zip(PERIODS, summed.tolist(), strict=True)),
        "hours_alike": dict(zip(PERIODS, alike, strict=True)),
        "trips_by_hour": {
            period: {"answers": ours, "truth": theirs}
            for period, ours, theirs in zip(
                PERIODS, hourly.sum(axis=0).tolist(), truth.hourly.tolist(), strict=True
            )
        },
    }
