"""The realism panel as plain JSON: values of both sides, divergences, histograms, motifs, modes, groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pytest_agentbench.benchmarks.day_facts import LIVED_ONLY, Facts
from pytest_agentbench.benchmarks.realism import (
    NO_REFERENCE,
    QUANTITIES,
    Column,
    Realism,
    Reference,
)
from pytest_agentbench.metrics.bootstrap import sums
from pytest_agentbench.metrics.estimator import Absent, Values
from pytest_agentbench.metrics.pooled import pooled_divergence

SHOWN_MOTIFS = 12
LEAST = 10  # people of a group whose distributions are compared: fewer say too little
MOST_GROUPS = 20  # of a kind
_FLOOR_RESAMPLES = 200
_FLOOR_VALUES = 2_000_000  # people drawn in total
_FLOOR_SEED = 0


def panel(realism: Realism, belongs: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    """Everything that stands in scores.json as ``details["realism"]``.

    ``belongs`` has the groups of each person.
    """
    reference = realism.reference
    told = int(realism.told.sum())
    estimated = realism.estimate(None)
    floors = _floors(realism, told)
    return {
        "people": len(realism.people),
        "told": told,
        "lived": int(realism.lived.sum()),
        "reference": None if reference is None else reference.name,
        "reference_people": 0 if reference is None else len(reference.people),
        "values": _values(estimated, floors),
        "distributions": {
            column.quantity.name: _histogram(column)
            for column in realism.columns
            if not column.quantity.kinds and column.quantity.has_divergence and column.count.any()
        },
        "trips": _shares(realism, "trips"),
        "motifs": _shares(realism, "motifs")[:SHOWN_MOTIFS],
        "modes": _shares(realism, "modes"),
        "groups": _groups(realism, belongs),
    }


def notes(realism: Realism) -> list[str]:
    """The lines for people: whose days they are, and against whom."""
    told, lived, people = int(realism.told.sum()), int(realism.lived.sum()), len(realism.people)
    if not told:
        return []
    how = f", {lived} of them lived tick by tick" if lived else ""
    reference = realism.reference
    against = NO_REFERENCE if reference is None else f"against {reference.name}"
    return [f"realism: days told by {told} of {people} people{how}", f"realism: {against}"]


def _values(estimated: Values, floors: Mapping[str, float]) -> dict[str, dict[str, Any]]:
    """Of each quantity both values and the divergence, or why there is none.

    ``floor`` is what as many people of the reference itself, drawn at random, would score.
    """
    found: dict[str, dict[str, Any]] = {}
    for metric, value in estimated.items():
        name, _, part = metric.rpartition("_")
        if part not in ("jsd", "real", "generated"):
            continue
        own = found.setdefault(name, {})
        own[part] = None if isinstance(value, Absent) or not np.isfinite(value) else float(value)
        if isinstance(value, Absent):
            own.setdefault("reasons", {})[part] = value.reason
    for name, floor in floors.items():
        found[name]["floor"] = floor
    units = {one.name: one.unit for one in QUANTITIES}
    return {name: {"unit": units.get(name, ""), **own} for name, own in found.items()}


def _floors(realism: Realism, people: int) -> dict[str, float]:
    """The mean divergence of so many people of the reference from all of it."""
    reference = realism.reference
    if reference is None or not people:
        return {}
    total = len(reference.people)
    resamples = max(10, min(_FLOOR_RESAMPLES, _FLOOR_VALUES // max(total, people)))
    rng = np.random.default_rng(_FLOOR_SEED)
    weights = np.stack(
        [np.bincount(rng.integers(0, total, people), minlength=total) for _ in range(resamples)]
    ).astype(np.float64)
    found = {}
    for column in realism.columns:
        if column.quantity.has_divergence and column.real_counts is not None:
            own = column.bins.counts([facts[column.quantity.name] for facts in reference.people])
            drawn = pooled_divergence(column.real_counts, sums(own, weights))
            found[column.quantity.name] = float(drawn.mean())
    return found


def _histogram(column: Column) -> dict[str, Any]:
    """Shares in the bins that the divergence uses; the edges are between them, the ends are open."""
    return {
        "edges": column.bins.edges.tolist(),
        "real": _share(column.real_counts),
        "generated": _share(column.table.sum(axis=0)),
    }


def _share(counts: Any) -> list[float] | None:
    if counts is None or not counts.sum():
        return None
    shares: list[float] = (counts / counts.sum()).tolist()
    return shares


def _shares(realism: Realism, name: str) -> list[dict[str, Any]]:
    """Each kind with its share on both sides, the most frequent first; None where a side has none."""
    given = _counted(realism.people, name)
    reference = realism.reference
    true = Counter[Any]() if reference is None else _counted(reference.people, name)
    if reference is not None and name in LIVED_ONLY and not reference.is_lived:
        true = Counter()
    rows = [
        {
            "kind": kind,
            "real": true[kind] / true.total() if true else None,
            "generated": given[kind] / given.total() if given else None,
        }
        for kind in {**true, **given}
    ]
    return sorted(
        rows, key=lambda row: (-(row["real"] or 0), -(row["generated"] or 0), str(row["kind"]))
    )


def _counted(people: Sequence[Facts | None], name: str) -> Counter[Any]:
    return Counter(value for facts in people if facts is not None for value in facts[name])


def _groups(realism: Realism, belongs: Sequence[Mapping[str, str]]) -> dict[str, dict[str, Any]]:
    """The values of every group with a day, against the same group of the reference."""
    found: dict[str, dict[str, Any]] = {}
    told = [
        own if facts is not None else {} for own, facts in zip(belongs, realism.people, strict=True)
    ]
    for kind in dict.fromkeys(kind for own in told for kind in own):
        counted = Counter(own[kind] for own in told if kind in own)
        if len(counted) < 2:
            continue
        found[kind] = {
            name: _group(realism, [own.get(kind) == name for own in told], kind, name)
            for name, _ in sorted(counted.items(), key=lambda one: (-one[1], one[0]))[:MOST_GROUPS]
        }
    return found


def _group(realism: Realism, chosen: Sequence[bool], kind: str, name: str) -> dict[str, Any]:
    people = [facts for facts, own in zip(realism.people, chosen, strict=True) if own]
    reference = realism.reference
    same: Reference | None = None if reference is None else reference.of(kind, name)
    if same is not None and not same.people:
        same = None
    enough = len(people) >= LEAST and same is not None and len(same.people) >= LEAST
    estimated = Realism(people, same).estimate(None)
    return {
        "people": len(people),
        "reference_people": 0 if same is None else len(same.people),
        "values": {
            metric: float(value)
            for metric, value in estimated.items()
            if not isinstance(value, Absent)
            and np.isfinite(value)
            and (enough or not metric.endswith("_jsd"))
        },
    }
