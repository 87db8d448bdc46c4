"""Going on with a run that was cut short: what it has answered is kept, what it has not is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_agentbench.agents import specs
from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks.protocol import Benchmark
from pytest_agentbench.runs import mixed, run_folder
from pytest_agentbench.runs.plan import Plan
from pytest_agentbench.runs.record import Record
from pytest_agentbench.settings.settings import OPTIONS, Settings

# What decides only which questions are asked: an answer to one of them stays what it was.
_SELECTING = ("limit", "first", "epochs")


def manifest_of(folder: Path, plan: Plan, new: Mapping[str, Any], anyway: bool) -> dict[str, Any]:
    """The manifest of the earlier run.

    Refused, with what has changed, if the plan asks otherwise. If the user insists, it says what was put
    together (:func:`mixed.counted`).
    """
    old = run_folder.read_manifest(folder)
    changes = _changes(old.plain, new, plan, str(folder / run_folder.MANIFEST))
    if changes and not anyway:
        raise BenchmarkError(
            f"--resume: {folder} was made with other {', '.join(changes.values())}; its answers would "
            "not be those of this run: start a new run, or insist with --resume-anyway"
        )
    found = {**old.plain, "resumed": [*old.resumed, new["started"]]}
    found.pop("shard", None)  # this session may ask another part, or all samples
    found |= {"shard": new["shard"]} if "shard" in new else {}
    if changes:
        found |= {key: new[key] for key in ("settings", "agent", "dataset")}
    mixing = [text for key, text in changes.items() if key not in _SELECTING]
    if mixing:
        found[mixed.KEY] = [*mixed.parts(old.plain), mixed.part(old.plain, mixing)]
    return found


def _changes(
    old: Mapping[str, Any], new: Mapping[str, Any], plan: Plan, file: str
) -> dict[str, str]:
    """What differs, by its key, in words."""
    before, after = (decisive(one, plan.benchmark, file) for one in (old, new))
    return {
        key: key
        if key in (mixed.SOURCE, "data")
        else f"{key} ({before[key]!r}, now {after[key]!r})"
        for key in before
        if before[key] != after[key]
    }


def decisive(manifest: Mapping[str, Any], benchmark: Benchmark, file: str) -> dict[str, Any]:
    """All that decides what is asked and what answers. Gates, workers, concurrency may differ."""
    given = manifest.get("settings") or {}
    agent = manifest.get("agent") or {}
    # A baseline's file changes with every version of its package: its name says what it does.
    is_baseline = specs.baseline_of(str(agent.get("name"))) is not None
    # In this version's form. What the old manifest names is compared, and neither opened nor loaded.
    settings = Settings.from_manifest(given, benchmark, file).as_json()
    deciding = [option.key for option in OPTIONS if option.decides_questions]
    return {
        "agent": agent.get("name"),
        mixed.SOURCE: None if is_baseline else agent.get("digest"),
        "data": (manifest.get("dataset") or {}).get("digest"),
        "benchmark": given.get("benchmark"),
        **{key: settings[key] for key in deciding},
        **settings["parameters"],
    }


def take_up(plan: Plan, records: Sequence[Record], failed_only: bool) -> None:
    """Tells the plan which questions have a valid answer, and which are not to be asked at all."""
    status = {(record.sample, record.epoch): record.status for record in records}
    every = {question for questions in plan.items.values() for question in questions}
    of = {
        question: status.get((str(plan.dataset.keys[question.sample]), question.epoch))
        for question in every
    }
    plan.answered = frozenset(question for question in every if of[question] == "ok")
    if failed_only:
        plan.unasked = frozenset(question for question in every if of[question] is None)
