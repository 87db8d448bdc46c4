"""Beside the score: where the two populations differ, and what the truth itself would score."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_agentbench.benchmarks.daily_mobility import scoring
from pytest_agentbench.benchmarks.daily_mobility.intentions import LABELS, clock
from pytest_agentbench.benchmarks.daily_mobility.population import Population
from pytest_agentbench.metrics.bootstrap import PERCENTILES
from pytest_agentbench.metrics.divergence import jensen_shannon
from pytest_agentbench.metrics.transitions import pair_counts

if TYPE_CHECKING:
    import numpy.typing as npt

    from pytest_agentbench.metrics.divergence import Floats
    from pytest_agentbench.runs.record import Record

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
SHOWN_TRANSITIONS = 5
_CEILING_RESAMPLES = 200
_CEILING_VALUES = 4_000_000  # people drawn in total; large populations need fewer resamples
_CEILING_SEED = 0  # the ceiling depends on the data and the number of people, not on a run
_KILOMETRE = 1000.0


def describe(truth: Population, records: Sequence[Record]) -> dict[str, Any]:
    """Diagnostics of the valid answers and the noise ceiling, as plain JSON."""
    valid = [record.answer for record in records if record.status == "ok"]
    if not valid:
        return {}
    answers = Population.from_answers(valid)
    ceiling = noise_ceiling(truth, len(records))
    slots = by_slot(truth, answers)
    intentions = by_intention(truth, answers)
    return {
        "notes": notes(truth, answers, len(records), ceiling, slots, intentions),
        "noise_ceiling": {"people": len(records), **ceiling},
        "slots": slots,
        "intentions": intentions,
        "transitions": transitions(truth, answers),
        "radius_quantiles": quantiles(truth.gyration_radius, answers.gyration_radius),
        "location_number_quantiles": quantiles(
            truth.daily_location_numbers, answers.daily_location_numbers
        ),
    }


def notes(
    truth: Population,
    answers: Population,
    people: int,
    ceiling: dict[str, dict[str, dict[str, float]]],
    slots: dict[str, float],
    intentions: dict[str, dict[str, float]],
) -> list[str]:
    """The few lines for people, each shorter than 80 columns."""
    best, published = (ceiling[reading][scoring.FINAL] for reading in scoring.READINGS)
    slot = max(slots, key=slots.__getitem__)
    intention = max(intentions, key=lambda label: intentions[label]["jsd"])
    lines = [
        f"noise ceiling of {people} people: {best['value']:.2f} ({best['low']:.2f} .. "
        f"{best['high']:.2f}), {scoring.PUBLISHED} {published['value']:.2f}",
        f"furthest from the truth: {slot} ({slots[slot]:.2f}), "
        f"share of {intention} ({intentions[intention]['jsd']:.2f})",
    ]
    if warning := unit_warning(truth, answers):
        lines.append(warning)
    return lines


def unit_warning(truth: Population, answers: Population) -> str | None:
    """A line where the radii look like kilometres: as metres they would fit far better."""
    given = answers.gyration_radius[answers.gyration_radius > 0]
    true = truth.gyration_radius[truth.gyration_radius > 0]
    if not len(given) or not len(true):
        return None
    middle, right = float(np.median(given)), float(np.median(true))
    if not _KILOMETRE / 10 < right / middle < _KILOMETRE * 10:
        return None
    return f"warning: gyration_radius looks like km (median {middle:.3g}, truth {right:.4g} m)"


def noise_ceiling(truth: Population, people: int) -> dict[str, dict[str, dict[str, float]]]:
    """What ``people`` of the true ones, drawn at random, score against all of them.

    The mean and the middle 95 % of every metric in every reading. The four arrays are drawn each for
    itself: they are not in the same order.
    """
    rng = np.random.default_rng(_CEILING_SEED)
    largest = max(people, *(len(array) for array in vars(truth).values()))
    resamples = max(10, min(_CEILING_RESAMPLES, _CEILING_VALUES // largest))
    readings = {
        scoring.DOCUMENTED: scoring.documented(truth, truth),
        scoring.PUBLISHED: scoring.published(truth, truth),
    }
    values: dict[str, dict[str, Floats]] = {reading: {} for reading in readings}
    for row in scoring.DIVERGENCES:
        total = len(getattr(truth, row.field))
        drawn = rng.integers(0, total, (resamples, people))
        drawn += total * np.arange(resamples)[:, None]  # every resample has bins of its own
        counts = np.bincount(drawn.reshape(-1), minlength=resamples * total)
        weights = counts.reshape(resamples, total).astype(np.float64)
        for reading, divergences in readings.items():
            values[reading][row.metric] = np.asarray(divergences[row.metric](weights))
    return {reading: _spread(metrics) for reading, metrics in values.items()}


def _spread(arrays: dict[str, Floats]) -> dict[str, dict[str, float]]:
    mean = sum(1 - array for array in arrays.values()) / len(arrays)
    result = {}
    for metric, array in {**arrays, scoring.FINAL: np.asarray(100 * mean)}.items():
        low, high = np.percentile(array, PERCENTILES).tolist()
        result[metric] = {"value": float(array.mean()), "low": low, "high": high}
    return result


def by_slot(truth: Population, answers: Population) -> dict[str, float]:
    """The divergence of the intentions in each half hour, by its start."""
    values = _by_column(truth, answers, "jsd_intention_sequences")
    return {clock(slot): value for slot, value in enumerate(values)}


def by_intention(truth: Population, answers: Population) -> dict[str, dict[str, float]]:
    """For each intention the divergence of its share, and the mean share on both sides."""
    values = _by_column(truth, answers, "jsd_intention_proportions")
    true, given = (p.intention_proportions.mean(axis=0).tolist() for p in (truth, answers))
    return {
        label: {"jsd": value, "truth": of_truth, "answers": of_answers}
        for label, value, of_truth, of_answers in zip(LABELS, values, true, given, strict=True)
    }


def _by_column(truth: Population, answers: Population, metric: str) -> list[float]:
    row = next(row for row in scoring.DIVERGENCES if row.metric == metric)
    true, given = (row.columns(truth, people).counts(None) for people in (truth, answers))
    values: list[float] = jensen_shannon(true, given).tolist()
    return values


def transitions(truth: Population, answers: Population) -> dict[str, Any]:
    """Which intention follows which: the divergence, and the pairs whose rates differ most."""
    true, given = (_pair_rates(p.intention_sequences) for p in (truth, answers))
    kinds = len(LABELS)
    changes = ~np.eye(kinds, dtype=bool)
    gap = np.where(changes, np.abs(true - given), 0.0)
    order = np.argsort(-gap, axis=None, kind="stable")[:SHOWN_TRANSITIONS]
    return {
        "jsd": float(jensen_shannon(true.ravel(), given.ravel())),
        "changes_a_day": {
            "truth": float(true[changes].sum()),
            "answers": float(given[changes].sum()),
        },
        "furthest": [
            {
                "from": LABELS[at // kinds],
                "to": LABELS[at % kinds],
                "truth_a_day": float(true.flat[at]),
                "answers_a_day": float(given.flat[at]),
            }
            for at in order.tolist()
            if gap.flat[at] > 0
        ],
    }


def _pair_rates(codes: npt.NDArray[np.uint8]) -> Floats:
    """How often a day each intention follows each, in neighbouring slots."""
    kinds = len(LABELS)
    counts = pair_counts(codes - np.uint8(1), kinds).sum(axis=0, dtype=np.float64)
    rates: Floats = counts.reshape(kinds, kinds) / len(codes)
    return rates


def quantiles(truth: Floats, answers: Floats) -> dict[str, dict[str, float]]:
    """Both sides' quantiles, by name (``q50`` is the median)."""
    true, given = (np.quantile(values, QUANTILES).tolist() for values in (truth, answers))
    return {
        f"q{100 * q:02.0f}": {"truth": true[n], "answers": given[n]}
        for n, q in enumerate(QUANTILES)
    }
