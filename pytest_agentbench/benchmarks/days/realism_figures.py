"""The realism panel as a figure: a small chart for each distribution of days, real against generated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_agentbench.benchmarks import figures as charts

if TYPE_CHECKING:
    from pytest_agentbench.benchmarks.days.day_facts import Facts
    from pytest_agentbench.benchmarks.days.realism import Reference
    from pytest_agentbench.benchmarks.days.told_days import Told

BINS = 24
MOST_KINDS = 8  # rows of a chart
_HEIGHT = 150
# Name of the distribution: title, unit of the axis, factor to that unit, and where the axis ends, if it does.
_NUMBERS: Mapping[str, tuple[str, str, float, float | None]] = {
    "trip_length": ("Length of a trip, straight line", "km", 0.001, None),
    "travel_time": ("Travel time of a trip", "min", 1.0, None),
    "dwell_time": ("Stay between two trips", "h", 1.0, None),
    "first_departure": ("First departure", "hour of the day", 1.0, 24.0),
    "last_departure": ("Last departure", "hour of the day", 1.0, 24.0),
    "on_the_way": ("Share of the day on the way", "%", 100.0, None),
}
_KINDS = {"trips": "Trips a day", "motifs": "Places of a day and trips between them", "modes": "Modes of trips"}  # fmt: skip
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def realism(
    told: Told, reference: Reference | None, details: Mapping[str, Any]
) -> charts.Figure | None:
    """All distributions that both sides have; None where there are none.

    Divergences are those of the run's details; bars are equally wide, so that shapes are seen.
    """
    people = [person.facts for person in told.people if person.facts is not None]
    if reference is None or not people:
        return None
    values = details.get("realism", {}).get("values", {})
    made: list[charts.Chart] = []
    data: dict[str, charts.Columns] = {}
    for name, (title, unit, factor, most) in _NUMBERS.items():
        real, generated = (_pooled(side, name) for side in (reference.people, people))
        if real and generated:
            data[name] = _bars(np.array(real) * factor, np.array(generated) * factor, most)
            made.append(_histogram(name, title, unit, _under(values, name)))
    for name, title in _KINDS.items():
        real, generated = (_pooled(side, name) for side in (reference.people, people))
        if real and generated:
            data[name] = _rows(name, Counter(real), Counter(generated))
            made.append(_shares(name, title, _under(values, name)))
    if not made:
        return None
    return charts.Figure(
        "Realism of the days",
        f"Generated days (orange outline) against {reference.name} (blue){_says(reference)}. The last bar holds all that "
        f"is above.{_at_home(values)} Noise is the divergence of as many people drawn from the "
        f"reference itself. {told.words}",
        made,
        data,
    )


def _says(reference: Reference) -> str:
    """What the reference says of itself: that it is synthetic, for one."""
    note = reference.note.rstrip(".")
    return f", which says of itself: {note}" if note else ""


def _pooled(people: Sequence[Facts], name: str) -> list[Any]:
    return [value for one in people for value in one[name]]


def _at_home(values: Mapping[str, Any]) -> str:
    value = values.get("return_home", {})
    if value.get("real") is None or value.get("generated") is None:
        return ""
    return f" Days that end at home: {value['real']:.0%} real, {value['generated']:.0%} generated."


def _under(values: Mapping[str, Any], name: str) -> str:
    value = values.get(name, {})
    if value.get("jsd") is None:
        return ""
    noise = value.get("floor")
    return f"divergence {value['jsd']:.2f}" + ("" if noise is None else f", noise {noise:.2f}")


def _bars(real: Any, generated: Any, most: float | None) -> dict[str, list[float]]:
    if most is None:
        # The longest one in a hundred must not squeeze the others into one bar.
        most = float(max(np.quantile(real, 0.99), np.quantile(generated, 0.99))) or 1.0
    edges = np.linspace(0, most, BINS + 1)
    return charts.bars(
        edges.tolist(),
        {
            name: (np.histogram(np.clip(side, 0, most), edges)[0] / len(side)).tolist()
            for name, side in (("real", real), ("generated", generated))
        },
    )


def _histogram(name: str, title: str, unit: str, under: str) -> dict[str, Any]:
    return {
        "data": {"name": name},
        "title": _title(title, under),
        "height": _HEIGHT,
        "encoding": {
            **charts.binned(unit),
            "tooltip": [
                charts.quantity("left", "from", format=",.3~g"),
                charts.quantity("right", "to", format=",.3~g"),
                charts.quantity("real", format=".1%"),
                charts.quantity("generated", format=".1%"),
            ],
        },
        "layer": _both("y", {"format": "%", "tickCount": 4}, binSpacing=0),
    }


def _both(along: str, axis: Mapping[str, Any], **mark: Any) -> list[dict[str, Any]]:
    """The bars of both sides: the real ones filled, the generated ones an outline over them."""
    return [
        {
            "mark": {"type": "bar", "strokeWidth": width, "fillOpacity": 0.5, **mark},
            "encoding": {
                along: charts.quantity(which, "share", axis=axis),
                **charts.real_or_generated(which, "filled", "stroke", legend=False),
            },
        }
        for which, width in (("real", 0), ("generated", 1.5))
    ]


def _title(text: str, under: str) -> dict[str, Any]:
    return {
        "text": text,
        "subtitle": under,
        "subtitleColor": "currentColor",
        "subtitleFontSize": 11,
    }


def _rows(name: str, real: Counter[Any], generated: Counter[Any]) -> dict[str, list[Any]]:
    """The most frequent kinds; numbers in their order."""
    shares = {
        kind: (real[kind] / real.total(), generated[kind] / generated.total())
        for kind in {**real, **generated}
    }
    shown = sorted(shares, key=lambda kind: (-max(shares[kind]), str(kind)))[:MOST_KINDS]
    if name == "trips":
        shown = sorted(shown)
    return {
        "kind": [graph(kind) if name == "motifs" else str(kind) for kind in shown],
        "real": charts.rounded(shares[kind][0] for kind in shown),
        "generated": charts.rounded(shares[kind][1] for kind in shown),
    }


def graph(motif: str) -> str:
    """A motif as people read it: its places are letters.

    >>> graph("0>1 0>2 1>0 2>1"), graph("one place")
    ('A⇄B A→C C→B', 'one place')
    """
    edges = [part.split(">") for part in motif.split() if part.count(">") == 1]
    if not edges:
        return motif
    pairs = [(_LETTERS[int(start)], _LETTERS[int(to)]) for start, to in edges]
    return " ".join(
        f"{start}⇄{to}" if (to, start) in pairs else f"{start}→{to}"
        for start, to in pairs
        if (to, start) not in pairs or start < to
    )


def _shares(name: str, title: str, under: str) -> dict[str, Any]:
    # Long names leave little room: where labels do not fit, every other one goes.
    axis = {"format": "%", "tickCount": 3, "labelOverlap": "parity"}
    return {
        "data": {"name": name},
        "title": _title(title, under),
        "height": _HEIGHT,
        "encoding": {
            "y": charts.kind("kind", None, axis={"labelLimit": 130}),
            "tooltip": [
                charts.kind("kind", title),
                charts.quantity("real", format=".1%"),
                charts.quantity("generated", format=".1%"),
            ],
        },
        "layer": _both("x", axis),
    }
