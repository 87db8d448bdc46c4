"""The figures of a finished run, and the numbers in them."""

from __future__ import annotations

from typing import Any

from html_runs import Finished

from pytest_agentbench.benchmarks.figures import Figure


def made(run: Finished) -> dict[str, Figure]:
    figures = run.benchmark.figures(run.dataset, run.records, run.scores.as_json())
    return {figure.title: figure for figure in figures}


def columns(model: Any, *names: str) -> dict[str, Any]:
    """The data of the renderer that has these columns."""
    for renderer in model.renderers:
        data = renderer.data_source.data
        if set(names) <= set(data):
            return dict(data)
    raise AssertionError(f"no renderer with {names}")
