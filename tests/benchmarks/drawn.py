"""The figures of a finished run."""

from __future__ import annotations

from html_runs import Finished

from pytest_agentbench.benchmarks.figures import Figure


def made(run: Finished) -> dict[str, Figure]:
    figures = run.benchmark.figures(run.dataset, run.records, run.scores.as_json())
    return {figure.title: figure for figure in figures}
