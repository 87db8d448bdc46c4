"""Runs put together: the shards of one run, or the parts that a matrix of jobs has asked.

What is merged is measured again, and must be of one benchmark, one agent and the same data. What is missing
is named; it never makes the whole smaller.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_agentbench.base.errors import BenchmarkError, shown
from pytest_agentbench.benchmarks.protocol import Dataset
from pytest_agentbench.runs import mixed, resume, run_folder, stored
from pytest_agentbench.runs.plan import Question
from pytest_agentbench.runs.record import Record
from pytest_agentbench.runs.remeasure import remeasured
from pytest_agentbench.runs.scores_file import EVERY_SAMPLE, ONE_AGENT, GateResult
from pytest_agentbench.runs.stored import StoredRun
from pytest_agentbench.scoring.verify import without_answers
from pytest_agentbench.settings import gates
from pytest_agentbench.settings.settings import Settings

ALL_PARTS = "all parts are there"  # the gate that fails where they are not


def check_alike(runs: Sequence[StoredRun]) -> None:
    """Refuses runs that no single session could have made, and a run or shard that is given twice."""
    first = runs[0]
    for run in runs[1:]:
        unlike = _unlike(first, run)
        if unlike:
            raise BenchmarkError(
                f"{run.folder} cannot be merged with {first.folder}: {'; '.join(unlike)}"
            )
    _check_one_division(runs)
    _check_given_once(runs)


def _check_given_once(runs: Sequence[StoredRun]) -> None:
    folders: set[Path] = set()
    shards: dict[int, StoredRun] = {}
    for run in runs:
        if run.folder.resolve() in folders:
            raise BenchmarkError(f"{run.folder}: expected each run once, got it twice")
        folders.add(run.folder.resolve())
        shard = run.scores.shard
        if shard is not None and (other := shards.setdefault(shard.number, run)) is not run:
            raise BenchmarkError(
                f"{run.folder}: expected each shard once, but it is {shard}, and so is {other.folder}"
            )


def _check_one_division(runs: Sequence[StoredRun]) -> None:
    found = {(one.of, one.by): run for run in runs if (one := run.scores.shard) is not None}
    if len(found) > 1:
        said = [f"{run.folder} is {run.scores.shard} ({by})" for (_, by), run in found.items()]
        raise BenchmarkError(
            f"expected shards of one and the same division, got several: {'; '.join(said)}"
        )


def _unlike(first: StoredRun, second: StoredRun) -> list[str]:
    """What differs between two runs and may not, in words."""
    expected, got = first.scores.benchmark, second.scores.benchmark
    if expected != got:  # then all else differs, too
        return [f"expected benchmark {shown(expected)}, got {shown(got)}"]
    before, after = _identity(first), _identity(second)
    return [
        f"expected {key} {_short(before[key])}, got {_short(after[key])}"
        for key in before
        if key in after and before[key] != after[key]
    ]


def _identity(run: StoredRun) -> dict[str, Any]:
    """What must be equal: as for --resume, without paths, which may be others on each machine."""
    benchmark = stored.benchmark_of(run)
    file = str(run.folder / run_folder.MANIFEST)
    found = resume.decisive(run.manifest.plain, benchmark, file)
    del found["submission"]  # the digest of its answers stands for the agent's
    for one in benchmark.parameters:
        if one.is_place(found.get(one.name)):
            del found[one.name]  # the digest of the data tells
    # A run that was killed has no conditions.
    return {**found, "reading": run.scores.primary, **run.scores.conditions}


def _short(value: object) -> str:
    text = str(value)
    return f"{text[:12]}…" if len(text) == 64 and text.isalnum() else shown(value)


def measured(run: StoredRun, settings: Settings, dataset: Dataset) -> StoredRun:
    """The run with records as their answers are; refused if its log is not the one that was scored."""
    problem = (
        None if run.scores.records is None and run.scores.incomplete else stored.log_problem(run)
    )
    if problem is not None:
        raise BenchmarkError(f"{run.folder} cannot be merged: {problem}")
    stored.check_data(run, dataset, settings)
    if without_answers(run):
        raise BenchmarkError(
            f"{run.folder} cannot be merged: its records hold no answers, as those of a run that a cluster "
            "has scored, and cannot be measured again"
        )
    with stored.blamed_on(run):
        again = remeasured(settings.benchmark, dataset, run.records)
    note = again.note(run.folder.name)
    return dataclasses.replace(
        run, measured=again.records, notes=(*run.notes, *([note] if note else []))
    )


def joined(runs: Iterable[StoredRun]) -> dict[tuple[str, int], Record]:
    """The records of all runs by sample and epoch; refused where two answered one question differently."""
    found: dict[tuple[str, int], tuple[StoredRun, Record]] = {}
    for run in runs:
        for record in run.records:
            other, known = found.setdefault((record.sample, record.epoch), (run, record))
            if (known.status, known.answer) != (record.status, record.answer):
                said = (
                    f"{_said(one)} in {of.folder}" for of, one in ((other, known), (run, record))
                )
                epoch = f" (epoch {record.epoch})" if record.epoch > 1 else ""
                raise BenchmarkError(
                    f"{record.sample}{epoch}: expected one answer, got two that differ: {' and '.join(said)}; "
                    "merge one of these runs only"
                )
    return {question: record for question, (_, record) in found.items()}


def _said(record: Record) -> str:
    return shown(record.answer) if record.has_answer else record.status


def missing_parts(
    runs: Sequence[StoredRun],
    asked: Collection[Question],
    recorded: Collection[Question],
    partial: bool,
) -> str | None:
    """Why the runs are not the whole, in words; None where they are.

    ``asked`` is what the whole would have asked. With ``partial`` the runs say it, as far as they can.
    """
    lacking = [*_missing_shards(runs), *_cut_short(runs)]
    if partial:
        return "; ".join([*lacking, *_overlaps(runs, recorded)]) or None
    if not set(asked) - set(recorded):
        return None  # a shard that is missing had nothing to ask
    advice = (
        "the runs do not hold all samples; if no more were to be asked (-k, names of samples), say so "
        "with --partial"
    )
    return "; ".join(lacking) or advice


def _missing_shards(runs: Sequence[StoredRun]) -> list[str]:
    shards = [run.scores.shard for run in runs if run.scores.shard is not None]
    if not shards:
        return []
    missing = sorted(set(range(1, shards[0].of + 1)) - {shard.number for shard in shards})
    return [f"shard {number} of {shards[0].of} is not among the runs" for number in missing]


def _cut_short(runs: Sequence[StoredRun]) -> list[str]:
    return [
        f"{run.folder}{f' ({run.scores.shard})' if run.scores.shard else ''} is not finished: "
        f"{run.scores.incomplete}; go on with it first (--resume={run.folder})"
        for run in runs
        if run.scores.incomplete is not None
    ]


def _overlaps(runs: Sequence[StoredRun], recorded: Collection[Question]) -> list[str]:
    """Shards that were divided in different ways ask some samples twice, and others not at all."""
    if any(run.scores.shard is None or run.scores.incomplete for run in runs):
        return []
    asked = sum(run.scores.samples.total for run in runs)
    if asked == len(recorded):
        return []
    return [
        f"the shards asked {asked} questions, and {len(recorded)} are recorded; were they all divided in the "
        "same way (pytest-split: the same .test_durations)?"
    ]


def failures_of(runs: Iterable[StoredRun]) -> list[GateResult]:
    """Failures of the runs that their records do not show, each once: a submission does not fit the data."""
    found: dict[tuple[str, str | None], GateResult] = {}
    for run in runs:
        for gate in run.scores.gates:
            if gate.passed is False and gate.gate not in (EVERY_SAMPLE, ONE_AGENT, ALL_PARTS):
                try:
                    gates.parse(gate.gate)
                except gates.GateError:
                    found.setdefault((gate.gate, gate.reason), gate)
    return list(found.values())


def gates_of(runs: Iterable[StoredRun]) -> tuple[gates.Gate, ...]:
    """Every gate that one of the runs names."""
    found: dict[str, gates.Gate] = {}
    for run in runs:
        found |= {gate.text: gate for gate in settings_then(run).gates}
    return gates.combine([found.values()])


def settings_then(run: StoredRun) -> Settings:
    """The settings in its manifest, of which nothing is opened."""
    file = str(run.folder / run_folder.MANIFEST)
    return Settings.from_manifest(run.manifest.plain_settings, stored.benchmark_of(run), file)


def manifest(made: Mapping[str, Any], runs: Sequence[StoredRun]) -> dict[str, Any]:
    """The manifest of the merged run: as it was made, with what it was made of."""
    plain = [run.manifest.plain for run in runs]
    confined = {one.get("confinement") for one in plain}
    taken_over = [part for one in plain for part in mixed.parts(one)]
    return {
        **made,
        "confinement": confined.pop() if len(confined) == 1 else None,
        "merged": [_facts(run) for run in runs],
        **({mixed.KEY: taken_over} if taken_over else {}),
    }


def _facts(run: StoredRun) -> dict[str, Any]:
    return {
        "run": run.name,
        "started": run.manifest.started,
        "shard": None if run.scores.shard is None else dataclasses.asdict(run.scores.shard),
        "records": len(run.records),
        "digest": run_folder.records_digest(run.folder),
        "versions": dict(run.manifest.versions),
    }
