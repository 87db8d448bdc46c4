"""Answers that exist already: those of a submission file, or of an earlier run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pytest_agentbench.agents import load, specs
from pytest_agentbench.agents.ask import Outcome
from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks.protocol import Benchmark, Dataset, Sample, Submission
from pytest_agentbench.benchmarks.sources import partitions
from pytest_agentbench.runs import mixed, run_folder
from pytest_agentbench.runs.evaluate import Evaluation, MissingAnswer
from pytest_agentbench.runs.record import Record
from pytest_agentbench.settings.settings import Settings


class Submitted(NamedTuple):
    """A submission and its data that were read elsewhere."""

    dataset: Dataset
    submission: Submission
    agent: load.LoadedAgent


def look_up(answers: Mapping[str, Any], sample: Sample, epoch: int = 1) -> Outcome:
    """What a submission answers."""
    try:
        if isinstance(answers, _RunAnswers):
            return Outcome(answers.of(str(sample.key), epoch))
        return Outcome(answers[str(sample.key)])
    except KeyError:
        return Outcome(error=MissingAnswer("the submission has no answer for this sample"))


def evaluate_submitted(
    evaluation: Evaluation,
    benchmark: Benchmark,
    dataset: Dataset,
    answers: Mapping[str, Any],
    questions: Sequence[tuple[int, int]],
) -> None:
    """Makes the records of what a submission answers to these questions (sample, epoch), all of one epoch.

    What the benchmark does not accept many at once is looked up, checked and measured like any answer.
    """
    indices = [index for index, _ in questions]
    try:
        found = benchmark.score_submitted(dataset, answers, indices)
    except Exception:  # one of them is at fault, and its record will say which
        found = [None] * len(indices)
    for (index, epoch), accepted in zip(questions, found, strict=True):
        if accepted is None:
            sample = dataset.sample(index)
            evaluation.add(sample, look_up(answers, sample, epoch))
        else:
            evaluation.add_accepted(str(dataset.keys[index]), accepted)
    evaluation.measure()


class _RunAnswers(Mapping[str, Any]):
    """The answers of an earlier run, by sample and epoch; each is parsed when it is looked up."""

    def __init__(self, records: Iterable[Record]) -> None:
        self._records = {(r.sample, r.epoch): r for r in records if r.has_answer}

    def of(self, sample: str, epoch: int) -> Any:
        return self._records[sample, epoch].answer

    def __getitem__(self, sample: str) -> Any:
        return self.of(sample, 1)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(sample for sample, _ in self._records))

    def __len__(self) -> int:
        return len({sample for sample, _ in self._records})


def submitted(settings: Settings, dataset: Dataset) -> tuple[Submission, load.LoadedAgent]:
    """The answers of an earlier run or of a submission file, and who gave them."""
    path = settings.submission
    assert path is not None
    folder = path.parent if path.name in (run_folder.SCORES, run_folder.RECORDS) else path
    alone = path.name == run_folder.RECORDS and not (folder / run_folder.MANIFEST).exists()
    if (folder / run_folder.RECORDS).is_file() and not alone:
        manifest = run_folder.read_manifest(folder)
        theirs = manifest.settings
        if theirs.benchmark != settings.benchmark.name:
            raise BenchmarkError(
                f"--submission: expected a run of {settings.benchmark.name}, got one of "
                f"{theirs.benchmark}: {path}"
            )
        if theirs.epochs != settings.epochs:
            raise BenchmarkError(
                f"--submission: expected a run of as many epochs ({settings.epochs}), got one of "
                f"{theirs.epochs}: give --epochs {theirs.epochs}"
            )
        return (
            Submission(_RunAnswers(run_folder.read_records(folder))),
            load.LoadedAgent(mixed.label(manifest.plain), str(manifest.agent.digest)),
        )
    many = settings.benchmark.reads_partitions and partitions.is_partitioned(path)
    if path.is_dir() and not many:
        raise BenchmarkError(f"--submission: expected a file or the folder of a run, got {path}")
    submission = settings.benchmark.read_submission(path, dataset, settings)
    return submission, submitting_agent(path, partitions.table_digest(path))


def submitting_agent(path: Path, digest: str) -> load.LoadedAgent:
    """What stands for the agent where answers come from a file."""
    return load.LoadedAgent(f"{specs.SUBMISSION}{path.name}", digest)
