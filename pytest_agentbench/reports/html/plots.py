"""The plots of report.html: Bokeh's models as JSON, and the library that draws them."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_agentbench.benchmarks.figures import Figure, bokeh, distribution
from pytest_agentbench.reports.html import sample_data

if TYPE_CHECKING:
    from pytest_agentbench.benchmarks.protocol import Benchmark, Dataset
    from pytest_agentbench.runs.record import Record
    from pytest_agentbench.runs.scores_file import Scores

WITHOUT_BOKEH = 'Plots need Bokeh: pip install "pytest-agentbench[report]"'


@dataclass(frozen=True)
class Plots:
    figures: tuple[Figure, ...] = ()
    data: tuple[str, ...] = ()  # of each figure, as JSON
    library: tuple[str, ...] = ()  # scripts that draw them
    problems: tuple[str, ...] = ()
    note: str = ""


def plots(
    benchmark: Benchmark,
    dataset: Dataset,
    scores: Scores,
    records: Sequence[Record],
    truth: bool = True,
) -> Plots:
    """The benchmark's own figures, then the distribution over samples; what fails is left out.

    Without the truth, which they show, the benchmark's own are left out as well.
    """
    if importlib.util.find_spec("bokeh") is None:
        return Plots(note=WITHOUT_BOKEH)
    headline = scores.headline(benchmark.headlines)
    makers: tuple[Callable[[], Iterable[Figure | None]], ...] = (
        lambda: benchmark.figures(dataset, records, scores.as_json()) if truth else (),
        lambda: [distribution(benchmark.metrics, headline, scores.primary, records)],
    )
    problems: dict[str, None] = {}
    figures: list[Figure] = []
    data: list[str] = []
    for make in makers:
        try:
            for figure in filter(None, make()):
                data.append(_data(figure))
                figures.append(figure)
        except Exception as error:  # a report without plots is better than a run without a report
            text = f"{benchmark.name} could not make its plots: {type(error).__name__}: {error}"
            problems[text] = None
    library: tuple[str, ...] = ()
    if figures:
        # Only the bundle with plots: widgets, tables, WebGL and formulas are twice as large.
        resources = bokeh("resources").Resources(mode="inline", components=["bokeh"])
        library = (resources.js_raw[0],)
    return Plots(tuple(figures), tuple(data), library, tuple(problems))


def _data(figure: Figure) -> str:
    picker = figure.picker
    return sample_data.embedded(
        {
            "models": [bokeh("embed").json_item(model) for model in figure.models],
            "labels": [] if picker is None else picker.labels,
            "frames": None if picker is None else picker.frames,
        }
    )
