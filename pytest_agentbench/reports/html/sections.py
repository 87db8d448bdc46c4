"""The sections of report.html above the plots, as HTML. All that comes from outside is escaped here."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from pytest_agentbench.benchmarks.protocol import Benchmark, Metric
from pytest_agentbench.metrics.bootstrap import INTERVAL
from pytest_agentbench.reports.rows import PRIMARY_NOTE, epochs_note, labelled, metric_table
from pytest_agentbench.reports.text import number, signed
from pytest_agentbench.runs.record import STATUSES
from pytest_agentbench.runs.scores_file import Score, Scores
from pytest_agentbench.scoring.compare import to_baseline

MOST_DETAIL = 20_000  # characters of each entry of scores["details"]
_MARKS = {True: ("pass", "✓ passed"), False: ("fail", "✗ failed"), None: ("open", "? not decided")}
_VERDICTS = {
    "better": ("pass", "▲ better"), "worse": ("fail", "▼ worse"),
    "same": ("", "= same"), "unclear": ("open", "≈ unclear"),
}  # fmt: skip
_ARROWS = {"higher": "↑", "lower": "↓"}


def heading(benchmark: Benchmark, scores: Scores) -> str:
    """What was measured, and all that limits what the numbers say."""
    facts = [f"mode {scores.mode}", f"seed {scores.seed}", scores.dataset.description]
    warnings = []
    if scores.partial:
        warnings.append("partial run: not every sample of the data was asked")
    if scores.incomplete:
        warnings.append(f"incomplete: {scores.incomplete}")
    return (
        f"<h1>{escape(benchmark.name)} <span>{escape(str(scores.agent.name or ''))}</span></h1>"
        f'<p class="facts">{escape(" · ".join(map(str, facts)))}</p>'
        + "".join(f'<p class="warning">{escape(text)}</p>' for text in warnings)
    )


def cards(benchmark: Benchmark, scores: Scores) -> str:
    """The headline with its interval, coverage, samples, gates: the report in one look."""
    known = {metric.name: metric for metric in benchmark.metrics}
    headline = scores.metric(benchmark.headline)
    metric = known.get(benchmark.headline) or Metric(benchmark.headline, "higher")
    samples = scores.samples
    failed = [f"{samples.of(s):,} {s}" for s in STATUSES if s != "ok" and samples.of(s)]
    gates = scores.gates
    passed = sum(gate.passed is True for gate in gates)
    verdict = "pass" if passed == len(gates) else "fail"
    if any(gate.passed is None for gate in gates):
        verdict = "open"
    return "".join(
        (
            '<div class="cards">',
            _card(
                f"{benchmark.headline}{_unit(metric)}",
                number(headline.value),
                _under_headline(headline, metric, scores.primary),
                "headline",
            ),
            _card(
                "coverage",
                number(scores.metric("coverage").value),
                escape(f"{samples.ok:,} of {samples.total:,} samples have a valid answer"),
            ),
            _card("samples", f"{samples.total:,}", escape(", ".join(failed) or "all ok")),
            _card("gates", f"{passed} of {len(gates)}", "passed", verdict),
            "</div>",
        )
    )


def _card(title: str, value: str, under: str, kind: str = "") -> str:
    return (
        f'<div class="card {kind}"><h2>{escape(title)}</h2><p class="value">{escape(value)}</p>'
        f'<div class="under">{under}</div></div>'
    )


def _under_headline(score: Score, metric: Metric, reading: str) -> str:
    if score.value is None:
        return f"absent: {escape(score.reason or 'it was not computed')}"
    lines = []
    if score.low is not None:
        lines.append(f"{INTERVAL} {number(score.low)} to {number(score.high)}")
    lines.append(f"reading {reading}, {metric.better} is better")
    return f"{_scale(score, metric)}{'<br>'.join(escape(line) for line in lines)}"


def _scale(score: Score, metric: Metric) -> str:
    """The interval on the metric's whole range, where it has one."""
    if (
        score.value is None
        or metric.low is None
        or metric.high is None
        or metric.high <= metric.low
    ):
        return ""

    def place(value: float) -> float:
        share = (value - metric.low) / (metric.high - metric.low)  # type: ignore[operator]
        return round(100 * min(1.0, max(0.0, share)), 2)

    value = place(score.value)
    low, high = (place(score.value if end is None else end) for end in (score.low, score.high))
    return (
        f'<div class="scale"><i style="left:{low}%;width:{max(high - low, 0.5)}%"></i>'
        f'<b style="left:{value}%"></b></div>'
        f'<div class="ends"><span>{metric.low:g}</span><span>{metric.high:g}</span></div>'
    )


def gates(scores: Scores) -> str:
    """Every gate and what became of it."""
    rows = []
    for gate in scores.gates:
        kind, word = _MARKS[gate.passed]
        why = gate.failure or gate.reason or ""
        if not why and gate.value is not None:
            why = f"got {gate.value:.6g}"
        rows.append(
            f'<tr><td class="{kind}">{word}</td><td><code>{escape(gate.gate)}</code></td>'
            f"<td>{escape(str(why))}</td></tr>"
        )
    return _section("Gates", _table(("result", "gate", ""), rows), "gates") if rows else ""


def readings(benchmark: Benchmark, scores: Scores) -> str:
    """Metrics down, readings across, each with its interval; the primary reading comes first."""
    found = metric_table(scores, benchmark.metrics)
    rows = []
    for row in found.rows:
        metric = row.metric
        about = f"<small>{escape(metric.description)}</small>" if metric.description else ""
        kind = ' class="headline"' if metric.name == benchmark.headline else ""
        rows.append(
            f'<tr{kind}><th scope="row">{escape(row.label)} {_ARROWS[metric.better]}{about}</th>'
            f"{''.join(_cell(score) for score in row.scores)}</tr>"
        )
    head = ["metric", *found.readings]
    note = "↑ higher is better, ↓ lower is better"
    if len(found.readings) > 1:
        head[1] += " *"
        note += f"; {PRIMARY_NOTE}"
    epochs = epochs_note(scores, benchmark.headline)
    notes = [*([epochs] if epochs else []), *_absences(scores), *scores.notes]
    listed = "".join(f"<li>{escape(line)}</li>" for line in notes)
    listed = f'<ul class="notes">{listed}</ul>' if notes else ""
    return _section("Readings", f"{_table(head, rows)}<p>{note}</p>{listed}", "readings")


def _absences(scores: Scores) -> list[str]:
    """Why metrics are absent, each reason once."""
    reasons: dict[str, dict[str, None]] = {}
    for metrics in scores.readings.values():
        for name, score in metrics.items():
            if score.value is None:
                reasons.setdefault(str(score.reason), {})[name] = None
    return [f"absent: {', '.join(names)}: {reason}" for reason, names in reasons.items()]


def _cell(score: Score, sign: bool = False) -> str:
    if score.value is None:
        return f'<td class="number absent">{"absent" if score.reason else "-"}</td>'
    shown = signed(score.value) if sign else number(score.value)
    interval = ""
    if score.low is not None:
        interval = f"<small>{number(score.low)} to {number(score.high)}</small>"
    return f'<td class="number">{shown}{interval}</td>'


def comparison(benchmark: Benchmark, scores: Scores) -> str:
    """The paired differences to the baseline; nothing without one."""
    baseline = scores.baseline
    if baseline is None:
        return ""
    theirs = baseline.readings.get(scores.primary, {})
    rows = []
    for found in to_baseline(scores, benchmark.metrics):
        kind, word = _VERDICTS[found.verdict] if found.value is not None else ("", "")
        delta = Score(found.value, found.low, found.high, found.reason)
        rows.append(
            f'<tr><th scope="row">{escape(labelled(found.metric, found.unit))}</th>'
            f"{_cell(scores.metric(found.metric))}{_cell(theirs.get(found.metric, Score()))}"
            f'{_cell(delta, sign=True)}<td class="{kind}">{word}</td></tr>'
        )
    agent = baseline.agent.name
    about = f"Baseline: {baseline.run}{f' ({agent})' if agent else ''}. "
    about += (
        f"Differences are paired, over {baseline.common_samples:,} common samples, in reading "
        f"{scores.primary}; a difference counts when its {INTERVAL} leaves out zero."
    )
    head = ("metric", "this run", "baseline", "difference", "")
    return _section("Comparison", f"<p>{escape(about)}</p>{_table(head, rows)}", "comparison")


def settings(values: Mapping[str, Any], scores: Scores) -> str:
    """What was asked for, and what the benchmark says beside its scores, both folded away."""
    rows = []
    for name, value in values.items():
        if value is not None and value not in ([], {}):
            shown = value if isinstance(value, str) else json.dumps(value, default=str)
            rows.append(f'<tr><th scope="row">{escape(name)}</th><td>{escape(shown)}</td></tr>')
    for name, value in scores.conditions.items():
        rows.append(
            f'<tr><th scope="row">{escape(str(name))}</th><td>{escape(str(value))}</td></tr>'
        )
    digest = escape(str(scores.dataset.digest))
    rows.append(f'<tr><th scope="row">data digest</th><td>{digest}</td></tr>')
    folded = f"<details><summary>Settings</summary>{_table((), rows)}</details>"
    for name, value in scores.details.items():
        if name != "notes":
            text = json.dumps(value, indent=2, ensure_ascii=False)
            if len(text) > MOST_DETAIL:
                left = len(text) - MOST_DETAIL
                text = f"{text[:MOST_DETAIL]}\n… {left:,} more characters are in scores.json"
            folded += (
                f"<details><summary>{escape(str(name).replace('_', ' '))}</summary>"
                f"<pre>{escape(text)}</pre></details>"
            )
    return _section("Settings and details", folded, "settings")


def _unit(metric: Metric) -> str:
    return f" ({metric.unit})" if metric.unit else ""


def _table(head: Sequence[str], rows: Iterable[str]) -> str:
    top = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    top = f"<thead><tr>{top}</tr></thead>" if head else ""
    return f'<div class="wide"><table>{top}<tbody>{"".join(rows)}</tbody></table></div>'


def _section(title: str, inner: str, name: str) -> str:
    return f'<section id="{name}"><h2>{escape(title)}</h2>{inner}</section>'
