"""Going on with a run that was cut short: what it has answered is kept, what it has not is asked."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.runs import run_folder
from pytest_agentbench.runs.plan import Plan
from pytest_agentbench.runs.record import Record

# Settings that decide what is asked. Others (gates, workers, concurrency) may differ.
_DECISIVE = (
    "benchmark", "mode", "seed", "limit", "epochs", "submission", "parameters", "llm",
    "text_models", "keep_candidate_order",
)  # fmt: skip


@dataclass(frozen=True)
class Earlier:
    """The run that is resumed."""

    folder: Path
    manifest: dict[str, Any]
    records: Sequence[Record]


def load(folder: Path, new: Mapping[str, Any], anyway: bool) -> Earlier:
    """The earlier run, if the new one would ask the same; otherwise an error names what changed."""
    old = run_folder.read_manifest(folder)
    changes = _changes(old, new)
    if changes and not anyway:
        raise BenchmarkError(
            f"--resume: {folder} was made with other {', '.join(changes)}; its answers would not be "
            "those of this run: start a new run, or insist with --resume-anyway"
        )
    manifest = {**old, "resumed": [*old.get("resumed", []), new["started"]]}
    return Earlier(folder, manifest, run_folder.read_records(folder))


def _changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    def of(manifest: Mapping[str, Any]) -> dict[str, Any]:
        settings = manifest.get("settings") or {}
        return {
            "agent": (manifest.get("agent") or {}).get("name"),
            "agent source": (manifest.get("agent") or {}).get("digest"),
            "data": (manifest.get("dataset") or {}).get("digest"),
            **{key: settings.get(key) for key in _DECISIVE},
        }

    before, after = of(old), of(json.loads(json.dumps(new)))
    return [
        key if key in ("agent source", "data") else f"{key} ({before[key]!r}, now {after[key]!r})"
        for key in before
        if before[key] != after[key]
    ]


def take_up(run: Plan, earlier: Earlier, failed_only: bool) -> None:
    """Tells the run which questions have a valid answer, and which are not to be asked at all."""
    status = {(record.sample, record.epoch): record.status for record in earlier.records}
    every = {question for questions in run.items.values() for question in questions}
    of = {
        question: status.get((str(run.dataset.keys[question.sample]), question.epoch))
        for question in every
    }
    run.answered = frozenset(question for question in every if of[question] == "ok")
    if failed_only:
        run.unasked = frozenset(question for question in every if of[question] is None)
