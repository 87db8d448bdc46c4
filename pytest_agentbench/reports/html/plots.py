"""The plots of report.html: figures as JSON, and the script that draws them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_agentbench.reports import charts
from pytest_agentbench.reports.html import chart_script, sample_data

if TYPE_CHECKING:
    from pytest_agentbench.benchmarks.figures import Figure
    from pytest_agentbench.benchmarks.protocol import Benchmark, Dataset
    from pytest_agentbench.reports.html.chart_script import ChartScript
    from pytest_agentbench.runs.record import Record
    from pytest_agentbench.runs.scores_file import Scores


@dataclass(frozen=True)
class Plots:
    figures: tuple[Figure, ...] = ()
    data: str = "null"  # of all figures, as JSON
    script: ChartScript | None = None
    problems: tuple[str, ...] = ()


def plots(
    benchmark: Benchmark,
    dataset: Dataset,
    scores: Scores,
    records: Sequence[Record],
    truth: bool = True,
) -> Plots:
    """All figures of the run for its page; what cannot be drawn is left out and named."""
    figures, problems = charts.drawn(benchmark, dataset, scores, records, truth)
    script = None
    if figures:
        try:
            script = chart_script.chart_script()
        except Exception as error:  # a library that cannot be loaded may raise anything
            problems.append(f"Plots need vl-convert-python: {type(error).__name__}: {error}")
    if script is None:
        return Plots(problems=tuple(problems))
    items = [
        {"charts": one.charts, "data": one.data, "labels": one.labels, "frames": one.frames}
        for one in figures
    ]
    data = sample_data.embedded({"config": charts.CONFIG, "figures": items})
    return Plots(tuple(one.figure for one in figures), data, script, tuple(problems))
