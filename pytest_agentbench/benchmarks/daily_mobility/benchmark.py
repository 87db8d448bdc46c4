"""The DailyMobility benchmark: a generated population against a real one, as distributions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_agentbench.benchmarks.daily_mobility import (
    answers,
    data,
    diagnostics,
    run_realism,
    scoring,
    submission,
)
from pytest_agentbench.benchmarks.daily_mobility.baselines import BASELINES
from pytest_agentbench.benchmarks.days import realism, realism_panel
from pytest_agentbench.benchmarks.days.lived_day import TICK_TIMEOUT
from pytest_agentbench.benchmarks.days.reference import REFERENCE
from pytest_agentbench.benchmarks.protocol import Benchmark, Dataset, Sample, Submission
from pytest_agentbench.metrics.estimator import Estimator

if TYPE_CHECKING:
    from pytest_agentbench.benchmarks.figures import Figure
    from pytest_agentbench.runs.record import Record
    from pytest_agentbench.settings.settings import Settings


class DailyMobility(Benchmark):
    """Days of city people: how far they go, how many places they see, what they do and when."""

    name = "DailyMobility"
    description = "a day of each person: how far, how many places, what and when"
    modes = ("inference",)
    readings = (*scoring.READINGS, realism.READING)
    lists_all_metrics = True
    metrics = (*scoring.TABLE, *realism.METRICS)
    hub_repository = data.HUB_REPOSITORY
    headline = scoring.FINAL
    baselines = BASELINES
    default_baseline = "commuter"
    parameters = (TICK_TIMEOUT, REFERENCE)

    def load(self, settings: Settings) -> Dataset:
        return data.load(settings)

    def truth_places(self, settings: Settings) -> Sequence[Path]:
        given = data.given_reference(settings)
        return [*super().truth_places(settings), *([] if given is None else [given])]

    def check(self, sample: Sample, answer: Any) -> dict[str, Any]:
        assert isinstance(sample.truth, data.CityForChecks)
        return answers.check(answer, sample.truth.city, sample.truth.source)

    def score_run(self, dataset: Dataset, records: Sequence[Record]) -> Estimator:
        assert isinstance(dataset, data.DailyMobilityDataset)
        return run_realism.RunScores(
            scoring.score_run(dataset.truth, records), lambda: run_realism.of_run(dataset, records)
        )

    def describe(self, dataset: Dataset, records: Sequence[Record]) -> Mapping[str, Any]:
        assert isinstance(dataset, data.DailyMobilityDataset)
        found = diagnostics.describe(dataset.truth, records)
        if not found:
            return found
        lived = run_realism.of_run(dataset, records)
        belongs = [dataset.groups(dataset.index_of[record.sample]) for record in records]
        found["notes"] += realism_panel.notes(lived)
        if (note := run_realism.label_note(records)) is not None:
            found["notes"].append(note)
        return {**found, "realism": realism_panel.panel(lived, belongs)}

    def read_submission(self, path: Path, dataset: Dataset, settings: Settings) -> Submission:
        assert isinstance(dataset, data.DailyMobilityDataset)
        return submission.read_submission(path, dataset)

    def figures(
        self, dataset: Dataset, records: Sequence[Record], scores: Mapping[str, Any]
    ) -> Sequence[Figure]:
        # It imports the plotting library.
        from pytest_agentbench.benchmarks.daily_mobility import figures

        assert isinstance(dataset, data.DailyMobilityDataset)
        return figures.figures(dataset, records, scores)
