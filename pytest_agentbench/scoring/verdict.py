"""Whether a run is to be believed: it is finished, its files agree, and all its gates have passed.

This is what ``agentbench check`` says. An exit code can be lost on its way (a pipe, ``|| true``, code in C that ends the
process); the folder of a run tells.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.runs import run_folder, stored
from pytest_agentbench.runs.stored import StoredRun


@dataclass(frozen=True)
class Verdict:
    passed: bool
    reason: str  # for one line


def verdict(folder: Path) -> Verdict:
    """The verdict on the run in a folder. Nothing that the folder names is imported or run."""
    if not (folder / run_folder.SCORES).is_file():
        again = f"it is under way, or was killed: go on with --resume={folder}"
        return Verdict(False, f"not finished (no {run_folder.SCORES}); {again}")
    try:
        run = stored.read(folder)
        problem = _problem(run)
    except BenchmarkError as error:
        return Verdict(False, str(error))
    if problem is not None:
        return Verdict(False, problem)
    samples, gates = run.scores.samples, len(run.scores.gates)
    answers = f"{samples.ok} of {samples.total} samples have a valid answer"
    only = "" if run.scores.shard is None else f"{run.scores.shard}: "
    return Verdict(True, f"{only}{answers}, {gates} of {gates} gates passed")


def _problem(run: StoredRun) -> str | None:
    """The first thing that speaks against a run, or None."""
    folder, scores, records = run.folder, run.scores, len(run.records)
    if scores.incomplete is not None:
        return f"not finished: {scores.incomplete}"
    kept = folder / run_folder.ANSWERS
    if kept.exists():
        return f"not finished: {kept.name} holds answers that are not scored; go on with --resume={folder}"
    problem = stored.log_problem(run)
    if problem is not None:
        return problem
    samples = scores.samples
    failed = [gate for gate in scores.gates if gate.passed is False]
    counted = samples.ok + samples.invalid + samples.error + samples.timeout
    if not failed and (not 0 < samples.total <= records or counted != samples.total):
        return f"the counts do not agree: {samples.total} samples, {counted} with a status, {records} records"
    if not scores.gates:
        return "no gate was decided"
    open_gates = [gate.gate for gate in scores.gates if gate.passed is None]
    if open_gates:
        why = "" if scores.shard is None else f" ({scores.shard.undecided})"
        return f"not decided: {', '.join(open_gates)}{why}"
    if failed:
        return "; ".join(f"gate failed: {gate.gate}: {gate.failure}" for gate in failed)
    if samples.ok < samples.total:  # each is a failed test, so pytest has not passed either
        return f"{samples.total - samples.ok} of {samples.total} samples have no valid answer"
    return None
