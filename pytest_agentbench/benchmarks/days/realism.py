"""The reading ``realism``: are generated days like real ones? Beside the published numbers, never in them.

Trips, stays, departures, motifs and transitions of the days that people told, against a reference
population where there is one. People without a day are counted and left out: the reading says how many
days it is about, and coverage has its own gate.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_agentbench.benchmarks.days.day_facts import LIVED_ONLY, Facts
from pytest_agentbench.benchmarks.protocol import Metric
from pytest_agentbench.metrics.bootstrap import sums
from pytest_agentbench.metrics.estimator import Absent, Values
from pytest_agentbench.metrics.pooled import count_table, pooled_divergence
from pytest_agentbench.metrics.quantile_bins import bin_of, inner_edges
from pytest_agentbench.metrics.transitions import changes, pair_counts

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
READING = "realism"
SIDES = ("real", "generated")
NO_DAYS = "no answer tells a day: visits or a lived day do, the four values alone do not"
NO_REFERENCE = "there is no reference population (scenario key reference)"
NOT_LIVED = "days told as visits have no travel times and no modes"
NOBODY = "nobody has any (no trips, or no stay between two)"
REFERENCE_NOT_LIVED = "the reference population tells visits, without travel times and modes"


@dataclass(frozen=True)
class Quantity:
    """One thing that days have: numbers with a mean, or kinds of things."""

    name: str
    description: str
    unit: str = ""
    high: float | None = None
    has_mean: bool = True
    has_divergence: bool = True
    kinds: bool = False  # a bin for each value that the reference has; else bins of equal mass


QUANTITIES = (
    Quantity("trip_length", "straight line of a trip", "m"),
    Quantity("travel_time", "time of a trip", "min"),
    Quantity("dwell_time", "stay between two trips", "h", 72.0),
    Quantity("trips", "trips a day", kinds=True),
    Quantity("motifs", "graph of the day's places", has_mean=False, kinds=True),
    Quantity("first_departure", "first departure of a day, hour", "h", 24.0),
    Quantity("last_departure", "last departure of a day, hour", "h", 24.0),
    Quantity("return_home", "days that end at home", "", 1.0, kinds=True),
    Quantity("on_the_way", "share of a day on the way", "", 1.0),
    Quantity("modes", "modes of trips", has_mean=False, kinds=True),
    Quantity("distance", "distance travelled a day", "m", has_divergence=False),
)
CHANGES = "intention_changes"
TRANSITIONS = "transitions_jsd"
TOLD = "days_told"


def _metrics() -> tuple[Metric, ...]:
    found = [Metric(TOLD, "higher", 0.0, 1.0, "", "people whose day is told")]
    for one in QUANTITIES:
        if one.has_divergence:
            found.append(
                Metric(f"{one.name}_jsd", "lower", 0.0, 1.0, "", f"{one.description}: divergence")
            )
        if one.has_mean:
            found += [
                Metric(f"{one.name}_{side}", "none", 0.0, one.high, one.unit,
                       f"{one.description}: {side}")
                for side in SIDES
            ]  # fmt: skip
    found.append(Metric(TRANSITIONS, "lower", 0.0, 1.0, "", "which intention follows: divergence"))
    return (
        *found,
        *(Metric(f"{CHANGES}_{side}", "none", 0.0, 47.0, "", f"changes of intention a day: {side}")
          for side in SIDES),
    )  # fmt: skip


METRICS = _metrics()


@dataclass(frozen=True)
class Reference:
    """A population to compare with, and what it is called."""

    name: str
    people: Sequence[Facts]
    groups: Sequence[Mapping[str, str]]  # of each of them
    note: str = ""  # what its file says of itself

    @functools.cached_property
    def is_lived(self) -> bool:
        return any(own["on_the_way"] for own in self.people)

    def of(self, kind: str, name: str) -> Reference:
        """Those of one group."""
        chosen = [n for n, own in enumerate(self.groups) if own.get(kind) == name]
        return Reference(self.name, [self.people[n] for n in chosen], [{}] * len(chosen))


class Bins:
    """The bins of a quantity, which the reference decides; without one, those that the days have."""

    def __init__(self, quantity: Quantity, values: Sequence[Any]) -> None:
        self.kinds: dict[Any, int] = {}
        self.edges: Floats = np.empty(0)
        if quantity.kinds:
            self.kinds = {value: n for n, value in enumerate(sorted(set(values), key=str))}
            self.size = len(self.kinds) + 1  # the last: all that the reference does not have
        else:
            self.edges = inner_edges(values)
            self.size = len(self.edges) + 1
        self._by_kind = quantity.kinds

    def codes(self, values: list[Any]) -> npt.NDArray[np.intp]:
        if self._by_kind:
            return np.array([self.kinds.get(value, self.size - 1) for value in values], np.intp)
        return bin_of(values, self.edges)

    def pooled(self, values: list[Any]) -> Floats:
        """How many of the values are in each bin."""
        return np.bincount(self.codes(values), minlength=self.size).astype(np.float64)

    def counts(self, people: Sequence[Sequence[Any]]) -> Floats:
        return count_table(people, self.codes, self.size)


class Column:
    """One quantity of everybody: a row of counts, the sum and the number of values a person."""

    def __init__(
        self, quantity: Quantity, people: Sequence[Facts | None], reference: Reference | None
    ) -> None:
        self.quantity = quantity
        own = [[] if facts is None else facts[quantity.name] for facts in people]
        theirs = [] if reference is None else [f[quantity.name] for f in reference.people]
        pooled = [value for values in (theirs or own) for value in values]
        self.bins = Bins(quantity, pooled)
        self.real_counts: Floats | None = None
        self.real_mean: float | None = None
        if any(theirs):
            self.real_counts = self.bins.pooled(pooled)
            self.real_mean = sum(pooled) / len(pooled) if quantity.has_mean else None
        self.table = self.bins.counts(own)
        self.count = np.array([len(values) for values in own], np.float64)
        self.total = np.array(
            [sum(values) if quantity.has_mean else 0.0 for values in own], np.float64
        )

    @property
    def width(self) -> int:
        return self.bins.size + 2

    def rows(self) -> Floats:
        return np.concatenate([self.table, self.total[:, None], self.count[:, None]], axis=1)


class Realism:
    """The days of a run, ready to be compared: an estimate is a sum of rows of this table."""

    def __init__(
        self,
        people: Sequence[Facts | None],
        reference: Reference | None,
        sequences: npt.NDArray[Any] | None = None,
        true_sequences: npt.NDArray[Any] | None = None,
        kinds: int = 0,
    ) -> None:
        """``people`` has None for whom no day is told; sequences have codes from 0, 255 for no answer."""
        self._sequences = sequences, true_sequences, kinds
        self.people = people
        self.reference = reference
        self.told = np.array([facts is not None for facts in people], bool)
        self.lived = np.array([bool(facts and facts["on_the_way"]) for facts in people], bool)
        self.columns = [Column(quantity, people, reference) for quantity in QUANTITIES]
        parts = [
            np.stack([self.told, self.lived], axis=1).astype(np.float64),
            *(column.rows() for column in self.columns),
        ]
        self.true_changes: Floats | None = None
        if sequences is not None and true_sequences is not None:
            changed = changes(kinds)
            valid = sequences[:, 0] != 255
            table = np.zeros((len(people), len(changed) + 1))
            table[valid, :-1] = pair_counts(sequences[valid], kinds)[:, changed]
            table[valid, -1] = 1.0
            parts.append(table)
            self.true_changes = pair_counts(true_sequences, kinds)[:, changed].sum(
                axis=0, dtype=float
            )
            self._true_people = len(true_sequences)
        self._table = np.concatenate(parts, axis=1) if len(people) else np.zeros((0, 1))

    def part(self, chosen: Bools) -> Realism:
        """The same of some of the people."""
        sequences, true_sequences, kinds = self._sequences
        return Realism(
            [facts for facts, own in zip(self.people, chosen.tolist(), strict=True) if own],
            self.reference,
            None if sequences is None else sequences[chosen],
            true_sequences,
            kinds,
        )

    def estimate(self, weights: Floats | None, divergences: bool = True) -> Values:
        """Every metric, for the people or for resamples of them; without divergences, the others."""
        if not len(self.people):
            return {metric.name: Absent("no records") for metric in METRICS}
        with np.errstate(invalid="ignore", divide="ignore"):  # a resample may have nobody of a kind
            return self._estimate(weights, divergences)

    def _estimate(self, weights: Floats | None, divergences: bool) -> Values:
        everybody = np.ones((1, len(self.people))) if weights is None else weights
        found = sums(self._table, everybody)
        drawn = everybody.sum(axis=1)
        plain: Callable[[Any], Any] = (lambda v: float(v[0])) if weights is None else (lambda v: v)
        values: dict[str, Any] = {TOLD: plain(found[:, 0] / drawn)}
        told, lived = found[:, 0] > 0, found[:, 1] > 0
        at = 2
        for column in self.columns:
            known = lived if column.quantity.name in LIVED_ONLY else told
            part = found[:, at : at + column.width]
            values |= self._of_column(column, part, known, plain, divergences)
            at += column.width
        if self.true_changes is not None:
            values |= self._transitions(found[:, at:], plain)
        return {metric.name: values[metric.name] for metric in METRICS if metric.name in values}

    def _of_column(
        self,
        column: Column,
        part: Floats,
        known: Bools,
        plain: Callable[[Any], Any],
        divergences: bool,
    ) -> dict[str, Any]:
        """The metrics of one quantity; ``known`` are the resamples with anybody who could have it."""
        one, found = column.quantity, dict[str, Any]()
        missing, real_missing = self._missing(column), self._real_missing(column)
        counts, total, count = part[:, :-2], part[:, -2], part[:, -1]
        if one.has_divergence and divergences:
            found[f"{one.name}_jsd"] = (
                missing or real_missing or plain(_divergence(column.real_counts, counts, known))
            )
        if one.has_mean:
            if real_missing is None:
                found[f"{one.name}_real"] = column.real_mean
            nobody = None if column.count.any() else Absent(NOBODY)
            found[f"{one.name}_generated"] = missing or nobody or plain(total / count)
        return found

    def _transitions(self, part: Floats, plain: Callable[[Any], Any]) -> dict[str, Any]:
        """What follows what: of the half hours that every valid answer has, against the truth's."""
        assert self.true_changes is not None
        counts, valid = part[:, :-1], part[:, -1]
        nobody = None if self._table[:, -1].any() else Absent("no valid answer")
        return {
            TRANSITIONS: nobody or plain(_divergence(self.true_changes, counts, valid > 0)),
            f"{CHANGES}_generated": nobody or plain(counts.sum(axis=1) / valid),
            f"{CHANGES}_real": float(self.true_changes.sum() / self._true_people),
        }

    def _missing(self, column: Column) -> Absent | None:
        """Why the days have nothing of this."""
        if not self.told.any():
            return Absent(NO_DAYS)
        if column.quantity.name in LIVED_ONLY and not self.lived.any():
            return Absent(NOT_LIVED)
        return None

    def _real_missing(self, column: Column) -> Absent | None:
        if self.reference is None:
            return Absent(NO_REFERENCE)
        if column.quantity.name in LIVED_ONLY and not self.reference.is_lived:
            return Absent(REFERENCE_NOT_LIVED)
        return None if column.real_counts is not None else Absent(f"in the reference: {NOBODY}")


def _divergence(real: Floats | None, generated: Floats, known: Bools) -> Floats:
    assert real is not None
    found: Floats = np.where(known, pooled_divergence(real, generated), np.nan)
    return found
