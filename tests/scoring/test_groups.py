"""Scores by group: against a run of the group alone, and the group that is served worst."""

from __future__ import annotations

import pytest
from toy_runs import AGENTS
from toybench import ToySum

from pytest_agentbench import Absent, mean
from pytest_agentbench.agents import ask
from pytest_agentbench.benchmarks.protocol import Metric, SampleKey
from pytest_agentbench.metrics import bootstrap
from pytest_agentbench.runs.evaluate import evaluate
from pytest_agentbench.runs.scores_file import Group, Score, Scores
from pytest_agentbench.scoring import groups, scores
from pytest_agentbench.settings.settings import Settings


class Many(ToySum):
    """Forty sums; the agent ``half`` is right for even ones."""

    def load(self, settings):
        dataset = super().load(settings)
        samples = [dataset.sample(n % 12) for n in range(40)]
        made = type(dataset)(
            [
                type(one)(type(one.key)("sum", str(n)), {"a": n, "b": 1}, n + 1)
                for n, one in enumerate(samples)
            ],
            "forty sums",
        )
        made.seed = 0
        made.groups = lambda index: {
            "parity": "even" if index % 2 == 0 else "odd",
            "size": "tiny" if index < 4 else f"tens {index // 10}",
            "same": "for all",
        }
        return made


def scored(agent="half", epochs=1, only=None):
    settings = Settings(
        benchmark=Many(), nodeid="toysum", mode="test", dataset="demo", agent=agent,
        reading="exact", seed=0, epochs=epochs, parameters={"shift": 0},
    )  # fmt: skip
    dataset = settings.benchmark.load(settings)
    indices = range(40) if only is None else only
    samples = [dataset.sample(index) for index in indices]
    records, questions = [], []
    for epoch in range(1, epochs + 1):
        outcomes = [ask.ask(AGENTS[agent], sample.context) for sample in samples]
        records += evaluate(settings.benchmark, samples, outcomes, epoch)[0]
        questions += [(index, epoch) for index in indices]
    return scores.score(settings, dataset, questions, records)


@pytest.mark.parametrize("epochs", [1, 2])
def test_a_group_has_the_scores_of_a_run_of_its_samples_alone(monkeypatch, epochs):
    monkeypatch.setattr(scores, "_GROUP_RESAMPLES", bootstrap.RESAMPLES)
    found = {(g.kind, g.name): g for g in scored(epochs=epochs).groups}
    assert {kind for kind, _ in found} == {"parity", "size"}  # "same" does not divide the samples
    assert found["parity", "even"].samples == 20
    assert found["parity", "odd"].scores["accuracy"].value == 0
    for name, only in {
        ("parity", "even"): range(0, 40, 2),
        ("size", "tens 1"): range(10, 20),
    }.items():
        alone = scored(epochs=epochs, only=only).readings["exact"]
        for metric, score in found[name].scores.items():
            if alone[metric].value is not None:
                assert score.value == pytest.approx(alone[metric].value)
                assert (score.low, score.high) == pytest.approx(
                    (alone[metric].low, alone[metric].high)
                )
    assert found["size", "tens 1"].targets == {"sum": 10}


def test_groups_are_kept_in_the_file():
    result = scored()
    again = Scores.from_json(result.as_json(), "here")
    assert again.groups == result.groups


def test_the_rarest_groups_stand_together():
    class Data:
        keys = [SampleKey("n", str(index)) for index in range(80)]

        def groups(self, index):
            return {"kind": str(index % 30)} if index < 60 else {"kind": "large"}

    found = groups.group_scores(Data(), range(80), lambda places: {"n": Score(float(len(places)))})
    assert [group.name for group in found][:2] == ["large", "0"]
    assert (found[-1].name, found[-1].samples) == (groups.OTHERS, 60 - 2 * (groups.MOST - 2))
    assert len(found) == groups.MOST


GROUPS = (
    Group("source", "yelp", 40, {}, {"hit": Score(0.5), "bias": Score(-0.4)}),
    Group("source", "amazon", 40, {}, {"hit": Score(0.3), "bias": Score(0.2)}),
    Group("source", "books", 3, {}, {"hit": Score(0.0), "bias": Score(3.0)}),
    Group("activity", "few", 12, {}, {"hit": Score(None, reason="no")}),
)


def test_only_samples_that_the_metric_is_about_count():
    few = Group("source", "yelp", 40, {"choose": 9, "write": 31}, {"hit": Score(0.1)})
    many = Group("source", "amazon", 20, {"choose": 10, "write": 10}, {"hit": Score(0.3)})
    chosen = Metric("hit", "higher", target="choose")
    assert groups.worst_group((few, many), chosen) is many
    assert groups.samples_of(many, chosen) == 10
    assert groups.worst_group((few, many), Metric("hit", "higher")) is few


@pytest.mark.parametrize(
    ("metric", "better", "name"),
    [("hit", "higher", "amazon"), ("hit", "lower", "yelp"), ("bias", "zero", "yelp")],
)
def test_the_worst_group_is_large_enough_and_has_the_metric(metric, better, name):
    assert groups.worst_group(GROUPS, Metric(metric, better)).name == name


def test_there_may_be_no_worst_group():
    assert groups.worst_group(GROUPS, Metric("hit", "none")) is None
    assert groups.worst_group(GROUPS, Metric("beauty", "higher")) is None
    assert groups.worst_group((), Metric("hit", "higher")) is None


def test_a_pooled_metric_is_in_no_group(monkeypatch):
    from dataclasses import replace

    marked = tuple(replace(m, pooled=m.name == "distance") for m in Many.metrics)
    monkeypatch.setattr(Many, "metrics", marked)
    assert "distance" not in scored("right").groups[0].scores


def test_a_metric_that_a_group_lacks_says_why(monkeypatch):
    def score_run(self, dataset, records):
        return lambda reading, weights: {
            "accuracy": mean([1.0] * len(records), weights),
            "style": Absent("numbers have no style"),
        }

    monkeypatch.setattr(Many, "score_run", score_run)
    assert scored().groups[0].scores["style"] == Score(None, reason="numbers have no style")
