"""report.html: one self-contained file with scores, plots and samples, opened by double click."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from importlib import resources
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

import pytest_agentbench
from pytest_agentbench.base.files import write_whole
from pytest_agentbench.benchmarks.figures import Figure, bokeh, distribution
from pytest_agentbench.reports.html import samples, sections

if TYPE_CHECKING:
    from pytest_agentbench.benchmarks.protocol import Benchmark, Dataset
    from pytest_agentbench.runs.record import Record
    from pytest_agentbench.runs.scores_file import Scores
    from pytest_agentbench.settings.settings import Settings

WITHOUT_BOKEH = 'Plots need Bokeh: pip install "pytest-agentbench[report]"'


def write_html(
    path: Path,
    settings: Settings,
    dataset: Dataset,
    scores: Scores,
    records: Sequence[Record],
) -> None:
    """Writes the report of a finished run, whole or not at all.

    ``records`` are shown in the order they are given.
    """
    # An agent's name may hold a lone surrogate, which UTF-8 has no bytes for.
    text = page(settings, dataset, scores, records)
    write_whole(path, text.encode("utf-8", "xmlcharrefreplace"))


def page(settings: Settings, dataset: Dataset, scores: Scores, records: Sequence[Record]) -> str:
    """The report as HTML."""
    benchmark = settings.benchmark
    reading = scores.primary
    table = samples.table(records, reading, [metric.name for metric in benchmark.metrics])
    details = samples.details(dataset, records)
    plots, items, library = _plots(benchmark, dataset, scores, records)
    scripts = [_file("report.js")]
    if library:
        scripts = [library, *scripts]
    top = "".join(
        (
            sections.heading(benchmark, scores),
            sections.cards(benchmark, scores),
            sections.gates(scores),
            sections.readings(benchmark, scores),
            sections.comparison(benchmark, scores),
            plots,
        )
    )
    agent = str(scores.agent.name or "")
    return Template(_file("report.html")).substitute(
        policy=_policy(scripts),
        title=escape(f"{benchmark.name} · {agent}"),
        css=_file("report.css"),
        top=top,
        capped=escape(_capped(len(records), details, scores.samples.total)),
        bottom=sections.settings(settings.as_json(), scores),
        version=escape(pytest_agentbench.__version__),
        table=samples.embedded(table),
        details=samples.embedded(details),
        figures=f"[{','.join(items)}]",
        scripts="".join(f"<script>{script}</script>" for script in scripts),
    )


def _file(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _policy(scripts: Sequence[str]) -> str:
    """Nothing from the network, and no script but these: escaping is not the only line of defence."""
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
        for script in scripts
    )
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; "
        "img-src data: blob:; font-src data:; base-uri 'none'; form-action 'none'"
    )


def _plots(
    benchmark: Benchmark,
    dataset: Dataset,
    scores: Scores,
    records: Sequence[Record],
) -> tuple[str, list[str], str]:
    """The section, the data of each plot as JSON, and the library that draws them."""
    if importlib.util.find_spec("bokeh") is None:
        return _section(f"<p>{escape(WITHOUT_BOKEH)}</p>"), [], ""
    makers: tuple[Callable[[], Iterable[Figure | None]], ...] = (
        lambda: benchmark.figures(dataset, records, scores.as_json()),
        lambda: [distribution(benchmark.metrics, benchmark.headline, scores.primary, records)],
    )
    problems: dict[str, None] = {}
    parts: list[str] = []
    items: list[str] = []
    for make in makers:
        try:
            for figure in filter(None, make()):
                items.append(_item(figure))
                parts.append(_figure(len(parts), figure))
        except Exception as error:  # a report without plots is better than a run without a report
            text = f"{benchmark.name} could not make its plots: {type(error).__name__}: {error}"
            problems[f'<p class="warning">{escape(text)}</p>'] = None
    if not parts:
        return _section("".join(problems)) if problems else "", [], ""
    # Only the bundle with plots: no widgets, tables, WebGL or formulas, which are twice as large.
    library: str = bokeh("resources").Resources(mode="inline", components=["bokeh"]).js_raw[0]
    inner = f'{"".join(problems)}<div class="figures">{"".join(parts)}</div>'
    return _section(inner), items, library


def _item(figure: Figure) -> str:
    picker = figure.picker
    return samples.embedded(
        {
            "models": [bokeh("embed").json_item(model) for model in figure.models],
            "labels": [] if picker is None else picker.labels,
            "frames": None if picker is None else picker.frames,
        }
    )


def _figure(number: int, figure: Figure) -> str:
    places = "".join(f'<div class="plot" id="plot-{number}-{n}"></div>' for n in range(len(figure.models)))  # fmt: skip
    picker = f'<div class="picker" id="picker-{number}"></div>' if figure.picker else ""
    wide = " both" if len(figure.models) > 1 else ""
    return (
        f'<figure class="figure{wide}"><h3>{escape(figure.title)}</h3>{picker}{figure.html}'
        f'<div class="plots">{places}</div><figcaption>{escape(figure.caption)}</figcaption></figure>'
    )


def _section(inner: str) -> str:
    return f'<section id="plots"><h2>Plots</h2>{inner}</section>'


def _capped(rows: int, details: Mapping[str, Any], total: int) -> str:
    """What of the samples is not in the page, in words; nothing if all is there."""
    words = []
    if rows < total:
        words.append(f"{total - rows:,} of {total:,} samples left no record and are not listed.")
    if len(details) < rows:
        words.append(
            f"Texts are here for {len(details):,} of {rows:,} samples (failed ones first, then some "
            "of all others); records.jsonl has all."
        )
    if any(left for texts in details.values() for _, _, left in texts):
        words.append("Long texts are cut to keep this file small; records.jsonl has them whole.")
    return " ".join(words)
