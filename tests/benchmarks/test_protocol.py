"""What the protocol does for a benchmark that does not say otherwise."""

from __future__ import annotations

import subprocess
import sys

import pytest

import pytest_agentbench
from pytest_agentbench import Benchmark, BenchmarkError, Sample, SampleKey, SampleList
from pytest_agentbench.benchmarks import registry


class Doubling(Benchmark):
    name = "doubling"

    def load(self, settings):
        raise NotImplementedError

    def check(self, sample, answer):
        return answer

    def score_sample(self, sample, answer):
        return {"exact": {"twice": float(answer == 2 * sample.truth)}}

    def score_run(self, dataset, records):
        raise NotImplementedError


def samples(*truths):
    return [Sample(SampleKey("n", str(n)), {"n": n}, truth=n) for n in truths]


def test_the_key_of_a_sample_is_its_name():
    assert str(SampleKey("uid", "80012")) == "uid[80012]"


def test_the_digest_of_a_list_of_samples_follows_its_content():
    digest = SampleList(samples(1, 2), "two").digest
    assert SampleList(samples(1, 2), "other words").digest == digest
    assert SampleList(samples(1, 3), "two").digest != digest


def test_each_sample_is_a_person_of_its_own():
    dataset = SampleList(samples(1, 2), "two")
    assert [dataset.cluster(index) for index in range(2)] == ["1", "2"]
    assert dataset.sample(1).truth == 2
    assert dataset.conditions() == {}


def test_the_truth_is_not_in_the_repr_of_a_sample():
    assert "4711" not in repr(Sample(SampleKey("n", "1"), None, truth=4711))


def test_many_samples_are_scored_one_by_one():
    scores = Doubling().score_samples(samples(1, 2), [2, 5])
    assert [score["exact"]["twice"] for score in scores] == [1.0, 0.0]


@pytest.mark.parametrize(
    ("method", "arguments", "said"),
    [
        ("read_submission", ("x.csv", None, None), "x.csv: doubling has no submission format"),
        ("validate", ("x.csv", {}, None), "x.csv: doubling has no submission format"),
        ("make_dataset", ("out", 0, {}), "doubling cannot make data sets of other data"),
        ("partitioned", (None,), "--engine: doubling cannot be scored on a cluster"),
        ("agent_template", (), "doubling has no template of an agent: .*agent_template.py.txt is"),
    ],
)
def test_what_a_benchmark_does_not_offer_is_said(method, arguments, said):
    with pytest.raises(BenchmarkError, match=said):
        getattr(Doubling(), method)(*arguments)


def test_only_arithmetic_that_may_differ_between_machines_has_a_fingerprint():
    assert Doubling.fingerprint() == ""
    assert len(type(registry.get("humob")).fingerprint()) == 12


def test_the_public_list_is_whole_and_imports_no_numpy():
    assert all(hasattr(pytest_agentbench, name) for name in pytest_agentbench.__all__)
    assert pytest_agentbench.mean([1.0, 4.0], None) == 2.5
    with pytest.raises(AttributeError, match="has no attribute 'median'"):
        _ = pytest_agentbench.median
    code = "import sys, pytest_agentbench; print('numpy' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "False\n"


@pytest.mark.parametrize(
    "name", ["humob", "DailyMobility", "HurricaneMobility", "BehaviorModeling"]
)
def test_the_built_in_benchmarks_have_templates(name):
    compile(registry.get(name).agent_template(), name, "exec")


@pytest.mark.parametrize("name", ["DailyMobility", "HurricaneMobility"])
def test_benchmarks_with_a_city_have_templates_of_agents_that_live_there(name):
    text = registry.get(name).agent_template(ticks=True)
    compile(text, name, "exec")
    assert "def step(self, now)" in text


@pytest.mark.parametrize("name", ["humob", "BehaviorModeling"])
def test_benchmarks_without_a_city_say_so(name):
    with pytest.raises(
        BenchmarkError,
        match=f"--ticks: {name} has no city to live in; its agents answer a context .*new-agent {name}`",
    ):
        registry.get(name).agent_template(ticks=True)


@pytest.mark.parametrize(
    "name", ["humob", "DailyMobility", "HurricaneMobility", "BehaviorModeling"]
)
def test_the_built_in_benchmarks_list_all_metrics_that_a_run_has(project, name):
    """So a gate on any other name can be refused before anything is asked."""
    benchmark = registry.get(name)
    assert benchmark.lists_all_metrics
    project.pytest(f"--benchmark={name}", "--first=2")
    found = {metric for reading in project.scores()["readings"].values() for metric in reading}
    assert found <= {*(metric.name for metric in benchmark.metrics), "coverage"}
