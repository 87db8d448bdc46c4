"""The BehaviorModeling benchmark: recommendation and review writing for a known person."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from pytest_agentbench.base import parse
from pytest_agentbench.base.errors import expect
from pytest_agentbench.benchmarks.behavior_modeling import (
    answers,
    data,
    diagnostics,
    extended,
    scoring,
    simulation,
    submission,
)
from pytest_agentbench.benchmarks.behavior_modeling.baselines import BASELINES
from pytest_agentbench.benchmarks.behavior_modeling.corpus.columns import parse_map
from pytest_agentbench.benchmarks.behavior_modeling.tasks import RECOMMENDATION, REVIEW
from pytest_agentbench.benchmarks.protocol import (
    Benchmark,
    Dataset,
    Metric,
    Parameter,
    Sample,
    Simulation,
    Submission,
)
from pytest_agentbench.metrics.estimator import Estimator

if TYPE_CHECKING:
    from pytest_agentbench.benchmarks.figures import Figure
    from pytest_agentbench.runs.record import Record
    from pytest_agentbench.settings.settings import Settings


class BehaviorModeling(Benchmark):
    """What would this person choose, and what would they write about it?"""

    name = "BehaviorModeling"
    description = "which item a person would choose, and how they would review it"
    modes = ("test", "inference")
    readings = scoring.READINGS
    lists_all_metrics = True
    metrics = (
        Metric(
            "top_1_hit_rate",
            "higher",
            0,
            1,
            description="the true item comes first",
            target=RECOMMENDATION,
        ),
        Metric(
            "top_3_hit_rate",
            "higher",
            0,
            1,
            description="the true item is in the first 3",
            target=RECOMMENDATION,
        ),
        Metric(
            "top_5_hit_rate",
            "higher",
            0,
            1,
            description="the true item is in the first 5",
            target=RECOMMENDATION,
        ),
        Metric(
            "average_hit_rate",
            "higher",
            0,
            1,
            description="the mean of the three hit rates",
            target=RECOMMENDATION,
        ),
        Metric(
            "preference_estimation",
            "higher",
            0,
            1,
            description="how near the stars are",
            target=REVIEW,
        ),
        Metric(
            "sentiment_error",
            "lower",
            0,
            1,
            description="difference of VADER's compound",
            target=REVIEW,
        ),
        Metric(
            "emotion_error",
            "lower",
            0,
            0.5,
            description="difference of emotion probabilities",
            target=REVIEW,
        ),
        Metric(
            "topic_error",
            "lower",
            0,
            1,
            description="distance of the texts' embeddings",
            target=REVIEW,
        ),
        Metric(
            "review_generation",
            "higher",
            0,
            1,
            description="1 - the weighted text errors",
            target=REVIEW,
        ),
        Metric(
            "overall_quality", "higher", 0, 1, description="stars and text together", target=REVIEW
        ),
        Metric("final_score", "higher", 0, 100, description="both targets together"),
        *extended.METRICS,
    )
    hub_repository = data.HUB_REPOSITORY
    headline = "final_score"
    # Of a run with one target, without text models, or in the reading `extended`.
    other_headlines = (
        "average_hit_rate", "overall_quality", "preference_estimation", "mrr", "star_mae",
    )  # fmt: skip
    baselines = BASELINES
    default_baseline = "user-category"
    parameters = (
        Parameter(
            "store", "a folder with user.json, item.json and review.json", parse.path,
            metavar="FOLDER",
            help="the folder with user.json, item.json and review.json, where the tasks lie "
            "elsewhere",
        ),
        Parameter(
            "groundtruth", "a folder with groundtruth_N.json, which is not beside tasks/", parse.path
        ),
        Parameter(
            "text_models", "offline, published, none or a folder", parse.path, metavar="SET",
            help="models that score texts: offline, published, none or a folder (default: offline, "
            "if installed)",
            words=("offline", "published", "none"),
        ),
        Parameter(
            "keep_candidate_order", "true or false", parse.yes_or_no, default=False, flag=True,
            help="show candidates in the order of the file, which leaks the answer",
        ),
        Parameter(
            "store_parity", "true or false", parse.yes_or_no, default=False, flag=True,
            help="let the store hide nothing, as the published tool; agents can then read the truth",
        ),
        Parameter(
            "device", "auto, gpu (if there is one), cpu, cuda, cuda:N or mps (for the text models)", parse.text, "auto"
        ),
        Parameter("revision", "a commit, tag or branch of the hub's data set", parse.text, place=True),
    )  # fmt: skip

    simulations: ClassVar[Mapping[str, Simulation]] = {
        "websocietysimulator": simulation.WEB_SOCIETY
    }
    corpus_options = (
        Parameter(
            "reviews", "files or a hub data set", parse.text, metavar="SOURCE",
            help="JSON Lines, CSV or Parquet (a file, a folder, a pattern, hf://…), or a hub data set "
            "(hub:owner/name[@revision][,config][:split])",
        ),
        Parameter("items", "files or a hub data set", parse.text, metavar="SOURCE",
                  help="the items that are reviewed, likewise"),
        Parameter("users", "files or a hub data set", parse.text, metavar="SOURCE",
                  help="the people, likewise (default: only their ids are known)"),
        Parameter("map", "FIELD=COLUMN,…", parse_map, {}, metavar="FIELD=COLUMN,…",
                  help="where user_id, item_id, stars, text, date, review_id and categories are "
                  "(TABLE.FIELD=COLUMN for one source; default: a guess by the columns' names)"),
        Parameter("tasks", "a whole number of at least 2", parse.number(2), 200, metavar="N",
                  help="how many tasks, one half for each target (default: 200)"),
        Parameter("candidates", "a whole number from 2 to 1000", parse.number(2, 1000), 20, metavar="N",
                  help="how many candidates a recommendation has (default: 20)"),
        Parameter("history", "a whole number of at least 1", parse.number(1), 5, metavar="N",
                  help="the least number of known reviews of a person asked about (default: 5)"),
    )  # fmt: skip

    def load(self, settings: Settings) -> Dataset:
        return data.load(settings)

    def truth_places(self, settings: Settings) -> Sequence[Path]:
        return [*super().truth_places(settings), *data.truth_places(settings)]

    def check(self, sample: Sample, answer: Any) -> dict[str, Any]:
        return answers.check(sample, answer)

    def score_sample(self, sample: Sample, answer: Any) -> Mapping[str, Mapping[str, float]]:
        return scoring.score_sample(sample, answer)

    def read_submission(self, path: Path, dataset: Dataset, settings: Settings) -> Submission:
        assert isinstance(dataset, data.BehaviorDataset)
        return submission.read_submission(path, dataset.tasks)

    def submission_text(self, records: Sequence[Record]) -> str:
        return submission.written(records)

    def validate(
        self, path: Path, parameters: Mapping[str, Any], dataset: Path | None
    ) -> Sequence[str]:
        return submission.validate(path, parameters, dataset)

    def make_dataset(self, out: Path, seed: int, options: Mapping[str, Any]) -> Iterable[str]:
        from pytest_agentbench.benchmarks.behavior_modeling.corpus import assemble

        for name in ("reviews", "items"):
            expect(options[name], f"--{name}", "files or a hub data set", options[name])
        named = {name: value for name, value in options.items() if name != "map"}
        return assemble.make(assemble.Wishes(out=out, seed=seed, mapping=options["map"], **named))

    def score_run(self, dataset: Dataset, records: Sequence[Record]) -> Estimator:
        assert isinstance(dataset, data.BehaviorDataset)
        return scoring.score_run(dataset, records)

    def describe(self, dataset: Dataset, records: Sequence[Record]) -> Mapping[str, Any]:
        assert isinstance(dataset, data.BehaviorDataset)
        return diagnostics.describe(dataset, records)

    def figures(
        self, dataset: Dataset, records: Sequence[Record], scores: Mapping[str, Any]
    ) -> Sequence[Figure]:
        # It imports the plotting library.
        from pytest_agentbench.benchmarks.behavior_modeling import figures

        assert isinstance(dataset, data.BehaviorDataset)
        return figures.figures(dataset, records, scores)
