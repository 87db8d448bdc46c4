"""The humob benchmark: next weeks' half hours of a person, scored by GEO-BLEU and DTW."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks.humob import (
    answers,
    data,
    editions,
    scoring,
    submission,
    submitted,
    table_cache,
    validate,
)
from pytest_agentbench.benchmarks.humob.baselines import BASELINES
from pytest_agentbench.benchmarks.protocol import (
    Accepted,
    Benchmark,
    Dataset,
    Metric,
    Parameter,
    Partitioned,
    Sample,
    Submission,
)
from pytest_agentbench.metrics.estimator import Estimator

if TYPE_CHECKING:
    from pytest_agentbench.benchmarks.figures import Figure
    from pytest_agentbench.runs.record import Record
    from pytest_agentbench.settings.settings import Settings


def _edition(value: Any) -> str:
    return editions.find_edition(value).name


def _name(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int)) or not str(value).strip():
        raise ValueError
    return str(value).strip()


def _span(value: Any) -> str:
    return str(editions.parse_span(value))


def _weekend(value: Any) -> str:
    parts = value.split(",") if isinstance(value, str) else value
    days = {part.strip() if isinstance(part, str) else part for part in parts}
    if not all(type(day) in (int, str) and str(day) in "0123456" for day in days) or "" in days:
        raise ValueError
    return ",".join(sorted(map(str, days)))


def _team(value: Any) -> str:
    if not isinstance(value, str) or not value.replace("-", "").replace("_", "").isalnum():
        raise ValueError
    return value


class Humob(Benchmark):
    """Human mobility prediction in the format of the HuMob challenges of 2023, 2024 and 2025."""

    name = "humob"
    description = "where a person will be in each half hour of the coming days"
    modes = ("test", "inference")
    readings = scoring.READINGS
    lists_all_metrics = True
    metrics = (
        Metric("geobleu", "higher", 0.0, 1.0, description="likeness of short stretches of a day"),
        Metric("dtw", "lower", 0.0, None, "km", "length of the best alignment of two days"),
    )
    headline = "geobleu"
    baselines = BASELINES
    default_baseline = "mean"
    reads_partitions = True
    parameters = (
        Parameter("edition", f"one of {', '.join(editions.EDITIONS)}", _edition, "2023"),
        Parameter("task", "a task of the edition: 1 or 2 (2023), a city A-D (later)", _name),
        Parameter("city", "a city of the edition (another word for task)", _name),
        Parameter("users", "a range of uids such as 0-999 or [0, 999]", _span),
        Parameter("predict_days", "a range of days such as 60-74 or [60, 74]", _span),
        Parameter("weekend", "days of the week (d % 7) such as 0,6 or [0, 6]", _weekend, "0,6"),
        Parameter("team", "a name of letters, digits, - and _", _team, "agentbench"),
    )

    def load(self, settings: Settings) -> Dataset:
        return data.load(settings)

    def check(self, sample: Sample, answer: Any) -> list[list[int]]:
        return answers.check(sample, answer)

    def score_sample(self, sample: Sample, answer: Any) -> Mapping[str, Mapping[str, float]]:
        return scoring.score_samples([sample], [answer])[0]

    def score_samples(
        self, samples: Sequence[Sample], answers: Sequence[Any]
    ) -> Sequence[Mapping[str, Mapping[str, float]]]:
        return scoring.score_samples(samples, answers)

    def score_submitted(
        self, dataset: Dataset, answers: Mapping[str, Any], indices: Sequence[int]
    ) -> Sequence[Accepted | None]:
        if not isinstance(answers, submission.FileAnswers):  # those of a run
            return super().score_submitted(dataset, answers, indices)
        assert isinstance(dataset, data.HumobDataset)
        accepted = submitted.score_submitted(dataset, answers.table, indices)
        table_cache.let_go(answers.table, dataset.table)
        return accepted

    def score_run(self, dataset: Dataset, records: Sequence[Record]) -> Estimator:
        assert isinstance(dataset, data.AskedUsers)
        return scoring.score_run(records, dataset.truth_known)

    def read_submission(self, path: Path, dataset: Dataset, settings: Settings) -> Submission:
        assert isinstance(dataset, data.HumobDataset)
        return submission.read_submission(path, dataset)

    def partitioned(self, settings: Settings) -> Partitioned:
        from pytest_agentbench.benchmarks.humob.pieces import HumobPartitions

        return HumobPartitions(settings)

    @classmethod
    def fingerprint(cls) -> str:
        return scoring.fingerprint()

    def validate(
        self, path: Path, parameters: Mapping[str, Any], dataset: Path | None
    ) -> Sequence[str]:
        task = parameters["task"] or parameters["city"]
        if task is None:
            edition = editions.find_edition(parameters["edition"])
            tasks = ", ".join(edition.tasks)
            raise BenchmarkError(f"--task: expected a task of {edition.name} ({tasks}), got none")
        return validate.validate(path, parameters["edition"], task, dataset)

    def write_files(self, folder: Path, dataset: Dataset, records: Sequence[Record]) -> None:
        if not dataset.samples_here:  # tables of days need the rows
            return
        assert isinstance(dataset, data.HumobDataset)
        if dataset.truth_known:
            from pytest_agentbench.benchmarks.humob import run_tables

            run_tables.write_tables(folder, dataset, records)
        else:
            submission.write_validated(folder, dataset, records)

    def figures(
        self, dataset: Dataset, records: Sequence[Record], scores: Mapping[str, Any]
    ) -> Sequence[Figure]:
        from pytest_agentbench.benchmarks.humob import figures  # imports the plotting library

        if not isinstance(dataset, data.HumobDataset):
            return ()
        return figures.figures(dataset, records, scores)
