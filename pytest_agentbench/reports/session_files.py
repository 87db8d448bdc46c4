"""``--agentbench-json`` and ``--agentbench-csv``: the scores of a session in one file for other programs."""

from __future__ import annotations

import csv
import dataclasses
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.runs import run_folder
from pytest_agentbench.runs.record import Record
from pytest_agentbench.runs.scores_file import Scores

SCORE_COLUMNS = (
    "benchmark", "mode", "agent", "reading", "primary", "metric", "value", "low", "high", "reason",
)  # fmt: skip
SAMPLE_COLUMNS = ("benchmark", "agent", "sample", "epoch", "status", "seconds", "error", "answer")

Scored = tuple[Scores, Sequence[Record]]


def write_json(path: Path, scores: Sequence[Scores]) -> None:
    """``{"schema": 1, "runs": [scores.json, …]}``: the same shape for one benchmark and for many."""
    _prepare(path, "--agentbench-json")
    run_folder.write_json(path, {"schema": 1, "runs": [one.as_json() for one in scores]})


def write_csv(path: Path, runs: Sequence[Scored]) -> Path:
    """Scores into ``path``, a row for each metric of each reading; samples into a file beside it.

    Returns the path of the samples: ``scores.csv`` has ``scores.samples.csv`` beside it.
    """
    _prepare(path, "--agentbench-csv")
    beside = path.with_name(f"{path.stem}.samples{path.suffix or '.csv'}")
    _write(path, SCORE_COLUMNS, (row for scores, _ in runs for row in score_rows(scores)))
    measured = sorted({name for _, records in runs for record in records for name in _of(record)})
    rows = (row for scores, records in runs for row in sample_rows(scores, records))
    _write(beside, (*SAMPLE_COLUMNS, *measured), rows)
    return beside


def score_rows(scores: Scores) -> Iterable[dict[str, Any]]:
    for reading, metrics in scores.readings.items():
        for metric, score in metrics.items():
            yield {
                "benchmark": scores.benchmark,
                "mode": scores.mode,
                "agent": scores.agent.label,
                "reading": reading,
                "primary": reading == scores.primary,
                "metric": metric,
                **dataclasses.asdict(score),
            }


def sample_rows(scores: Scores, records: Iterable[Record]) -> Iterable[dict[str, Any]]:
    for record in sorted(records, key=lambda record: (record.sample, record.epoch)):
        yield {
            "benchmark": record.benchmark,
            "agent": scores.agent.label,
            "sample": record.sample,
            "epoch": record.epoch,
            "status": record.status,
            "seconds": record.seconds,
            "error": record.error,
            "answer": json.dumps(record.answer) if record.has_answer else None,
            **_of(record),
        }


def _of(record: Record) -> dict[str, float]:
    return {
        f"{reading}:{metric}": value
        for reading, metrics in record.metrics.items()
        for metric, value in metrics.items()
    }


def _prepare(path: Path, option: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BenchmarkError(f"{option}: expected a file that can be written, got {path}: {error}") from None  # fmt: skip
    if path.is_dir():
        raise BenchmarkError(f"{option}: expected a file, got the folder {path}")


def _write(path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    # An answer may hold what UTF-8 cannot (a lone surrogate): it is written escaped, not lost.
    with path.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
        writer = csv.DictWriter(file, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows({name: _cell(value) for name, value in row.items()} for row in rows)


_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")


def _cell(value: Any) -> Any:
    """A text that a spreadsheet would run as a formula, with an apostrophe before it; numbers as they are.

    >>> _cell("=1+1"), _cell("-1.5"), _cell(-1.5)
    ("'=1+1", '-1.5', -1.5)
    """
    if not isinstance(value, str) or _NUMBER.fullmatch(value):
        return value
    text = value.replace(
        "\r", "\\r"
    )  # which csv leaves bare, and readers take for the end of a row
    return f"'{text}" if value.startswith(_FORMULA) else text
