"""The terminal: a header line, progress lines on long runs, and the table at the end."""

from __future__ import annotations

import os
import shutil
import textwrap
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from pytest_agentbench.reports.text import columns, number, with_interval
from pytest_agentbench.runs.plan import Plan
from pytest_agentbench.runs.record import STATUSES, Record
from pytest_agentbench.scoring.floor import Floor


def header(run: Plan, agent: str) -> str:
    """The one line that says what is about to be measured."""
    asked, all_samples = len(run.indices), len(run.dataset.keys)
    limited = f" of {all_samples}" if asked < all_samples else ""
    data = run.dataset.description.partition(":")[0]
    return (
        f"agentbench: {run.settings.nodeid} ({run.settings.mode}), {asked}{limited} samples, {data}, "
        f"{agent}"
    )


def progress_line(run: Plan, records: Collection[Record], expected: int) -> str:
    """``humob: 120/300, 118 ok, 2 invalid, geobleu 0.2034 so far in valid answers``"""
    parts = [f"{len(records)}/{expected}", *_counts(_by_status(records))]
    headline, reading = run.benchmark.headline, run.settings.reading
    values = [
        record.metrics[reading][headline]
        for record in records
        if headline in record.metrics.get(reading, {})
    ]
    if values:
        parts.append(f"{headline} {number(sum(values) / len(values))} so far in valid answers")
    return f"{run.settings.nodeid}: {', '.join(parts)}"


def _by_status(records: Collection[Record]) -> dict[str, int]:
    return {status: sum(record.status == status for record in records) for status in STATUSES}


def _counts(samples: Mapping[str, int]) -> list[str]:
    return [f"{samples[s]} {s}" for s in STATUSES if samples[s] or s == "ok"]


def gate_failure(gate: Mapping[str, Any]) -> str | None:
    """Why a gate failed, for its test report; None for one that passed."""
    if gate["passed"]:
        return None
    if gate["reason"]:
        return str(gate["reason"])
    return f"got {gate['value']:.6g} against {gate['threshold']:.6g}"


class Writer(Protocol):
    """Where a summary is written: pytest's reporter, or what stands for it."""

    def section(self, title: str, sep: str) -> None: ...
    def write_line(self, line: str, **markup: bool) -> None: ...


def summary(
    reporter: Writer, run: Plan, scores: Mapping[str, Any], folder: Path | None, brief: bool = False
) -> None:
    """The section of one run at the end; briefly, a line of it."""
    where = None if folder is None else _shown(folder)
    if brief:
        headline = scores["readings"][scores["primary"]].get(run.benchmark.headline, {})
        line = f"{run.settings.nodeid}: {run.benchmark.headline} {with_interval(headline)}"
        reporter.write_line(f"{line}, run: {where}" if where else line)
        return
    reporter.section(f"agentbench: {run.settings.nodeid}", "=")
    samples = scores["samples"]
    facts = [f"{samples['total']} samples: {', '.join(_counts(samples))}"]
    if scores["partial"]:
        every = len(run.dataset.keys) * run.settings.epochs
        facts.append(f"partial ({samples['total']} of {every})")
    reporter.write_line(", ".join(facts))
    reporter.write_line(f"data: {run.dataset.description}")
    reporter.write_line(f"agent: {scores['agent']['name']}")
    if scores["incomplete"]:
        reporter.write_line(f"incomplete: {scores['incomplete']}", yellow=True)
        if where:
            reporter.write_line(f"to go on, give the same command with --resume={where}")
    reporter.write_line("")
    width = shutil.get_terminal_size().columns
    for line in table(run, scores, width):
        reporter.write_line(line)
    _epochs(reporter, run, scores)
    for note in scores["details"].get("notes", ()):
        for line in textwrap.wrap(note, width, subsequent_indent="  ", break_on_hyphens=False):
            reporter.write_line(line)
    _baseline(reporter, scores)
    _gates(reporter, scores)
    if where:
        reporter.write_line(f"run: {where}")


def table(run: Plan, scores: Mapping[str, Any], width: int) -> list[str]:
    """Metrics down, readings across; the primary reading comes first and has its interval.

    In a narrow terminal the column that says which direction is better is left out.
    """
    readings = scores["readings"]
    primary = scores["primary"]
    others = [reading for reading in readings if reading != primary]
    known = {metric.name: metric for metric in run.benchmark.metrics}
    rows = [["metric", "better", f"{primary} *" if others else primary, "95 % interval", *others]]
    notes = []
    for name, score in readings[primary].items():
        metric = known.get(name)
        unit = f" ({metric.unit})" if metric is not None and metric.unit else ""
        better = metric.better if metric is not None else "higher"
        interval = ""
        if score.get("low") is not None:
            interval = f"{number(score['low'])} .. {number(score['high'])}"
        rows.append(
            [f"{name}{unit}", better, number(score["value"]), interval]
            + [number(readings[other].get(name, {}).get("value")) for other in others]
        )
        if score["value"] is None:
            notes.append(f"{name} is absent: {score['reason']}")
    lines = columns(rows, left=(0, 1))
    if max(map(len, lines)) > width:
        lines = columns([[row[0], "", *row[2:]] for row in rows], left=(0, 1))
    if others:
        lines.append("* the primary reading: gates and the headline use it")
    return lines + notes


def _epochs(reporter: Writer, run: Plan, scores: Mapping[str, Any]) -> None:
    epochs = scores.get("epochs")
    if not epochs:
        return
    headline = run.benchmark.headline
    values = [epoch[scores["primary"]].get(headline) for epoch in epochs]
    shown = ", ".join(number(value) for value in values)
    reporter.write_line(f"means over {len(epochs)} epochs; {headline} of each: {shown}")


def _baseline(reporter: Writer, scores: Mapping[str, Any]) -> None:
    baseline = scores.get("baseline")
    if not baseline:
        return
    reporter.write_line("")
    reporter.write_line(
        f"difference to the baseline {baseline['run']} on {baseline['common_samples']} common samples"
    )
    for name, delta in baseline["deltas"].get(scores["primary"], {}).items():
        moved = baseline.get("samples", {}).get(name)
        counts = (
            f"; {moved['better']} better, {moved['worse']} worse, {moved['same']} same"
            if moved
            else ""
        )
        reporter.write_line(f"  {name}  {with_interval(delta, sign=True)}{counts}")


def _gates(reporter: Writer, scores: Mapping[str, Any]) -> None:
    reporter.write_line("")
    for gate in scores["gates"]:
        if gate["passed"] is None:
            reporter.write_line(f"gate not decided: {gate['gate']}", yellow=True)
        elif gate["passed"]:
            reporter.write_line(
                f"gate passed: {gate['gate']} ({number(gate['value'])})", green=True
            )
        else:
            reporter.write_line(f"gate failed: {gate['gate']}: {gate_failure(gate)}", red=True)


def _shown(folder: Path) -> str:
    """The folder as the user would type it."""
    relative = os.path.relpath(folder)
    return relative if not relative.startswith("..") else str(folder)


def line(found: Sequence[Floor], reading: str, metric: str) -> str | None:
    """``floor: builtin:mean 0.0877, builtin:mode 0.5356 (left out: builtin:bigram: …)``.

    Where nobody has the metric (it may need what is not installed), the first one that all have.
    """
    done = [floor for floor in found if not floor.skipped]
    metrics = [metric, *(done[0].readings.get(reading, {}) if done else ())]
    shown: list[str] = []
    for name in metrics:
        values = [(floor.agent, floor.readings.get(reading, {}).get(name)) for floor in done]
        shown = [f"{agent} {number(value)}" for agent, value in values if value is not None]
        if shown:
            metric = f"floor ({name})" if name != metric else "floor"
            break
    left_out = [floor for floor in found if floor.skipped]
    if not shown and not left_out:
        return None
    text = f"{metric}: {', '.join(shown)}" if shown else "floor: not computed"
    if left_out:
        reasons = dict.fromkeys(str(floor.skipped) for floor in left_out)
        names = ", ".join(floor.agent for floor in left_out)
        text += f" (left out: {names}: {'; '.join(reasons)})"
    return text


def failures_text(failed: Sequence[Record], asked: int) -> str:
    """The first failed samples, each with what went wrong."""
    lines = [f"{record.sample}: {record.error}" for record in failed[:10]]
    if asked > 1:
        lines.insert(0, f"{len(failed)} of {asked} samples have no valid answer")
    return "\n".join(lines + (["..."] if len(failed) > 10 else []))
