"""Figures: what a benchmark hands over, and the charts that several of them need.

A chart is a Vega-Lite specification, plain JSON values: nothing is imported to make one. Its data are
columns, apart from it. Reports place charts, give them their width and their look, and draw them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from pytest_agentbench.benchmarks.protocol import Metric
    from pytest_agentbench.runs.record import Record

    Chart = Mapping[str, Any]
    Columns = Mapping[str, Sequence[Any] | npt.NDArray[Any]]

# Two colours that every kind of colour blindness tells apart, with contrast on white and on black.
REAL, GENERATED = "#2f7fc1", "#d9660a"
SQUARE = 360  # pixels each way, of a map: a page that is narrower shrinks it
BINS = 30


@dataclass(frozen=True)
class Picker:
    """Selects above a figure; every choice has data of its own.

    ``frames`` is nested once for each label: ``{"uid[7]": {"60": {"day": {"x": […], "y": […]}}}}``
    gives the data of the name ``day`` its columns.
    """

    labels: tuple[str, ...]  # ("user", "day")
    frames: Mapping[str, Any]


@dataclass(frozen=True)
class Figure:
    """One figure: charts that stand beside each other where there is room, and their data by name.

    A chart asks for data with ``"data": {"name": …}``; it is drawn as wide as its place unless it has
    a ``width``. A name that only the frames of the picker have need not be in ``data``.
    """

    title: str
    caption: str = ""
    charts: Sequence[Chart] = ()
    data: Mapping[str, Columns] = field(default_factory=dict)
    picker: Picker | None = None


def quantity(name: str, title: str | None = None, **more: Any) -> dict[str, Any]:
    """A column of numbers as an axis, a colour or a tooltip."""
    return {"field": name, "type": "quantitative", "title": title, **more}


def kind(name: str, title: str | None = None, **more: Any) -> dict[str, Any]:
    """A column of names, in the order of the data."""
    return {"field": name, "type": "nominal", "title": title, "sort": None, **more}


def hour_of_the_day(name: str) -> dict[str, Any]:
    """A column of hours, 0 to 24, as the horizontal axis."""
    return quantity(
        name,
        "hour of the day",
        scale={"domain": [0, 24], "nice": False, "clamp": True},
        axis={"values": list(range(0, 25, 4)), "grid": False},
    )


def shares_by_hour(
    name: str,
    title: str,
    height: int,
    since: Mapping[str, Any],
    hours: float,
    y_title: str | None = None,
    **y: Any,
) -> dict[str, Any]:
    """Shares (``real``, ``generated``) by ``hour``: an area of steps, and a line of steps over it.

    ``since`` is the tooltip's first line, and a step is so many ``hours`` wide.
    """

    def layer(which: str, mark: str, look: str) -> dict[str, Any]:
        return {
            "mark": {"type": mark, "interpolate": "step-after", "fillOpacity": 0.4},
            "encoding": {
                "y": quantity(which, y_title, **y),
                **real_or_generated(which, look, legend=False),
            },
        }

    shares = [quantity(which, format=".1%") for which in ("real", "generated")]
    return {
        "data": {"name": name},
        "title": title,
        "height": height,
        "encoding": {"x": hour_of_the_day("hour"), "tooltip": [since, *shares]},
        "layer": [
            layer("real", "area", "fill"),
            layer("generated", "line", "stroke"),
            whole_column("hour", hours),
        ],
    }


def whole_column(name: str, width: float) -> dict[str, Any]:
    """An unseen layer over steps of this width: the pointer finds one wherever in its column it is."""
    return {
        "transform": [{"calculate": f"datum.{name} + {width}", "as": "until"}],
        "mark": {"type": "rect", "opacity": 0},
        "encoding": {"x2": {"field": "until"}},
    }


def real_or_generated(which: str, *looks: str, legend: bool = True) -> dict[str, Any]:
    """The look of a layer and its line in the legend: a colour, and what tells them apart without."""
    ranges: dict[str, Sequence[Any]] = {
        "fill": (REAL, GENERATED),
        "stroke": (REAL, GENERATED),
        "filled": (REAL, "transparent"),  # or only an outline
        "shape": ("circle", "square"),
    }
    return {
        "fill" if look == "filled" else look: {
            "datum": which,
            "type": "nominal",
            "scale": {"domain": ["real", "generated"], "range": list(ranges[look])},
            "title": None,
            **({} if legend else {"legend": None}),
        }
        for look in looks
    }


def bars(edges: Sequence[float], heights: Mapping[str, Sequence[float]]) -> dict[str, list[float]]:
    """The columns of histograms in the same bins."""
    named = {name: rounded(values) for name, values in heights.items()}
    return {"left": rounded(edges[:-1]), "right": rounded(edges[1:]), **named}


def binned(x: str, ticks: Sequence[float] | None = None) -> dict[str, Any]:
    """The horizontal axis of bars from ``left`` to ``right``."""
    axis = {} if ticks is None else {"axis": {"values": list(ticks), "format": "d"}}
    scale = {"zero": False, "nice": False}
    return {
        "x": quantity("left", x, bin="binned", scale=scale, **axis),
        "x2": {"field": "right"},
    }


def pair_of_histograms(x: str, name: str, ticks: Sequence[float] | None = None) -> dict[str, Any]:
    """Shares in equal bins (``left``, ``right``, ``real``, ``generated``) of the data ``name``.

    The real ones are filled, the generated ones an outline over them.
    """

    def layer(which: str, width: float) -> dict[str, Any]:
        return {
            "mark": {"type": "bar", "strokeWidth": width, "fillOpacity": 0.5, "binSpacing": 0},
            "encoding": {
                "y": quantity(which, "share of people"),
                **real_or_generated(which, "filled", "stroke"),
            },
        }

    return {
        "data": {"name": name},
        "encoding": {
            **binned(x, ticks),
            "tooltip": [
                quantity("left", "from", format=",.4~g"),
                quantity("right", "to", format=",.4~g"),
                quantity("real", format=".3f"),
                quantity("generated", format=".3f"),
            ],
        },
        "layer": [layer("real", 0), layer("generated", 2)],
    }


def middles(names: Sequence[str], groups: Iterable[npt.NDArray[Any]]) -> dict[str, list[Any]]:
    """Mean, middle half, median and size of each group, as columns; empty groups have only a name."""
    columns: dict[str, list[Any]] = {
        key: [] for key in ("name", "mean", "low", "median", "high", "n")
    }
    for name, values in zip(names, groups, strict=True):
        found: list[float | None] = [None] * 4
        if len(values):
            low, median, high = np.quantile(values, (0.25, 0.5, 0.75))
            found = [*rounded([values.mean(), low, median, high])]
        for column, value in zip(columns.values(), (name, *found, len(values)), strict=True):
            column.append(value)
    return columns


MIDDLES_KEY = "Dot: the mean. Bar: the middle half, with a line at the median."


def means_and_middles(x: str, y: str, name: str) -> dict[str, Any]:
    """The :func:`middles` in the data ``name``: a dot, a bar and a line for each group."""
    what: dict[str, Any] = {"type": "bar", "color": REAL, "opacity": 0.35, "width": {"band": 0.5}}
    line = {"type": "tick", "color": REAL, "thickness": 2, "width": {"band": 0.5}}
    dot = {"type": "point", "color": GENERATED, "filled": True, "size": 80, "opacity": 1}
    tooltip = [
        kind("name", x),
        quantity("mean", format=".4f"),
        quantity("low", "middle half from", format=".4f"),
        quantity("median", format=".4f"),
        quantity("high", "to", format=".4f"),
        quantity("n", "user-days", format=","),
    ]
    return {
        "data": {"name": name},
        "encoding": {"x": kind("name", x, axis={"labelAngle": 0}), "tooltip": tooltip},
        "layer": [
            {"mark": what, "encoding": {"y": quantity("low", y), "y2": {"field": "high"}}},
            {"mark": line, "encoding": {"y": quantity("median", y)}},
            {"mark": dot, "encoding": {"y": quantity("mean", y)}},
        ],
    }


def blocks(
    x: npt.NDArray[Any], y: npt.NDArray[Any], value: npt.NDArray[Any], size: int
) -> dict[str, list[Any]]:
    """Points on a grid of whole numbers, in square blocks: how many are in each, and their mean value.

    However many points there are, a map of them has only as many rows as blocks that hold one.
    """
    left, bottom = int(x.min()), int(y.min())
    across, up = (x - left) // size, (y - bottom) // size
    height = int(up.max()) + 1
    where = (across * height + up).astype(np.int64)
    counts = np.bincount(where)
    filled = np.flatnonzero(counts)
    count = counts[filled]
    mean = np.bincount(where, value)[filled] / count
    columns, rows = np.divmod(filled, height)
    return {
        "left": (columns * size + left - 0.5).tolist(),
        "bottom": (rows * size + bottom - 0.5).tolist(),
        "value": rounded(mean),
        "n": count.tolist(),
    }


def heat_map(x: str, y: str, name: str, value: str, size: float) -> dict[str, Any]:
    """The :func:`blocks` in the data ``name``, the darker the less; equal lengths look equal."""

    def side(low: str, title: str) -> dict[str, Any]:
        return quantity(low, title, scale={"zero": False, "nice": False}, axis={"grid": False})

    return {
        "data": {"name": name},
        "width": SQUARE,
        "height": SQUARE,
        "transform": [
            {"calculate": f"datum.left + {size}", "as": "right"},
            {"calculate": f"datum.bottom + {size}", "as": "top"},
        ],
        "layer": [
            square({x: ("left", "right"), y: ("bottom", "top")}),
            {
                "mark": {"type": "rect", "stroke": "#808080", "strokeOpacity": 0.35},
                "encoding": {
                    "x": side("left", x),
                    "x2": {"field": "right"},
                    "y": side("bottom", y),
                    "y2": {"field": "top"},
                    "color": quantity("value", value, scale={"scheme": "cividis"}),
                    "tooltip": [quantity("value", value), quantity("n", "points", format=",")],
                },
            },
        ],
    }


def square(sides: Mapping[str, tuple[str, str]]) -> dict[str, Any]:
    """An unseen layer that makes both axes of a square chart equally long: the first, under the others.

    ``sides`` are the titles of the two axes, each with the columns of the least and the greatest value.
    """
    (x, across), (y, up) = sides.items()
    ends = {"left": ("min", across[0]), "right": ("max", across[1]), "bottom": ("min", up[0]), "top": ("max", up[1])}  # fmt: skip
    half = "max(datum.right - datum.left, datum.top - datum.bottom) / 2"
    corners = {
        "x0": f"(datum.left + datum.right) / 2 - {half}",
        "x1": f"(datum.left + datum.right) / 2 + {half}",
        "y0": f"(datum.bottom + datum.top) / 2 - {half}",
        "y1": f"(datum.bottom + datum.top) / 2 + {half}",
    }
    return {
        "transform": [
            {
                "aggregate": [
                    {"op": op, "field": name, "as": end} for end, (op, name) in ends.items()
                ]
            },
            *({"calculate": formula, "as": corner} for corner, formula in corners.items()),
        ],
        "mark": {"type": "rect", "opacity": 0, "tooltip": None, "aria": False},
        "encoding": {
            "x": quantity("x0", x),
            "x2": {"field": "x1"},
            "y": quantity("y0", y),
            "y2": {"field": "y1"},
        },
    }


def distribution(
    metrics: Sequence[Metric], headline: str, reading: str, records: Sequence[Record]
) -> Figure | None:
    """How the samples' own values spread, the headline's first; None where no sample has any."""
    names = sorted((metric.name for metric in metrics), key=lambda name: name != headline)
    frames: dict[str, Any] = {}
    counts = []
    for name in names:
        values = [
            value
            for record in records
            if (value := record.metrics.get(reading, {}).get(name)) is not None
            and math.isfinite(value)
        ]
        if values:
            heights, edges = np.histogram(values, BINS)
            frames[name] = {"bars": bars(edges.tolist(), {"samples": heights.tolist()})}
            counts.append(f"{name} {len(values):,}")
    if not frames:
        return None
    chart = {
        "data": {"name": "bars"},
        "mark": {
            "type": "bar",
            "color": REAL,
            "fillOpacity": 0.55,
            "stroke": REAL,
            "binSpacing": 0,
        },
        "encoding": {
            **binned("value of a sample"),
            "y": quantity("samples", "samples"),
            "tooltip": [
                quantity("samples", format=","),
                quantity("left", "from", format=",.4~g"),
                quantity("right", "to", format=",.4~g"),
            ],
        },
    }
    return Figure(
        "Distribution over samples",
        f"Samples with a value, of {len(records):,} in reading {reading}: {', '.join(counts)}. "
        "A sample without a valid answer has none.",
        (chart,),
        {} if len(frames) > 1 else next(iter(frames.values())),
        Picker(("metric",), frames) if len(frames) > 1 else None,
    )


def rounded(values: Iterable[float]) -> list[float]:
    """A number with five significant digits: what a screen can show, in few characters."""
    return [float(f"{value:.5g}") for value in values]
