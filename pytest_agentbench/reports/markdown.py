"""A run as Markdown, for ``$GITHUB_STEP_SUMMARY`` and wherever else Markdown is read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from pytest_agentbench.benchmarks.protocol import Metric
from pytest_agentbench.metrics.bootstrap import INTERVAL
from pytest_agentbench.reports.rows import (
    BETTER,
    DIFFERENCE_HEAD,
    GATE_WORDS,
    MetricTable,
    absences,
    counts,
    difference_cells,
    group_table,
    metric_tables,
    shard_note,
)
from pytest_agentbench.reports.text import interval, number
from pytest_agentbench.runs.scores_file import Scores
from pytest_agentbench.scoring.compare import to_baseline


def cell(text: object) -> str:
    """Text that Markdown shows as it is, on one line.

    >>> cell("a|b <b>*x*</b>")
    'a\\\\|b &lt;b&gt;\\\\*x\\\\*&lt;/b&gt;'
    """
    flat = " ".join(str(text).split())
    flat = flat.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    # Only what would change the look: an underscore within a word does not.
    return re.sub(r"([\\`*|\[\]~])|(?<!\w)(_)|(_)(?!\w)", r"\\\1\2\3", flat)


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table whose first column is text and whose others are numbers."""
    rule = "|---|" + "---:|" * (len(head) - 1)
    lines = [f"| {' | '.join(cell(part) for part in row)} |" for row in (head, *rows)]
    return [lines[0], rule, *lines[1:]]


def markdown(
    scores: Scores,
    metrics: Sequence[Metric] = (),
    headline: str | None = None,
    name: str | None = None,
    run: str | None = None,
) -> str:
    """The section of one run: headline, table of all readings, gates, difference to the baseline.

    ``metrics`` (the benchmark's) add direction and unit; ``name`` is the run's node id.
    """
    table, *beside = metric_tables(scores, metrics)
    title = f"agentbench: {name or scores.benchmark}"
    lines = [f"## {cell(title)}", ""]
    score = scores.metric(headline or "")
    if score.value is not None:
        ends = interval(score.low, score.high)
        lines += [f"**{cell(headline)} {number(score.value)}**{f' ({ends})' if ends else ''}", ""]
    lines += [f"- {cell(fact)}" for fact in _facts(scores, run)]
    lines += ["", *_readings(table), ""]
    lines += [f"- {cell(line)}" for line in absences(table)]
    lines += ["", *_gates(scores)]
    for other in beside:
        lines += ["", *_beside(other)]
    by_group = group_table(scores, metrics, headline or "")
    if by_group is not None:
        lines += ["", "<details><summary>groups</summary>", ""]
        lines += [*markdown_table(by_group.head, by_group.rows), "", cell(by_group.note)]
        lines += ["", "</details>"]
    lines += _baseline(scores, metrics)
    return "\n".join(lines).replace("\n\n\n", "\n\n").rstrip("\n") + "\n"


def _facts(scores: Scores, run: str | None) -> list[str]:
    partial = ", partial" if scores.partial else ""
    facts = [
        f"agent: {scores.agent.label}",
        f"{scores.samples.total} samples: {counts(scores.samples)}{partial}",
        f"data: {scores.dataset.description}",
    ]
    if scores.shard is not None:
        facts.append(shard_note(scores.shard))
    if scores.incomplete:
        facts.append(f"incomplete: {scores.incomplete}")
    facts += scores.notes
    if run is not None:
        facts.append(f"run: {run}")
    return facts


def _readings(table: MetricTable, primary: bool = True) -> list[str]:
    head = ["metric", "better"]
    for reading in table.readings:
        head += [reading, INTERVAL]
    if primary and len(table.readings) > 1:
        head[2] += " (primary)"
    rows = []
    for row in table.rows:
        cells = [row.label, BETTER[row.metric.better]]
        for score in row.scores:
            cells += [number(score.value), interval(score.low, score.high)]
        rows.append(cells)
    return markdown_table(head, rows)


def _beside(table: MetricTable) -> list[str]:
    """Further metrics, folded away; without those that are absent, which are named."""
    there = [row for row in table.rows if row.scores[0].value is not None]
    lines = [f"<details><summary>reading {cell(table.readings[0])}</summary>", ""]
    lines += _readings(replace(table, rows=tuple(there)), primary=False) if there else []
    lines += ["", *(f"- {cell(line)}" for line in absences(table))]
    return [*lines, "", "</details>"]


_MARKS = {True: "✅ ", False: "❌ ", None: ""}


def _gates(scores: Scores) -> list[str]:
    rows = [
        [
            gate.gate,
            f"{_MARKS[gate.passed]}{GATE_WORDS[gate.passed]}",
            number(gate.value),
            gate.reason or gate.place.strip(),
        ]
        for gate in scores.gates
    ]
    return markdown_table(["gate", "result", "value", "reason"], rows) if rows else []


def _baseline(scores: Scores, metrics: Sequence[Metric]) -> list[str]:
    baseline = scores.baseline
    if baseline is None:
        return []
    title = (
        f"Difference to the baseline {baseline.run} ({baseline.agent.label}) on "
        f"{baseline.common_samples} common samples"
    )
    lines = ["", f"### {cell(title)}", ""]
    found = [difference_cells(difference) for difference in to_baseline(scores, metrics)]
    rows = [[name, *rest] for name, _, _, *rest in found]
    name, _, _, *head = DIFFERENCE_HEAD
    return lines + (markdown_table([name, *head], rows) if rows else [])
