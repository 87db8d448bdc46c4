"""The table of ``agentbench runs``."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.reports.text import columns, with_interval
from pytest_agentbench.runs import stored
from pytest_agentbench.runs.stored import StoredRun

_HEAD = ("time", "benchmark", "agent", "headline", "samples", "gates", "run")


def runs_table(
    runs: Sequence[StoredRun], saved: Sequence[StoredRun] = (), damaged: Sequence[str] = ()
) -> str:
    """Runs, the newest last (next to the prompt), then those kept under a name."""
    lines = columns([_HEAD, *map(_row, runs)], left=(0, 1, 2, 3, 6))
    if saved:
        lines += ["", "saved", *columns([_HEAD, *map(_row, saved)], left=(0, 1, 2, 3, 6))]
    lines += ["", *(f"cannot be read: {why}" for why in damaged)] if damaged else []
    return "\n".join(lines) + "\n"


def _row(run: StoredRun) -> list[str]:
    marks = ["partial"] if run.scores.partial else []
    if run.scores.shard is not None:
        marks.append(str(run.scores.shard))
    if run.scores.incomplete:
        marks.append("incomplete")
    benchmark, headline = _headline(run)
    return [
        run.started,
        benchmark,
        run.agent,
        headline,
        " ".join([str(run.scores.samples.total), *marks]),
        run.scores.gates_passed,
        run.name,
    ]


def _headline(run: StoredRun) -> tuple[str, str]:
    """The benchmark and its headline; the first metric where the benchmark is not installed."""
    benchmark = run.scores.benchmark
    try:
        name = run.scores.headline(stored.benchmark_of(run).headlines)
    except BenchmarkError:
        benchmark += " (unknown)"
        name = next(iter(run.scores.primary_reading), "-")
    return benchmark, f"{name} {with_interval(run.scores.metric(name))}"
