"""A run as Markdown for ``$GITHUB_STEP_SUMMARY``, and its failed gates as GitHub's error lines."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_agentbench.benchmarks.protocol import Metric
from pytest_agentbench.reports.text import interval, number, signed
from pytest_agentbench.runs.record import STATUSES


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
    scores: Mapping[str, Any],
    metrics: Sequence[Metric] = (),
    headline: str | None = None,
    name: str | None = None,
    run: str | None = None,
) -> str:
    """The section of one run: headline, table of all readings, gates, difference to the baseline.

    ``metrics`` (the benchmark's) add direction and unit; ``name`` is the run's node id.
    """
    primary = scores["primary"]
    own: Mapping[str, Any] = scores["readings"][primary]
    title = f"agentbench: {name or scores['benchmark']}"
    lines = [f"## {cell(title)}", ""]
    score = own.get(headline or "")
    if score and score.get("value") is not None:
        ends = interval(score.get("low"), score.get("high"))
        lines += [
            f"**{cell(headline)} {number(score['value'])}**{f' ({ends})' if ends else ''}",
            "",
        ]
    lines += [f"- {cell(fact)}" for fact in _facts(scores, run)]
    lines += ["", *_readings(scores, metrics), ""]
    lines += [
        f"- {cell(metric)} is absent: {cell(found.get('reason'))}"
        for metric, found in own.items()
        if found.get("value") is None
    ]
    lines += ["", *_gates(scores)]
    lines += _baseline(scores)
    return "\n".join(lines).replace("\n\n\n", "\n\n").rstrip("\n") + "\n"


def _facts(scores: Mapping[str, Any], run: str | None) -> list[str]:
    samples = scores["samples"]
    counts = ", ".join(f"{samples[s]} {s}" for s in STATUSES if samples.get(s) or s == "ok")
    facts = [
        f"agent: {(scores.get('agent') or {}).get('name')}",
        f"{samples['total']} samples: {counts}{', partial' if scores.get('partial') else ''}",
        f"data: {(scores.get('dataset') or {}).get('description')}",
    ]
    if scores.get("incomplete"):
        facts.append(f"incomplete: {scores['incomplete']}")
    facts += list((scores.get("details") or {}).get("notes", ()))
    if run is not None:
        facts.append(f"run: {run}")
    return facts


def _readings(scores: Mapping[str, Any], metrics: Sequence[Metric]) -> list[str]:
    primary, readings = scores["primary"], scores["readings"]
    others = [reading for reading in readings if reading != primary]
    known = {metric.name: metric for metric in metrics}
    head = ["metric", "better", f"{primary} (primary)" if others else primary, "95 % interval"]
    for other in others:
        head += [other, "95 % interval"]
    rows = []
    for name, score in readings[primary].items():
        metric = known.get(name)
        unit = f" ({metric.unit})" if metric is not None and metric.unit else ""
        better = "higher" if metric is None else metric.better
        row = [f"{name}{unit}", better]
        for found in (score, *(readings[other].get(name, {}) for other in others)):
            row += [number(found.get("value")), interval(found.get("low"), found.get("high"))]
        rows.append(row)
    return markdown_table(head, rows)


def _gates(scores: Mapping[str, Any]) -> list[str]:
    if not scores.get("gates"):
        return []
    rows = []
    for gate in scores["gates"]:
        word = {True: "✅ passed", False: "❌ failed", None: "not decided"}[gate["passed"]]
        rows.append([gate["gate"], word, number(gate["value"]), gate["reason"] or ""])
    return markdown_table(["gate", "result", "value", "reason"], rows)


def _baseline(scores: Mapping[str, Any]) -> list[str]:
    baseline = scores.get("baseline")
    if not baseline:
        return []
    agent = (baseline.get("agent") or {}).get("name")
    rows = [
        [name, signed(delta.get("value")), interval(delta.get("low"), delta.get("high"), True)]
        for name, delta in (baseline["deltas"].get(scores["primary"]) or {}).items()
    ]
    title = (
        f"Difference to the baseline {baseline['run']} ({agent}) on "
        f"{baseline['common_samples']} common samples"
    )
    lines = ["", f"### {cell(title)}", ""]
    return lines + (markdown_table(["metric", "difference", "95 % interval"], rows) if rows else [])
