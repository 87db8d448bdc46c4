"""The floor under a score: what the benchmark's built-in agents get on the same samples.

Cheap baselines are computed in this process and kept in the cache. What would take long is left
out, and the report says so: a floor is context, never a reason to wait.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pytest_agentbench import __version__
from pytest_agentbench.agents import ask, captured, specs
from pytest_agentbench.agents.call import LocalAgent
from pytest_agentbench.base.files import cache_folder, write_whole
from pytest_agentbench.benchmarks.protocol import Dataset
from pytest_agentbench.runs.evaluate import evaluate
from pytest_agentbench.runs.record import Record
from pytest_agentbench.runs.scores_file import Floor
from pytest_agentbench.scoring.scores import plain_values
from pytest_agentbench.settings.settings import Settings

MOST_SAMPLES = 2000
MOST_SECONDS = 2.0  # for all baselines together; a later run computes what is left
_PROBE = 10  # samples measured first, to tell how long all would take
_CHUNK = 50
_LONGEST_REASON = 200


def floors(
    settings: Settings,
    dataset: Dataset,
    indices: Sequence[int],
    agent: str = "",
    names: Sequence[str] | None = None,
    most_samples: int = MOST_SAMPLES,
    most_seconds: float = MOST_SECONDS,
) -> list[Floor]:
    """The built-in agents of the benchmark on these samples; the default one first.

    ``agent`` is the one that was measured: no agent is a floor of its own. ``names`` are the
    baselines to measure, by default all. Never raises for what a baseline does, and takes about
    ``most_seconds`` at most.
    """
    default = settings.benchmark.default_baseline
    wanted = settings.benchmark.baselines if names is None else names
    others = [name for name in wanted if specs.builtin(name) != agent]
    names = sorted(others, key=lambda name: name != default)
    if len(indices) > most_samples:
        why = f"{len(indices)} samples, more than {most_samples}"
        return [Floor(specs.builtin(name), skipped=why) for name in names]
    deadline = time.monotonic() + most_seconds
    found = []
    for name in names:
        place = _place(settings, dataset, indices, name)
        floor = _cached(place, most_seconds)
        if floor is None:
            left = deadline - time.monotonic()
            floor = _computed(settings, dataset, indices, name, left)
            slow = floor is None
            if floor is None:
                why = f"not done within {most_seconds:g} s"
                floor = Floor(specs.builtin(name), skipped=why)
            # One that was too slow with the whole time to itself is not tried again; a failed one is.
            if floor.readings or (slow and left > most_seconds * 0.9):
                with contextlib.suppress(OSError):
                    kept = {**asdict(floor), "budget": most_seconds}
                    write_whole(place, json.dumps(kept, allow_nan=False))
        found.append(floor)
    return found


def _computed(
    settings: Settings,
    dataset: Dataset,
    indices: Sequence[int],
    name: str,
    seconds: float,
) -> Floor | None:
    """The floor of one baseline; None where it would take too long."""
    agent = specs.builtin(name)
    started = time.monotonic()
    if seconds <= 0:
        return None
    call = LocalAgent(settings.benchmark.baselines[name])
    try:
        records: list[Record] = []
        probe = list(indices[:_PROBE])
        with captured.kept():  # what a baseline prints is dropped
            for start, part in _chunks(len(probe), indices):
                if start == len(probe):  # the time of the first few tells that of all
                    settings.benchmark.score_run(dataset, records)(settings.reading, None)
                    spent = time.monotonic() - started
                    if spent / len(probe) * len(indices) > 4 * seconds:
                        return None
                records += _records(settings, dataset, part, call)
                if time.monotonic() - started > seconds:
                    return None
            failed = [record for record in records if record.status != "ok"]
            if failed:  # a baseline that does not fit the data is no floor
                why = f"{len(failed)} of {len(records)} samples failed: {failed[0].error}"
                return Floor(agent, skipped=why[:_LONGEST_REASON])
            estimate = settings.benchmark.score_run(dataset, records)
            values = plain_values(estimate, settings.benchmark.readings)
    except Exception as error:  # whatever it is, the run's own score stands
        return Floor(agent, skipped=f"{type(error).__name__}: {error}"[:_LONGEST_REASON])
    finally:
        call.close()
    return Floor(agent, values)


def _chunks(first: int, indices: Sequence[int]) -> list[tuple[int, Sequence[int]]]:
    starts = [0, *range(first, len(indices), _CHUNK)]
    ends = [*starts[1:], len(indices)]
    return [(start, indices[start:end]) for start, end in zip(starts, ends, strict=True)]


def _records(
    settings: Settings, dataset: Dataset, indices: Sequence[int], call: LocalAgent
) -> list[Record]:
    samples = [dataset.sample(index) for index in indices]
    outcomes = [ask.ask(call, sample.context) for sample in samples]
    records, _ = evaluate(settings.benchmark, samples, outcomes)
    return records


def _place(settings: Settings, dataset: Dataset, indices: Sequence[int], name: str) -> Path:
    """The cache file of a floor, named after all that decides it, this version included."""
    decisive: Mapping[str, Any] = {
        "version": __version__,
        "class": f"{type(settings.benchmark).__module__}:{type(settings.benchmark).__qualname__}",
        "mode": settings.mode,
        "digest": dataset.digest,
        "conditions": dict(dataset.conditions()),
        "parameters": {key: str(value) for key, value in settings.parameters.items()},
        "seed": settings.seed,
        "indices": list(indices),
        "baseline": name,
    }
    text = json.dumps(decisive, sort_keys=True)
    return cache_folder() / "floors" / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.json"


def _cached(place: Path, budget: float) -> Floor | None:
    """The floor as it was kept; one that was too slow is tried again with more time than it had."""
    try:
        kept = json.loads(place.read_text(encoding="utf-8"))
        again = kept["skipped"] and budget > kept["budget"]
        return None if again else Floor(kept["agent"], kept["readings"], kept["skipped"])
    except (OSError, ValueError, TypeError, KeyError):
        return None
