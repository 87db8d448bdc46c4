"""A finished run read back from its folder: scores, manifest, records, and the data it was made on."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks import registry
from pytest_agentbench.benchmarks.protocol import Benchmark, Dataset
from pytest_agentbench.runs import run_folder
from pytest_agentbench.runs.record import Record
from pytest_agentbench.runs.scores_file import Scores
from pytest_agentbench.settings.settings import Settings


@dataclasses.dataclass(frozen=True)
class StoredRun:
    """A run with scores. Its records are read when they are asked for."""

    folder: Path
    scores: Scores
    manifest: Mapping[str, Any]
    measured: list[Record] | None = None  # its records, if they were measured again
    notes: tuple[str, ...] = ()  # what its files say that its answers do not

    @cached_property
    def records(self) -> list[Record]:
        return run_folder.read_records(self.folder) if self.measured is None else self.measured

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def agent(self) -> str:
        return str(self.scores.agent.name)

    @property
    def started(self) -> str:
        """When it was started, ``2026-11-16 02:44:24``."""
        digits = str(self.manifest.get("started") or "")
        day, _, time = digits.partition("-")
        if len(day) != 8 or len(time) != 6:
            return digits
        return f"{day[:4]}-{day[4:6]}-{day[6:]} {time[:2]}:{time[2:4]}:{time[4:]}"


def read(folder: Path) -> StoredRun:
    """The run in a folder; :class:`BenchmarkError` where it is not one of ours."""
    where = folder / run_folder.SCORES
    scores = Scores.from_json(run_folder.read_json(where, "the scores of a run"), where)
    return StoredRun(folder, scores, run_folder.read_manifest(folder))


def benchmark_of(run: StoredRun) -> Benchmark:
    """The benchmark that made a run: by its registered name, else by the class in the manifest."""
    name = run.scores.benchmark
    known = (run.manifest.get("settings") or {}).get("benchmark_class")
    if registry.match(name) is None and known:
        return registry.get(str(known))
    if registry.match(name) is None:
        raise BenchmarkError(
            f"{run.folder}: expected a run of an installed benchmark "
            f"({', '.join(registry.available())}), got one of {name!r}; install the package that has it"
        )
    return registry.get(name)


def settings_of(run: StoredRun, dataset: str | None = None) -> Settings:
    """The settings of a run, as far as the manifest tells.

    ``dataset`` says where the data lie now, if not where they lay then.
    """
    benchmark = benchmark_of(run)
    given: Mapping[str, Any] = run.manifest.get("settings") or {}
    source = dataset or str(given.get("dataset") or "demo")
    if source not in ("demo", "hub") and not Path(source).exists():
        origin = "--dataset" if dataset else f"{run.folder / run_folder.MANIFEST}: settings.dataset"
        hint = "" if dataset else "; say where the data lie now with --dataset PATH"
        raise BenchmarkError(f"{origin}: expected a path that exists, got {source!r}{hint}")
    return dataclasses.replace(
        Settings.from_manifest(given, benchmark),
        dataset=source if source in ("demo", "hub") else Path(source),
        # What the scores were made with, which --resume may have changed since.
        mode=run.scores.mode,
        reading=run.scores.primary,
        seed=run.scores.seed,
        bases=(Path.cwd(),),
    )


def load_data(run: StoredRun, settings: Settings) -> Dataset:
    """The data of a run, if they are still the same."""
    dataset = settings.benchmark.load(settings)
    then = run.scores.dataset.digest
    if dataset.digest != then:
        raise BenchmarkError(
            f"{settings.dataset}: expected the data on which {run.folder} was made (digest "
            f"{str(then)[:12]}…), got other data ({dataset.digest[:12]}…); say where they lie now "
            "with --dataset PATH"
        )
    for key, value in run.scores.conditions.items():
        if dataset.conditions().get(key) != value:
            raise BenchmarkError(
                f"{run.folder}: its {key} was {value!r}, but loading its data again gives "
                f"{dataset.conditions().get(key)!r}; run it again with this version"
            )
    return dataset
