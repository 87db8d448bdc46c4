"""The terminal: a header line, progress lines on long runs, and the table at the end."""

from __future__ import annotations

import dataclasses
import os
import shutil
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from pytest_agentbench.metrics.bootstrap import INTERVAL
from pytest_agentbench.reports import model_lines, rows
from pytest_agentbench.reports.text import (
    columns,
    counted,
    duration,
    interval,
    money,
    number,
    rate,
    short,
    with_interval,
)
from pytest_agentbench.runs.plan import Plan
from pytest_agentbench.runs.record import Record
from pytest_agentbench.runs.run_progress import RunProgress
from pytest_agentbench.runs.scores_file import GateResult, Scores
from pytest_agentbench.scoring import compare
from pytest_agentbench.settings.model_options import parted
from pytest_agentbench.settings.sharding import Shard

NOTE_WIDTH = 80  # of the notes under a header, and of what is said about models


def header(run: Plan, agent: str) -> list[str]:
    """What is about to be measured, as what a submission was read, and the data set's notes."""
    asked, all_samples = run.most, len(run.dataset.keys)
    limited = f" of {all_samples}" if asked < all_samples else ""
    most = "up to " if run.draws_late else ""
    data = run.dataset.description.partition(":")[0]
    line = (
        f"agentbench: {parted(run.settings.nodeid)[0]} ({run.settings.mode}), {most}{asked}{limited} samples, "
        f"{data}, {agent}"
    )
    models = _models(run, agent)
    described = "" if run.submission is None else run.submission.described
    submission = [f"submission: {described}"] if described else []
    if run.settings.llm_proxy and run.submission is None:
        submission.append(_proxy_line([entry.model for entry in run.settings.llm]))
    return [
        line,
        *models,
        *submission,
        *(line for note in run.dataset.notes for line in _indented(note)),
    ]


def _models(run: Plan, agent: str) -> list[str]:
    """``model: gpt-4o-mini at https://…``, for an agent that may ask one."""
    asked = run.settings.models_of(agent)
    if not asked:
        return []
    each = [f"{entry.model} at {entry.where}" for entry in run.settings.llm]
    return _indented(f"model{'s' if len(each) > 1 else ''}: {', '.join(each)}")


def _proxy_line(models: Sequence[str]) -> str:
    line = f"model proxy: agents' own clients are served by {', '.join(dict.fromkeys(models))}"
    return line if len(line) <= NOTE_WIDTH else f"{line[: NOTE_WIDTH - 1]}…"


def _indented(note: str) -> list[str]:
    return textwrap.wrap(
        note, NOTE_WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False
    )


def progress_lines(progress: RunProgress, width: int = NOTE_WIDTH) -> list[str]:
    """``humob: 120/300, 118 ok, 2 invalid, geobleu 0.2034 in valid answers, 40/min, 5 min left``

    What the models have used stands in the same line, if that is wide enough, else in one below it.
    """
    done, left = progress.samples, progress.seconds_left
    score = ""
    if progress.headline is not None:
        where = "so far" if done.ok == done.total else "in valid answers"
        score = f"{progress.headline[0]} {number(progress.headline[1])} {where}"
    pace = rate(progress.rate) if progress.rate else ""
    first = [
        f"{progress.run}: {done.total}/{progress.expected}",
        rows.counts(done), score, pace, f"{duration(left)} left" if left else "",
    ]  # fmt: skip
    models = [
        f"{short(progress.tokens)} tokens" if progress.tokens else "",
        f"cost {money(progress.cost)}" if progress.cost is not None else "",
        f"{counted(progress.cache_hits, 'reply', 'replies')} from the cache"
        if progress.cache_hits
        else "",
        f"{counted(progress.in_flight, 'call')} in flight" if progress.in_flight else "",
    ]
    whole = _joined([*first, *models])
    if len(whole) <= width:
        return [whole]
    for least in (pace, score):
        if len(_joined(first)) > width:
            first = [part for part in first if part != least]
    below = _joined(models)
    return [_joined(first), *([f"  {below}"] if below else [])]


def _joined(parts: Sequence[str]) -> str:
    return ", ".join(part for part in parts if part)


class Writer(Protocol):
    """Where a summary is written: pytest's reporter, or what stands for it."""

    def section(self, title: str, sep: str) -> None: ...
    def write_line(self, line: str, **markup: bool) -> None: ...


def summary(
    reporter: Writer, run: Plan, scores: Scores, folder: Path | None, brief: bool = False
) -> None:
    """The section of one run at the end; briefly, a line of it."""
    where = None if folder is None else path_shown(folder)
    headline = scores.headline(run.benchmark.headlines)
    if brief:
        line = f"{run.settings.nodeid}: {headline} {with_interval(scores.metric(headline))}"
        if scores.shard is not None:
            line += f", {scores.shard} (agentbench merge decides its gates)"
        reporter.write_line(f"{line}, run: {where}" if where else line)
        return
    reporter.section(f"agentbench: {run.settings.nodeid}", "=")
    total = scores.samples.total
    facts = f"{total} samples: {rows.counts(scores.samples)}"
    if scores.partial:
        facts += f", partial ({total} of {len(run.dataset.keys) * run.settings.epochs})"
    reporter.write_line(facts)
    if scores.shard is not None:
        reporter.write_line(rows.shard_note(scores.shard), yellow=True)
    reporter.write_line(f"data: {run.dataset.description}")
    reporter.write_line(f"agent: {scores.agent.label}")
    for line in model_lines.lines(scores.model_use):
        for part in _wrapped(line, NOTE_WIDTH):
            reporter.write_line(part)
    if scores.incomplete:
        reporter.write_line(f"incomplete: {scores.incomplete}", yellow=True)
        if where:
            how = "give the same command with"
            if run.marked is not None:
                how = "give the agent and other options as before to"
            reporter.write_line(f"to go on, {how} {run.to_resume(where)}")
    reporter.write_line("")
    width = shutil.get_terminal_size().columns
    first, *beside = rows.metric_tables(scores, run.benchmark.metrics)
    for line in table(first, width):
        reporter.write_line(line)
    for found in beside:
        lines = table_beside(found, first, width)
        for line in ["", *lines, ""] if lines else []:
            reporter.write_line(line)
    epochs = rows.epochs_note(scores, headline)
    if epochs:
        reporter.write_line(epochs)
    worst = rows.worst_group_note(scores, run.benchmark.metrics, headline)
    for note in [*([worst] if worst else []), *scores.notes]:
        for line in _wrapped(note, width):
            reporter.write_line(line)
    _baseline(reporter, run, scores)
    reporter.write_line("")
    for gate in scores.gates:
        _gate(reporter, gate, scores.shard)
    if where:
        reporter.write_line(f"run: {where}")


def table(found: rows.MetricTable, width: int) -> list[str]:
    """Metrics down, readings across; the primary reading comes first and has its interval.

    In a narrow terminal the column that says which direction is better is left out.
    """
    note = [rows.PRIMARY_NOTE] if len(found.readings) > 1 else []
    absent = (line for text in rows.absences(found) for line in _wrapped(text, width))
    return [*_lines(found, found.rows, width, " *" if note else ""), *note, *absent]


def table_beside(found: rows.MetricTable, first: rows.MetricTable, width: int) -> list[str]:
    """Further metrics: those that have a value, and of which one value is better than another.

    Why others are absent is said where the first table has not said it.
    """
    known = {row.scores[0].reason for row in first.rows}
    there = [row for row in found.rows if row.scores[0].value is not None]
    shown = [row for row in there if row.metric.better != "none"]
    unknown = [row for row in found.rows if row not in there and row.scores[0].reason not in known]
    absent = rows.absences(dataclasses.replace(found, rows=tuple(unknown)))
    lines = _lines(found, shown, width) if shown else []
    return [*lines, *(line for text in absent for line in _wrapped(text, width))]


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, subsequent_indent="  ", break_on_hyphens=False)


def _lines(
    found: rows.MetricTable, shown: Sequence[rows.MetricRow], width: int, mark: str = ""
) -> list[str]:
    first, *others = found.readings
    lines = [["metric", "better", f"{first}{mark}", INTERVAL, *others]]
    for row in shown:
        own, *rest = row.scores
        lines.append(
            [
                row.label,
                rows.BETTER[row.metric.better],
                number(own.value),
                interval(own.low, own.high),
            ]
            + [number(score.value) for score in rest]
        )
    wide = columns(lines, left=(0, 1))
    if max(map(len, wide)) <= width:
        return wide
    return columns([[line[0], "", *line[2:]] for line in lines], left=(0, 1))


def _baseline(reporter: Writer, run: Plan, scores: Scores) -> None:
    baseline = scores.baseline
    if baseline is None:
        return
    reporter.write_line("")
    reporter.write_line(
        f"difference to the baseline {baseline.run} on {baseline.common_samples} common samples"
    )
    for difference in compare.to_baseline(scores, run.benchmark.metrics):
        *_, value, ends, verdict = rows.difference_cells(difference)
        line = f"  {difference.metric}  {value}{f' [{ends}]' if ends else ''} {verdict}"
        if difference.value is None:
            line = f"  {difference.metric}  absent ({difference.reason})"
        moved = difference.samples
        if moved is not None:
            line += f"; {moved.better} better, {moved.worse} worse, {moved.same} same"
        reporter.write_line(line)


def _gate(reporter: Writer, gate: GateResult, shard: Shard | None) -> None:
    line = f"gate {rows.GATE_WORDS[gate.passed]}: {gate.gate}"
    if gate.passed is None:
        why = f": {gate.reason}" if shard is not None and gate.reason else ""
        reporter.write_line(f"{line}{why}", yellow=True)
    elif gate.passed:
        reporter.write_line(f"{line} ({number(gate.value)}{gate.place})", green=True)
    else:
        reporter.write_line(f"{line}: {gate.failure}", red=True)


def path_shown(folder: Path) -> str:
    """The folder as the user would type it."""
    relative = os.path.relpath(folder)
    return relative if not relative.startswith("..") else str(folder)


def failures_text(failed: Sequence[Record], asked: int) -> str:
    """The first failed samples, each with what went wrong."""
    lines = [f"{record.sample}: {record.error}" for record in failed[:10]]
    if asked > 1:
        lines.insert(0, f"{len(failed)} of {asked} samples have no valid answer")
    return "\n".join(lines + (["..."] if len(failed) > 10 else []))
