"""The HurricaneMobility benchmark: how travel changes while a hurricane passes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.base.files import read_json
from pytest_agentbench.benchmarks.days.lived_day import TICK_TIMEOUT
from pytest_agentbench.benchmarks.hurricane_mobility import answers, data, scoring, set_out
from pytest_agentbench.benchmarks.hurricane_mobility.baselines import BASELINES
from pytest_agentbench.benchmarks.protocol import (
    Benchmark,
    Dataset,
    Metric,
    Parameter,
    Sample,
    Submission,
)
from pytest_agentbench.metrics.estimator import Estimator

if TYPE_CHECKING:
    from pytest_agentbench.benchmarks.figures import Figure
    from pytest_agentbench.runs.record import Record
    from pytest_agentbench.settings.settings import Settings


def _items(value: Any) -> str:
    if value not in data.ITEMS:
        raise ValueError
    return str(value)


class HurricaneMobility(Benchmark):
    """Trips on three days: before, during and after a hurricane."""

    name = "HurricaneMobility"
    description = "trips before, during and after a hurricane"
    modes = ("inference",)
    readings = scoring.READINGS
    lists_all_metrics = True
    metrics = (
        Metric("final_score", "higher", 0.0, 100.0, "", "0.6 change + 0.4 distribution"),
        Metric("change_rate_score", "higher", 0.0, 100.0, "", "how much less they travel"),
        Metric("distribution_score", "higher", 0.0, 100.0, "", "at which hours they travel"),
    )
    hub_repository = data.HUB_REPOSITORY
    headline = "final_score"
    baselines = BASELINES
    default_baseline = "cautious"
    parameters = (
        Parameter("items", "user (an item a person) or population (one item for all)", _items),
        TICK_TIMEOUT,
    )

    def load(self, settings: Settings) -> Dataset:
        return data.load(settings)

    def check(self, sample: Sample, answer: Any) -> dict[str, Any]:
        assert isinstance(sample, data.HurricaneSample)
        whole = sample.key.target == data.POPULATION
        return answers.check(answer, whole, sample.people, sample.city, sample.no_city)

    def score_run(self, dataset: Dataset, records: Sequence[Record]) -> Estimator:
        assert isinstance(dataset, data.HurricaneDataset)
        return scoring.score_run(dataset.truth, records)

    def describe(self, dataset: Dataset, records: Sequence[Record]) -> Mapping[str, Any]:
        assert isinstance(dataset, data.HurricaneDataset)
        found = scoring.describe(dataset.truth, records)
        lived = set_out.describe(dataset, records)
        return {**found, "realism": lived} if lived else found

    def figures(
        self, dataset: Dataset, records: Sequence[Record], scores: Mapping[str, Any]
    ) -> Sequence[Figure]:
        from pytest_agentbench.benchmarks.hurricane_mobility import figures  # for reports only

        assert isinstance(dataset, data.HurricaneDataset)
        return figures.figures(dataset, records, scores)

    def read_submission(self, path: Path, dataset: Dataset, settings: Settings) -> Submission:
        assert isinstance(dataset, data.HurricaneDataset)
        if dataset.items != data.POPULATION:
            raise BenchmarkError(
                f"{path}: a submission holds the trips of all people together; run it with "
                f"`items: {data.POPULATION}` in a scenario"
            )
        content = read_json(path, answers.FORMS)
        return Submission({str(dataset.keys[0]): content})
