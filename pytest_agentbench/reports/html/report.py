"""report.html: one self-contained file with scores, plots and samples, opened by double click."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_agentbench.base.files import write_whole
from pytest_agentbench.benchmarks.protocol import metric_named
from pytest_agentbench.metrics.bootstrap import INTERVAL
from pytest_agentbench.reports import rows
from pytest_agentbench.reports.html import page, plots, sample_data
from pytest_agentbench.runs.record import STATUSES
from pytest_agentbench.runs.scores_file import Score
from pytest_agentbench.scoring.compare import to_baseline
from pytest_agentbench.settings.gates import COVERAGE

if TYPE_CHECKING:
    from pytest_agentbench.benchmarks.protocol import Benchmark, Dataset, Metric
    from pytest_agentbench.reports.html.chart_script import ChartScript
    from pytest_agentbench.runs.record import Record
    from pytest_agentbench.runs.scores_file import Scores
    from pytest_agentbench.settings.settings import Settings

MOST_DETAIL = 20_000  # characters of each entry of the benchmark's details
TRUTH_LEFT_OUT = (
    "The truth was left out of this report, with the plots, tables and details that are made of it. The other "
    "files of the run may hold it."
)
_GATES = {True: ("pass", "✓"), False: ("fail", "✗"), None: ("open", "?")}


def write_html(
    path: Path, settings: Settings, dataset: Dataset, scores: Scores, records: Sequence[Record]
) -> None:
    """Writes the report of a finished run, whole or not at all."""
    # An agent's name may hold a lone surrogate, which UTF-8 has no bytes for.
    text = html(settings, dataset, scores, records)
    write_whole(path, text.encode("utf-8", "xmlcharrefreplace"))


def html(settings: Settings, dataset: Dataset, scores: Scores, records: Sequence[Record]) -> str:
    """The report as HTML; ``records`` are shown in the order they are given."""
    benchmark, truth = settings.benchmark, not settings.report_without_truth
    names = [metric.name for metric in benchmark.metrics]
    if not truth:
        records = [sample_data.without_truth(record) for record in records]
    details = sample_data.details(dataset, records, truth)
    drawn = plots.plots(benchmark, dataset, scores, records, truth)
    script = page.file("report.js")
    decided = [gate.passed for gate in scores.gates]
    headline = scores.headline(benchmark.headlines)
    epochs = rows.epochs_note(scores, headline)
    return page.render(
        "report.html",
        title=f"{benchmark.name} · {scores.agent.label}",
        policy=_policy(script, drawn.script),
        benchmark=benchmark,
        scores=scores,
        interval=INTERVAL,
        headline=_headline(benchmark, scores, headline),
        coverage=scores.metric(COVERAGE.metric),
        failed=_failed(scores),
        gates_passed=f"{decided.count(True)} of {len(decided)}",
        gates_kind="open" if None in decided else "pass" if all(decided) else "fail",
        gates=_gates(scores),
        tables=rows.metric_tables(scores, benchmark.metrics),
        groups=rows.group_table(scores, benchmark.metrics, headline),
        benchmark_tables=_tables(scores) if truth else [],
        truth_left_out=TRUTH_LEFT_OUT if not truth else None,
        shard_note=None if scores.shard is None else rows.shard_note(scores.shard),
        primary_note=rows.PRIMARY_NOTE,
        notes=[*([epochs] if epochs else []), *_absences(scores), *scores.notes],
        difference_head=rows.DIFFERENCE_HEAD,
        differences=list(map(rows.difference_cells, to_baseline(scores, benchmark.metrics))),
        plots=drawn,
        capped=_capped(len(records), details, scores.samples.total),
        settings=_settings(settings.as_json(), scores),
        details=_details(scores) if truth else [],
        embedded={
            "table-data": sample_data.embedded(sample_data.table(records, scores.primary, names)),
            "details-data": sample_data.embedded(details),
            "figures-data": drawn.data,
        },
        script=script,
    )


def _policy(script: str, charts: ChartScript | None) -> str:
    """Nothing from the network, and no script but these: a second line of defence after escaping."""
    digests = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()]
    digests += [] if charts is None else [charts.digest]
    hashes = " ".join(f"'sha256-{digest}'" for digest in digests)
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; "
        "img-src data: blob:; font-src data:; base-uri 'none'; form-action 'none'"
    )


def _headline(benchmark: Benchmark, scores: Scores, name: str) -> dict[str, Any]:
    metric = metric_named(benchmark.metrics, name)
    score = scores.metric(name)
    label = rows.labelled(metric.name, metric.unit)
    return {"metric": metric, "score": score, "label": label, "scale": _scale(score, metric)}


def _scale(score: Score, metric: Metric) -> dict[str, Any] | None:
    """The interval in per cent of the metric's range, where it has one."""
    lowest, highest = metric.low, metric.high
    if score.value is None or lowest is None or highest is None or highest <= lowest:
        return None

    def place(value: float) -> float:
        return round(100 * min(1.0, max(0.0, (value - lowest) / (highest - lowest))), 2)

    left, right = (place(score.value if end is None else end) for end in (score.low, score.high))
    return {
        "low": f"{lowest:g}",
        "high": f"{highest:g}",
        "left": left,
        "width": max(right - left, 0.5),
        "mark": place(score.value),
    }


def _failed(scores: Scores) -> str:
    failed = {status: scores.samples.of(status) for status in STATUSES if status != "ok"}
    return ", ".join(f"{count:,} {status}" for status, count in failed.items() if count)


def _gates(scores: Scores) -> list[dict[str, str]]:
    found = []
    for gate in scores.gates:
        kind, mark = _GATES[gate.passed]
        got = "" if gate.value is None else f"got {gate.value:.6g}{gate.place}"
        why = gate.failure or gate.reason or got
        word = f"{mark} {rows.GATE_WORDS[gate.passed]}"
        found.append({"kind": kind, "word": word, "text": gate.gate, "why": why})
    return found


def _absences(scores: Scores) -> list[str]:
    """Why metrics are absent in any reading."""
    absent = (
        (name, score.reason)
        for metrics in scores.readings.values()
        for name, score in metrics.items()
        if score.value is None
    )
    return [f"absent: {names}: {reason}" for reason, names in rows.by_reason(absent).items()]


def _settings(values: Mapping[str, Any], scores: Scores) -> list[tuple[str, str]]:
    """What was asked for, and what else decides whether two runs can be compared."""
    given = [(name, value) for name, value in values.items() if value not in (None, [], {})]
    found = [
        (name, value if isinstance(value, str) else json.dumps(value, default=str))
        for name, value in given
    ]
    found += [(name, str(value)) for name, value in scores.conditions.items()]
    return [*found, ("data digest", str(scores.dataset.digest))]


def _tables(scores: Scores) -> list[dict[str, Any]]:
    """The tables that the benchmark adds; what is not one is left to scores.json."""
    given = scores.details.get("tables")
    return [
        {"title": str(one["title"]), "note": str(one.get("note", "")), "head": one["head"],
         "rows": one["rows"]}
        for one in (given if isinstance(given, list) else [])
        if isinstance(one, dict) and {"title", "head", "rows"} <= one.keys()
    ]  # fmt: skip


def _details(scores: Scores) -> list[tuple[str, str]]:
    """What the benchmark says beside its scores, each entry cut where it is long."""
    found = []
    for name, value in scores.details.items():
        if name not in ("notes", "tables"):
            text = json.dumps(value, indent=2, ensure_ascii=False)
            left = len(text) - MOST_DETAIL
            if left > 0:
                text = f"{text[:MOST_DETAIL]}\n… {left:,} more characters are in scores.json"
            found.append((name.replace("_", " "), text))
    return found


def _capped(rows: int, details: Mapping[str, Any], total: int) -> str:
    """What of the samples is not in the page, in words; nothing if all is there."""
    words = []
    if rows < total:
        words.append(f"{total - rows:,} of {total:,} samples left no record and are not listed.")
    if len(details) < rows:
        words.append(
            f"Texts are here for {len(details):,} of {rows:,} samples (failed ones first, then some "
            "of all others); records.jsonl has all."
        )
    if any(left for texts in details.values() for _, _, left in texts):
        words.append("Long texts are cut to keep this file small; records.jsonl has them whole.")
    return " ".join(words)
