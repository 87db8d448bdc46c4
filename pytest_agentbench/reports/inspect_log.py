"""A run as an Inspect AI log, so that ``inspect view`` shows it; written by hand, without inspect_ai."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.base.plain import jsonable
from pytest_agentbench.benchmarks.protocol import Dataset
from pytest_agentbench.runs import stored
from pytest_agentbench.runs.record import Record
from pytest_agentbench.runs.stored import StoredRun

VERSION = 2  # of Inspect's JSON log format
_LONGEST_TEXT = 8_000  # of a context or an answer: the viewer is for reading
_LONGEST_CELL = 200  # of the answer beside a score
_ROLES = ("system", "user", "assistant")


def inspect_log(run: StoredRun, dataset: Dataset | None) -> dict[str, Any]:
    """The log of a run; without its data the samples show no context and no truth."""
    scores, manifest = run.scores, run.manifest
    created = _created(run)
    samples = [record.sample for record in run.records if record.epoch == 1]
    key = hashlib.sha256(f"{run.name} {created}".encode()).hexdigest()[:22]
    status = "cancelled" if scores.incomplete else "success"
    return {
        "version": VERSION,
        "status": status,
        "eval": {
            "eval_id": key,
            "run_id": key,
            "created": created,
            "task": scores.benchmark,
            "task_id": key,
            "task_version": 0,
            "task_attribs": {},
            "task_args": {"mode": scores.mode, **manifest.settings.parameters},
            "solver": run.agent,
            "dataset": {
                "name": scores.dataset.description,
                "location": scores.dataset.source,
                "samples": len(samples),
                "sample_ids": samples,
                "shuffled": False,
            },
            "model": run.agent,
            "model_args": {},
            "config": {"epochs": max((r.epoch for r in run.records), default=1)},
            "packages": dict(manifest.versions),
            "metadata": {
                "agentbench_run": run.name,
                "data_digest": scores.dataset.digest,
                "agent_digest": scores.agent.digest,
                "conditions": dict(scores.conditions),
                "primary_reading": scores.primary,
            },
        },
        "plan": {"name": "agentbench", "steps": [{"solver": run.agent, "params": {}}]},
        "results": _results(run),
        "stats": {"started_at": created, "completed_at": created},
        "samples": [_sample(record, run.agent, data) for data, record in _with_data(run, dataset)],
    }


def file_name(log: Mapping[str, Any]) -> str:
    """The name by which ``inspect view`` finds a log in its folder: time, task and id."""
    own = log["eval"]
    words = (own["created"], own["task"], own["task_id"])
    return "_".join(re.sub(r"[^A-Za-z0-9-]", "-", str(word)) for word in words) + ".json"


def load_context(run: StoredRun, dataset: str | None) -> tuple[Dataset | None, str | None]:
    """The data of a run for its log, or why they are not there."""
    try:
        return stored.load_data(run, stored.settings_of(run, dataset)), None
    except BenchmarkError as error:
        return None, f"the log has neither contexts nor truths: {error}"


def _created(run: StoredRun) -> str:
    try:
        started = datetime.strptime(run.manifest.started, "%Y%m%d-%H%M%S")
    except ValueError:
        started = datetime.fromtimestamp((run.folder / "scores.json").stat().st_mtime)
    return started.astimezone().isoformat(timespec="seconds")


def _results(run: StoredRun) -> dict[str, Any]:
    scores = run.scores
    ordered = sorted(scores.readings.items(), key=lambda pair: pair[0] != scores.primary)
    return {
        "total_samples": scores.samples.total,
        "completed_samples": scores.samples.ok,
        "scores": [
            {
                "name": reading,
                "scorer": reading,
                "params": {},
                "metrics": {
                    metric: {
                        "name": metric,
                        "value": score.value,
                        "params": {},
                        "metadata": {}
                        if score.low is None
                        else {"low": score.low, "high": score.high},
                    }
                    for metric, score in metrics.items()
                    if score.value is not None
                },
            }
            for reading, metrics in ordered
        ],
        "metadata": {"gates": [dataclasses.asdict(gate) for gate in scores.gates]},
    }


def _with_data(
    run: StoredRun, dataset: Dataset | None
) -> list[tuple[tuple[str, str] | None, Record]]:
    if dataset is None:
        return [(None, record) for record in run.records]
    found: list[tuple[tuple[str, str] | None, Record]] = []
    for record in run.records:
        sample = dataset.sample(dataset.index_of[record.sample])
        found.append(((_text(sample.context), _text(sample.truth)), record))
    return found


def _sample(record: Record, model: str, data: tuple[str, str] | None) -> dict[str, Any]:
    context, truth = data if data is not None else (record.sample, "")
    answer = "" if record.answer is None else _text(record.answer)
    sample: dict[str, Any] = {
        "id": record.sample,
        "epoch": record.epoch,
        "input": context,
        "target": truth,
        "messages": _messages(record, context, answer),
        "output": {
            "model": model,
            "choices": [{"message": _said("assistant", answer), "stop_reason": "stop"}],
            "time": record.seconds,
        },
        "scores": {
            reading: {"value": dict(metrics), "answer": answer[:_LONGEST_CELL]}
            for reading, metrics in record.metrics.items()
        },
        "metadata": {"status": record.status, "usage": dict(record.usage)},
        "total_time": record.seconds,
        "model_usage": _usage(record, model),
    }
    if record.status != "ok":
        message = f"{record.status}: {record.error}"
        sample["error"] = {"message": message, "traceback": message, "traceback_ansi": message}
    return sample


def _messages(record: Record, context: str, answer: str) -> list[dict[str, Any]]:
    """The conversation with the model where it was kept, else question and answer."""
    kept = [m for m in record.messages if m.get("role") in _ROLES]
    if kept:
        return [_said(m["role"], _cut(str(m.get("content")))) for m in kept]
    return [_said("user", context), *([_said("assistant", answer)] if answer else [])]


def _said(role: str, content: str) -> dict[str, Any]:
    return {"role": role, "content": content}


def _usage(record: Record, model: str) -> dict[str, Any]:
    tokens = {
        name: int(record.usage[name])
        for name in ("input_tokens", "output_tokens")
        if name in record.usage
    }
    return {model: {**tokens, "total_tokens": sum(tokens.values())}} if tokens else {}


def _text(value: Any) -> str:
    return _cut(value if isinstance(value, str) else json.dumps(jsonable(value)))


def _cut(text: str) -> str:
    # A lone surrogate cannot be written as UTF-8, which is what Inspect reads.
    plain = text.encode("utf-8", "backslashreplace").decode()
    if len(plain) <= _LONGEST_TEXT:
        return plain
    return f"{plain[:_LONGEST_TEXT]}… ({len(plain)} characters)"
