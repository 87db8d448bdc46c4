"""The plots of a run as files, for a paper or a README: the charts of report.html, on white."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.base.files import write_whole
from pytest_agentbench.reports import charts

if TYPE_CHECKING:
    from pytest_agentbench.reports.charts import Drawn

FORMATS = ("svg", "png", "pdf")
PNG_SCALE = 2  # pixels for each of the chart's own
_WIDTH, _WIDTH_OF_SEVERAL = 420, 280  # of charts that are as wide as their place
_CAPTION = 64  # characters of a line under the title
_SHOWN = 5  # choices in a message
# Charts of the page know nothing of each other: no colour or dash of one means something in the next.
_CHANNELS = ("color", "fill", "stroke", "strokeDash", "shape", "size", "opacity")
_EACH = {"scale": dict.fromkeys(_CHANNELS, "independent")}


def write_figures(
    folder: Path, figures: Sequence[Drawn], kind: str, picked: Mapping[str, str]
) -> tuple[list[str], list[str]]:
    """Writes a file for each figure; a line about each, and why others could not be drawn.

    ``picked`` names a choice for labels of pickers; otherwise it is the first one, as in the page.
    """
    figures = [figure for figure in figures if figure.charts]
    unknown = picked.keys() - {label for figure in figures for label in figure.labels}
    if unknown:
        known = sorted({label for figure in figures for label in figure.labels})
        raise BenchmarkError(
            f"--pick: expected the label of a picker ({', '.join(known) or 'no figure has one'}), "
            f"got {min(unknown)!r}"
        )
    chosen = [_chosen(figure, picked) for figure in figures]
    lines: list[str] = []
    problems: list[str] = []
    for figure, name, (words, frame) in zip(figures, _names(figures), chosen, strict=True):
        own = f"-{_slug(words)}" if picked.keys() & set(figure.labels) else ""
        path = folder / f"{name}{own}.{kind}"
        try:
            content = _rendered(_whole(figure, frame, words), kind)
        except ValueError as error:
            problems.append(f"{figure.figure.title!r} cannot be drawn: {_reason(error)}")
            continue
        try:
            write_whole(path, content)
        except OSError as error:
            raise BenchmarkError(
                f"--output: expected a folder that can be written, got {folder}: {error.strerror}"
            ) from None
        lines.append(f"{path} ({words})" if words else str(path))
    return lines, problems


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _reason(error: ValueError) -> str:
    """What vl-convert says, without the stack of its JavaScript."""
    said = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join([line for line in said if not line.startswith("at ")][:3])


def _names(figures: Sequence[Drawn]) -> list[str]:
    """File names made of the titles, each once."""
    names: list[str] = []
    for figure in figures:
        base = _slug(figure.figure.title) or "figure"
        name, number = base, 1
        while name in names:
            number += 1
            name = f"{base}-{number}"
        names.append(name)
    return names


def _chosen(figure: Drawn, picked: Mapping[str, str]) -> tuple[str, dict[str, Any]]:
    """What is chosen in the figure's picker, in words, and its data."""
    frame, words = figure.frames, []
    for label in figure.labels:
        name = _choice(figure, label, list(frame), picked.get(label))
        words.append(f"{label} {name}")
        frame = frame[name]
    return ", ".join(words), frame


def _choice(figure: Drawn, label: str, names: Sequence[str], wanted: str | None) -> str:
    if wanted is None or wanted in names:
        return wanted or names[0]
    # "uid[7]" for "uid[7] (0.123)": the score behind a name is not known before one looks.
    found = [name for name in names if name.startswith(f"{wanted} ")]
    if len(found) != 1:
        some = ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
        raise BenchmarkError(
            f"--pick: expected one of the {len(names):,} choices of {label} that {figure.figure.title!r} has "
            f"({some}), got {wanted!r}"
        )
    return found[0]


def _whole(figure: Drawn, frame: Mapping[str, Any], words: str) -> dict[str, Any]:
    """One Vega-Lite specification with all charts of the figure, its data, its words and its look."""
    several = len(figure.charts) > 1
    width = _WIDTH_OF_SEVERAL if several else _WIDTH
    placed = [
        {**chart, "width": width} if chart["width"] == "container" else chart
        for chart in figure.charts
    ]
    tables = {**figure.data, **frame}
    under = [words] if words else []
    title = {
        "text": figure.figure.title,
        "subtitle": [*under, *textwrap.wrap(figure.figure.caption, _CAPTION)],
        "fontSize": 14,
        "fontWeight": "bold",
        "offset": 10,
    }
    body = {"concat": placed, "columns": 2, "resolve": _EACH} if several else placed[0]
    return {
        **body,
        "title": title,
        "padding": 10,
        "datasets": {name: _rows(columns) for name, columns in tables.items()},
        "config": {**charts.CONFIG, "background": "white"},
    }


def _rows(columns: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _rendered(chart: dict[str, Any], kind: str) -> bytes:
    import vl_convert  # the one use of it that draws

    render = {
        "svg": lambda: vl_convert.vegalite_to_svg(chart, allowed_base_urls=[]).encode(),
        "png": lambda: vl_convert.vegalite_to_png(chart, scale=PNG_SCALE, allowed_base_urls=[]),
        "pdf": lambda: vl_convert.vegalite_to_pdf(chart, allowed_base_urls=[]),
    }
    return bytes(render[kind]())
