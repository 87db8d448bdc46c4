"""Figures of report.html: what a benchmark hands over, and the plots that several of them need.

Bokeh is imported when a plot is made, so that a run without plots, or without Bokeh, pays nothing.
"""

from __future__ import annotations

import html
import importlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from pytest_agentbench.benchmarks.protocol import Metric
    from pytest_agentbench.runs.record import Record

# Two colours that every kind of colour blindness tells apart, with contrast on white and on black.
REAL, GENERATED = "#2f7fc1", "#d9660a"
# Okabe and Ito, with grey in the middle: for up to seven kinds of thing.
KINDS = ("#0072b2", "#56b4e9", "#999999", "#d55e00", "#cc79a7", "#f0e442", "#009e73")
HEIGHT = 300
BINS = 30


@dataclass(frozen=True)
class Picker:
    """Selects above a figure; every choice has data of its own for the figure's named sources.

    ``frames`` is nested once for each label: ``{"uid[7]": {"60": {"real": {"x": […], "y": […]}}}}``
    gives the ``ColumnDataSource`` of the name ``real`` its columns.
    """

    labels: tuple[str, ...]  # ("user", "day")
    frames: Mapping[str, Any]


@dataclass(frozen=True)
class Figure:
    """One figure: Bokeh models, which stand beside each other where there is room, or HTML, or both.

    The page runs no code out of a model (``CustomJS``): a choice is a :class:`Picker`.
    """

    title: str
    caption: str = ""
    models: tuple[Any, ...] = ()
    html: str = ""  # above the models; whoever makes it escapes what is in it
    picker: Picker | None = None


def bokeh(module: str) -> Any:
    """A module of Bokeh, which is an extra and whose models type checkers do not see."""
    return importlib.import_module(f"bokeh.{module}")


def plot(x: str, y: str, **options: Any) -> Any:
    """An empty Bokeh plot in our style; the page gives it the colours of its theme."""
    models = bokeh("models")
    made = bokeh("plotting").figure(
        **{
            "height": HEIGHT, "sizing_mode": "stretch_width", "toolbar_location": "above",
            "x_axis_label": x, "y_axis_label": y, "output_backend": "canvas",
            "tools": [
                models.PanTool(), models.WheelZoomTool(), models.ResetTool(), models.SaveTool(),
            ],
            # Nothing is active at first: a finger on a plot scrolls the page.
            "active_drag": None, "active_scroll": None,
            "background_fill_color": None, "border_fill_color": None, "outline_line_color": None,
            **options,
        }
    )  # fmt: skip
    made.toolbar.logo = None
    made.toolbar.autohide = True
    return made


def source(columns: Mapping[str, Any], name: str | None = None) -> Any:
    """Columns for glyphs; a name is what a :class:`Picker` finds it by."""
    return bokeh("models").ColumnDataSource(dict(columns), name=name)


def hover(made: Any, renderer: Any, tooltips: Sequence[tuple[str, str]]) -> None:
    """What the pointer shows over a renderer; Bokeh escapes the values."""
    # Without a button: seven of them would not fit above a plot on a phone.
    made.add_tools(
        bokeh("models").HoverTool(renderers=[renderer], tooltips=list(tooltips), visible=False)
    )


def legend(entries: Mapping[str, str]) -> str:
    """Names and their colours as HTML: it wraps on a phone, which a legend in a plot does not."""
    chips = (
        f'<span class="chip"><i style="background:{colour}"></i>{html.escape(name)}</span>'
        for name, colour in entries.items()
    )
    return f'<p class="legend">{"".join(chips)}</p>'


PAIR_LEGEND = {"real": REAL, "generated": GENERATED}


def bars(edges: Sequence[float], heights: Sequence[float]) -> dict[str, list[float]]:
    """The columns of a histogram's source."""
    return {"left": rounded(edges[:-1]), "right": rounded(edges[1:]), "top": rounded(heights)}


def pair_of_histograms(
    x: str, real: Mapping[str, list[float]], generated: Mapping[str, list[float]]
) -> Any:
    """Shares in equal bins: the real ones filled, the generated ones as an outline over them.

    The sources are called ``real`` and ``generated``, for a :class:`Picker`.
    """
    made = plot(x, "share of people")
    made.y_range.start = 0
    for name, colour, filled in (("real", REAL, 0.45), ("generated", GENERATED, 0.12)):
        shares = source(real if name == "real" else generated, name)
        drawn = made.quad(
            left="left", right="right", top="top", bottom=0, source=shares, color=colour,
            fill_alpha=filled, line_alpha=0.35 if name == "real" else 1.0,
            line_width=1 if name == "real" else 1.6,
        )  # fmt: skip
        hover(made, drawn, [(name, "@top{0.000}"), (x, "@left{0.[00]} to @right{0.[00]}")])
    return made


def means_and_middles(
    x: str, y: str, names: Sequence[str], groups: Iterable[npt.NDArray[Any]]
) -> Any:
    """The mean of each group as a dot, its middle half as a bar; groups without values stay empty."""
    columns: dict[str, list[Any]] = {
        key: [] for key in ("name", "mean", "low", "middle", "high", "n")
    }
    for name, values in zip(names, groups, strict=True):
        if len(values):
            low, middle, high = np.quantile(values, (0.25, 0.5, 0.75))
            row = (name, *rounded([values.mean(), low, middle, high]), len(values))
            for column, value in zip(columns.values(), row, strict=True):
                column.append(value)
    made = plot(x, y, x_range=list(names))
    rows = source(columns)
    made.vbar(
        x="name", bottom="low", top="high", width=0.5, source=rows, color=REAL, alpha=0.35,
    )  # fmt: skip
    made.scatter(
        x="name", y="middle", marker="dash", size=22, source=rows, color=REAL, line_width=2
    )
    dots = made.scatter(x="name", y="mean", size=10, source=rows, color=GENERATED)
    made.xgrid.visible = False
    hover(
        made, dots,
        [(x, "@name"), ("mean", "@mean{0.0000}"), ("middle half", "@low{0.000} to @high{0.000}"),
         ("user-days", "@n")],
    )  # fmt: skip
    return made


MIDDLE_LEGEND = {"mean": GENERATED, "middle half and median": REAL}


def heat_map(x: str, y: str, columns: Mapping[str, list[Any]], value: str, **options: Any) -> Any:
    """Rectangles (``left``, ``right``, ``bottom``, ``top``) coloured by the column ``value``."""
    made = plot(x, y, **options)
    values = columns["value"]
    high = max(values, default=1.0)
    palette = list(bokeh("palettes").cividis(64))
    colours = bokeh("transform").linear_cmap(
        "value", palette, low=min(0.0, *values, 0.0), high=high or 1.0
    )
    drawn = made.quad(
        left="left", right="right", bottom="bottom", top="top", fill_color=colours,
        line_color="#808080", line_alpha=0.35, source=source(columns),
    )  # fmt: skip
    made.add_layout(
        bokeh("models").ColorBar(
            color_mapper=colours.transform, width=10, title=value, background_fill_color=None,
            bar_line_color=None, major_tick_line_color=None,
        ),
        "right",
    )  # fmt: skip
    made.grid.visible = False
    hover(made, drawn, [(value, "@value{0.[00]}"), ("points", "@n")])
    return made


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
            frames[name] = {"bars": bars(edges.tolist(), heights.tolist())}
            counts.append(f"{name} {len(values):,}")
    if not frames:
        return None
    made = plot("value of a sample", "samples")
    made.y_range.start = 0
    first = next(iter(frames.values()))["bars"]
    drawn = made.quad(
        left="left", right="right", top="top", bottom=0, color=REAL, fill_alpha=0.55,
        source=source(first, "bars"),
    )  # fmt: skip
    hover(made, drawn, [("samples", "@top"), ("value", "@left{0.[0000]} to @right{0.[0000]}")])
    return Figure(
        "Distribution over samples",
        f"Samples with a value, of {len(records):,} in reading {reading}: {', '.join(counts)}. "
        "A sample without a valid answer has none.",
        (made,),
        picker=Picker(("metric",), frames) if len(frames) > 1 else None,
    )


def rounded(values: Iterable[float]) -> list[float]:
    """A number with five significant digits: what a screen can show, in few characters."""
    return [float(f"{value:.5g}") for value in values]
