"""The realism panel as plain JSON: values of both sides, divergences, histograms, motifs, modes, groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pytest_agentbench.benchmarks.days.day_facts import Facts
from pytest_agentbench.benchmarks.days.realism import (
    NO_REFERENCE,
    QUANTITIES,
    Column,
    Realism,
    Reference,
)
from pytest_agentbench.metrics.bootstrap import count_sums
from pytest_agentbench.metrics.estimator import Absent, Values
from pytest_agentbench.metrics.pooled import pooled_divergence

SHOWN_KINDS = 12
REST = "other"
DRAWN_BINS = 20
DRAWN_QUANTILE = 0.98  # a few very long trips would leave no room for the others
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
        "days_told": told,
        "days_lived": int(realism.lived.sum()),
        "reference": None
        if reference is None
        else {"name": reference.name, "people": len(reference.people), "note": reference.note},
        "values": _values(estimated, floors),
        "distributions": {
            column.quantity.name: _distribution(realism, column, estimated)
            for column in realism.columns
            if column.quantity.has_divergence and column.count.any()
        },
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
        own[part] = _plain(value)
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
            drawn = pooled_divergence(column.real_counts, count_sums(own, weights))
            found[column.quantity.name] = float(drawn.mean())
    return found


def _distribution(realism: Realism, column: Column, estimated: Values) -> dict[str, Any]:
    """Both sides' shares, in bins for the eye: of one width, or the most frequent kinds and the rest.

    The divergence is measured in bins of its own, which hold equal shares of the reference.
    """
    one, reference = column.quantity, realism.reference
    given = _pooled(realism.people, one.name)
    true = [] if reference is None else _pooled(reference.people, one.name)
    shares = _of_kinds(true, given) if one.kinds else _in_bins(true, given)
    return {
        "title": one.description,
        "unit": one.unit,
        **shares,
        "jsd": _plain(estimated[f"{one.name}_jsd"]),
    }


def _plain(value: Any) -> float | None:
    return None if isinstance(value, Absent) or not np.isfinite(value) else float(value)


def _in_bins(true: Sequence[float], given: Sequence[float]) -> dict[str, Any]:
    """Bars of one width from 0 on; the last one also holds what is above."""
    high = float(np.quantile([*true, *given], DRAWN_QUANTILE)) or 1.0
    edges = np.linspace(0.0, high, DRAWN_BINS + 1)
    return {
        "edges": edges.tolist(),
        **{
            side: _share(np.histogram(np.minimum(values, high), edges)[0])
            for side, values in (("real", true), ("generated", given))
        },
    }


def _of_kinds(true: Sequence[Any], given: Sequence[Any]) -> dict[str, Any]:
    """Each kind, the most frequent first; the rest together."""
    real, generated = Counter(true), Counter(given)
    frequent = sorted(
        {**real, **generated}, key=lambda kind: (-real[kind], -generated[kind], str(kind))
    )
    kept, rest = frequent[:SHOWN_KINDS], frequent[SHOWN_KINDS:]
    counts = {
        side: [
            *(counted[kind] for kind in kept),
            *([sum(counted[k] for k in rest)] if rest else ()),
        ]
        for side, counted in (("real", real), ("generated", generated))
    }
    return {
        "kinds": [*(f"{kind:g}" if isinstance(kind, (int, float)) else kind for kind in kept),
                  *([REST] if rest else ())],
        **{side: _share(np.array(own)) for side, own in counts.items()},
    }  # fmt: skip


def _share(counts: Any) -> list[float] | None:
    if not counts.sum():
        return None
    shares: list[float] = (counts / counts.sum()).tolist()
    return shares


def _pooled(people: Sequence[Facts | None], name: str) -> list[Any]:
    return [value for facts in people if facts is not None for value in facts[name]]


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
    estimated = Realism(people, same).estimate(None, divergences=enough)
    return {
        "people": len(people),
        "reference_people": 0 if same is None else len(same.people),
        "values": {
            metric: plain
            for metric, value in estimated.items()
            if (plain := _plain(value)) is not None
        },
    }
