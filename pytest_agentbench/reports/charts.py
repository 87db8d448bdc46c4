"""The figures of a run: made by its benchmark, checked, and given the look that all charts share.

report.html draws them in the browser (:mod:`pytest_agentbench.reports.html.plots`), ``agentbench figures``
writes them as files (:mod:`pytest_agentbench.reports.figure_files`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_agentbench.benchmarks.figures import Figure, distribution

if TYPE_CHECKING:
    from pytest_agentbench.benchmarks.protocol import Benchmark, Dataset
    from pytest_agentbench.runs.record import Record
    from pytest_agentbench.runs.scores_file import Scores

MOST_VALUES = 200_000  # of a figure with all its frames: about a megabyte of the page
HEIGHT = 230
# Lines and words take the colour of the text around them: a page may be light or dark, a file is light.
_INK = "currentColor"
CONFIG: Mapping[str, Any] = {
    "background": None,
    "font": "system-ui, sans-serif",
    "view": {"stroke": None},
    "axis": {
        "labelColor": _INK, "titleColor": _INK, "domainColor": _INK, "tickColor": _INK, "gridColor": _INK,
        "domainOpacity": 0.5, "tickOpacity": 0.5, "gridOpacity": 0.15,
        "labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal", "labelOverlap": "greedy", "labelSeparation": 6,
    },
    "legend": {
        "orient": "top", "labelColor": _INK, "titleColor": _INK, "labelFontSize": 12, "titleFontSize": 12,
        "titleFontWeight": "normal", "symbolStrokeWidth": 2,
    },
    "title": {"color": _INK, "fontSize": 12, "fontWeight": "normal", "anchor": "start", "offset": 4},
    "text": {"color": _INK},
    "rule": {"color": _INK},
    "line": {"strokeWidth": 2},
}  # fmt: skip


@dataclass(frozen=True)
class Drawn:
    """A figure that can be drawn: JSON values only, all columns of a table equally long."""

    figure: Figure
    charts: tuple[dict[str, Any], ...]
    data: dict[str, Any]  # by name, what the picker does not change
    frames: dict[str, Any]  # nested once for each label of the picker

    @property
    def labels(self) -> tuple[str, ...]:
        return self.figure.picker.labels if self.figure.picker else ()


def drawn(
    benchmark: Benchmark,
    dataset: Dataset,
    scores: Scores,
    records: Sequence[Record],
    truth: bool = True,
) -> tuple[list[Drawn], list[str]]:
    """The benchmark's own figures, then the distribution over samples; and why others are missing.

    Without the truth, which they show, the benchmark's own are left out.
    """
    headline = scores.headline(benchmark.headlines)
    makers: tuple[Callable[[], Iterable[Figure | None]], ...] = (
        lambda: benchmark.figures(dataset, records, scores.as_json()) if truth else (),
        lambda: [distribution(benchmark.metrics, headline, scores.primary, records)],
    )
    figures: list[Drawn] = []
    problems: dict[str, None] = {}

    def note(error: Exception, what: str) -> None:
        problems[f"{benchmark.name} could not make {what}: {type(error).__name__}: {error}"] = None

    # A report without plots is better than a run without a report, and one without a plot better still.
    for make in makers:
        made: list[Figure] = []
        try:
            for figure in filter(None, make()):
                made.append(figure)
        except Exception as error:
            note(error, "its plots")
        for figure in made:
            try:
                figures.append(checked(figure))
            except Exception as error:
                note(error, "a plot")
    return figures, list(problems)


def checked(figure: Figure) -> Drawn:
    """The figure as JSON values; ``ValueError`` for one that cannot be drawn, or that is too large."""
    size = _Size()
    picker = figure.picker
    found = Drawn(
        figure,
        tuple(_chart(figure, chart) for chart in figure.charts),
        _tables(figure.data, size),
        {} if picker is None else _frames(picker.frames, len(picker.labels), size),
    )
    if size.values > MOST_VALUES:
        raise ValueError(
            f"the figure {figure.title!r} has {size.values:,} values, and at most {MOST_VALUES:,} are "
            "written: bin them first, as numpy.histogram does"
        )
    return found


def _chart(figure: Figure, chart: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(chart, Mapping):
        raise ValueError(
            f"the figure {figure.title!r}: expected Vega-Lite specifications (dict) as charts, "
            f"got {type(chart).__name__}"
        )
    return {"description": figure.title, "width": "container", "height": HEIGHT, **chart}


class _Size:
    values = 0


def _frames(frames: Mapping[str, Any], depth: int, size: _Size) -> dict[str, Any]:
    if depth == 0:
        return _tables(frames, size)
    return {str(name): _frames(inner, depth - 1, size) for name, inner in frames.items()}


def _tables(tables: Mapping[str, Any], size: _Size) -> dict[str, Any]:
    found = {}
    for name, columns in tables.items():
        made = {column: _column(values) for column, values in columns.items()}
        lengths = set(map(len, made.values()))
        if len(lengths) > 1:
            raise ValueError(
                f"the columns of {name!r} have {sorted(lengths)} values: expected as many"
            )
        size.values += sum(map(len, made.values()))
        found[name] = made
    return found


def _column(values: Any) -> list[Any]:
    """Plain values; what is no number is absent, as JSON has no word for it."""
    plain = values.tolist() if hasattr(values, "tolist") else values
    return [
        None if isinstance(value, float) and not math.isfinite(value) else value for value in plain
    ]
