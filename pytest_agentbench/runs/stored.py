"""A finished run read back from its folder: scores, manifest, records, and the data it was made on."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

from pytest_agentbench.base.errors import BenchmarkError, shown
from pytest_agentbench.benchmarks import registry
from pytest_agentbench.benchmarks.protocol import Benchmark, Dataset
from pytest_agentbench.benchmarks.sources import partitions
from pytest_agentbench.runs import data_places, run_folder
from pytest_agentbench.runs.manifest_file import Manifest
from pytest_agentbench.runs.record import Record
from pytest_agentbench.runs.scores_file import Scores
from pytest_agentbench.settings.options import parsed
from pytest_agentbench.settings.settings import Settings


@dataclasses.dataclass(frozen=True)
class Named:
    """What the user's own command says about the runs that it reads, beside --dataset."""

    benchmarks: tuple[Benchmark, ...] = ()  # those that are not registered
    parameters: Mapping[str, str] = dataclasses.field(default_factory=dict)


NOTHING = Named()


@dataclasses.dataclass(frozen=True)
class StoredRun:
    """A run with scores. Its records are read when they are asked for."""

    folder: Path
    scores: Scores
    manifest: Manifest
    named: Named = NOTHING
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
        """With its models: two of one agent are two agents here."""
        return self.scores.agent.label

    @property
    def started(self) -> str:
        """When it was started, ``2026-11-16 02:44:24``."""
        digits = self.manifest.started
        day, _, time = digits.partition("-")
        if len(day) != 8 or len(time) != 6:
            return digits
        return f"{day[:4]}-{day[4:6]}-{day[6:]} {time[:2]}:{time[2:4]}:{time[4:]}"


def read(folder: Path, named: Named = NOTHING) -> StoredRun:
    """The run in a folder; :class:`BenchmarkError` where it is not one of ours."""
    where = folder / run_folder.SCORES
    scores = Scores.from_json(run_folder.read_json(where, "the scores of a run"), where)
    return StoredRun(folder, scores, run_folder.read_manifest(folder), named)


def begun(folder: Path, named: Named = NOTHING) -> StoredRun:
    """The run in a folder; also one that was killed before it was scored, which is incomplete."""
    if os.path.lexists(folder / run_folder.SCORES):
        return read(folder, named)
    manifest = run_folder.read_manifest(folder)
    scores = Scores(
        benchmark=str(manifest.settings.benchmark), primary="", readings={"": {}},
        agent=manifest.agent, dataset=manifest.dataset, shard=manifest.shard,
        incomplete=f"it has no {run_folder.SCORES}: it is under way, or was killed",
    )  # fmt: skip
    run = StoredRun(folder, scores, manifest, named)
    where = str(folder / run_folder.MANIFEST)
    then = Settings.from_manifest(manifest.plain_settings, benchmark_of(run), where)
    scores = dataclasses.replace(
        scores, mode=then.mode, seed=then.seed, primary=then.reading, readings={then.reading: {}}
    )
    return dataclasses.replace(run, scores=scores)


def log_problem(run: StoredRun) -> str | None:
    """Why the scores of a run cannot have been made of its log, or None."""
    log = run.scores.records
    if log is None:
        return f"{run_folder.SCORES} does not say which records it was made of: an older version wrote it"
    if (log.count, log.digest) != (len(run.records), run_folder.records_digest(run.folder)):
        return f"{run_folder.RECORDS} is not the file that {run_folder.SCORES} was made of"
    return None


def benchmark_of(run: StoredRun) -> Benchmark:
    """The benchmark that made a run: one that the user names, else by its registered name."""
    name = run.scores.benchmark
    for benchmark in run.named.benchmarks:
        if benchmark.name == name:
            return benchmark
    found = registry.installed(name)
    if found is None:
        said = run.manifest.settings.benchmark_class
        raise BenchmarkError(
            f"{run.folder}: expected a run of an installed benchmark "
            f"({', '.join(registry.available())}), got one of {shown(name)}; install the package that "
            "has it, or name its class with --benchmark package.module:Class"
            f"{f' (its manifest says {shown(said)}, which is not imported unasked)' if said else ''}"
        )
    return found


def settings_of(run: StoredRun, dataset: str | None = None) -> Settings:
    """The settings of a run, as far as the manifest tells.

    ``dataset`` says where the data lie. Code and places come from the user's own commands alone.
    """
    benchmark = benchmark_of(run)
    where = run.folder / run_folder.MANIFEST
    scores = run.scores
    if scores.mode not in benchmark.modes or scores.primary not in benchmark.readings:
        raise BenchmarkError(
            f"{run.folder / run_folder.SCORES}: expected a mode ({', '.join(benchmark.modes)}) and a "
            f"primary reading ({', '.join(benchmark.readings)}) of {benchmark.name}, got "
            f"{shown(scores.mode)} and {shown(scores.primary)}"
        )
    then = Settings.from_manifest(run.manifest.plain_settings, benchmark, str(where))
    recalled = data_places.recalled(then, str(scores.dataset.digest))
    parameters = dict(then.parameters)
    for one in benchmark.parameters:
        if (given := run.named.parameters.get(one.name)) is not None:
            text = f"--parameter {one.name}"
            parameters[one.name] = parsed(one.expected, one.parse, given, text)
        elif recalled is not None and one.name in recalled.parameters:
            parameters[one.name] = recalled.parameters[one.name]
        elif one.is_place(parameters[one.name]):
            raise _not_opened(
                f"{where}: settings.parameters.{one.name}",
                parameters[one.name],
                f"--parameter {one.name}={one.metavar}",
            )
    return dataclasses.replace(
        then,
        dataset=_source(where, then, dataset or (recalled.dataset if recalled else None)),
        parameters=parameters,
        # What the scores were made with, which --resume may have changed since.
        mode=scores.mode,
        reading=scores.primary,
        seed=scores.seed,
        bases=(Path.cwd(),),
    )


def _source(manifest: Path, then: Settings, known: str | None) -> str | Path:
    """The data: where a command of the user's says, those of the package, or the hub's copy here."""
    source = known or str(then.dataset)
    if source == "demo":
        return source
    repository = then.benchmark.hub_repository
    if source == "hub" and repository is not None:
        from pytest_agentbench.benchmarks.sources import hub  # it imports HTTP

        if known is None and not hub.is_here(repository):
            raise BenchmarkError(
                f"{manifest}: its data are the hub's, which are not on this machine: "
                f"`agentbench fetch {then.benchmark.name}`, or say where they lie with --dataset PATH"
            )
        return source
    if known is None:
        raise _not_opened(f"{manifest}: settings.dataset", source, "--dataset PATH")
    if not Path(known).exists() and not partitions.is_pattern(Path(known)):
        raise BenchmarkError(
            f"--dataset: expected a path that exists, got {known!r}; say where the data lie now with "
            "--dataset PATH"
        )
    return Path(known)


def _not_opened(where: str, named: object, advice: str) -> BenchmarkError:
    return BenchmarkError(
        f"{where} names {shown(named)}, which no command of yours has used for these data; a path that "
        f"only the files of a run name is not opened: say where they lie with {advice}"
    )


@contextlib.contextmanager
def blamed_on(*runs: StoredRun) -> Iterator[None]:
    """What a benchmark raises on records that do not fit it, as a mistake in these runs."""
    try:
        yield
    except (BenchmarkError, OSError):
        raise
    except Exception as error:
        folders = " or ".join(dict.fromkeys(str(run.folder) for run in runs))
        raise BenchmarkError(
            f"{folders}: expected records that fit the benchmark and the data, but they raise "
            f"{type(error).__name__}: {shown(str(error))}"
        ) from error


def load_data(run: StoredRun, settings: Settings) -> Dataset:
    """The data of a run, if they are still the same."""
    with blamed_on(run):
        dataset = settings.benchmark.load(settings)
    check_data(run, dataset, settings)
    return dataset


def check_data(run: StoredRun, dataset: Dataset, settings: Settings) -> None:
    """Refuses data that are not those of the run."""
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
                f"{run.folder}: its {key} was {shown(value)}, but loading its data again gives "
                f"{dataset.conditions().get(key)!r}; run it again with this version"
            )
    known = dataset.index_of
    foreign = next((record.sample for record in run.records if record.sample not in known), None)
    if foreign is not None:
        raise BenchmarkError(
            f"{run.folder / run_folder.RECORDS}: expected samples of the data, got {shown(foreign)}"
        )
