"""The plots of a run as files, for a paper or a README: the charts of report.html, on white."""

from __future__ import annotations

import re
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
_SHOWN = 5  # choices in a message


def write_figures(
    folder: Path, figures: Sequence[Drawn], kind: str, picked: Mapping[str, str]
) -> list[str]:
    """Writes a file for each figure; a line about each, with what is chosen in its picker.

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
    lines, names = [], _names(figures)
    for figure, name, (words, frame) in zip(figures, names, chosen, strict=True):
        path = folder / f"{name}.{kind}"
        content = _rendered(figure, _whole(figure, frame), kind)
        try:
            write_whole(path, content)
        except OSError as error:
            raise BenchmarkError(
                f"--output: expected a folder that can be written, got {folder}: {error.strerror}"
            ) from None
        lines.append(f"{path} ({words})" if words else str(path))
    return lines


def _names(figures: Sequence[Drawn]) -> list[str]:
    """File names made of the titles, each once."""
    names: list[str] = []
    for figure in figures:
        base = re.sub(r"[^a-z0-9]+", "-", figure.figure.title.lower()).strip("-") or "figure"
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
            f"--pick: expected a {label} of {figure.figure.title!r} ({some}), got {wanted!r}"
        )
    return found[0]


def _whole(figure: Drawn, frame: Mapping[str, Any]) -> dict[str, Any]:
    """One Vega-Lite specification with all charts of the figure, its data, its title and its look."""
    several = len(figure.charts) > 1
    width = _WIDTH_OF_SEVERAL if several else _WIDTH
    placed = [
        {**chart, "width": width} if chart["width"] == "container" else chart
        for chart in figure.charts
    ]
    tables = {**figure.data, **frame}
    title = {"text": figure.figure.title, "fontSize": 14, "fontWeight": "bold", "offset": 10}
    body = {"concat": placed, "columns": 2} if several else placed[0]
    return {
        **body,
        "title": title,
        "padding": 10,
        "datasets": {name: _rows(columns) for name, columns in tables.items()},
        "config": {**charts.CONFIG, "background": "white"},
    }


def _rows(columns: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _rendered(figure: Drawn, chart: dict[str, Any], kind: str) -> bytes:
    import vl_convert  # the one use of it that draws

    render = {
        "svg": lambda: vl_convert.vegalite_to_svg(chart, allowed_base_urls=[]).encode(),
        "png": lambda: vl_convert.vegalite_to_png(chart, scale=PNG_SCALE, allowed_base_urls=[]),
        "pdf": lambda: vl_convert.vegalite_to_pdf(chart, allowed_base_urls=[]),
    }
    try:
        return bytes(render[kind]())
    except ValueError as error:
        why = str(error).strip().splitlines()[0]
        raise BenchmarkError(f"{figure.figure.title!r} cannot be drawn: {why}") from None
