"""Records measured again: by their answers, whatever they say."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pytest_agentbench.agents.ask import Outcome
from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.runs import run_folder
from pytest_agentbench.runs.evaluate import evaluate
from pytest_agentbench.runs.remeasure import remeasured

sys.path.append(str(Path(__file__).parents[1] / "toy"))
from toy_runs import right
from toybench import ToySum

BENCHMARK = ToySum()


@pytest.fixture
def dataset():
    from types import SimpleNamespace

    return BENCHMARK.load(SimpleNamespace(dataset="demo", parameters={"shift": 0}, seed=0))


@pytest.fixture
def records(dataset):
    samples = [dataset.sample(index) for index in range(12)]
    return evaluate(BENCHMARK, samples, [Outcome(right(sample.context)) for sample in samples])[0]


def test_honest_records_stay_what_they_are(dataset, records):
    again = remeasured(BENCHMARK, dataset, records)
    assert again.records == records
    assert (again.unlike, again.note("run")) == (0, None)


def test_a_newer_reading_is_added_without_a_word(dataset, records):
    older = [record.changed(metrics={"exact": record.metrics["exact"]}) for record in records]
    again = remeasured(BENCHMARK, dataset, older)
    assert again.records == records
    assert again.unlike == 0


def test_the_rounding_of_another_machine_is_no_difference(dataset, records):
    metrics = {"exact": {"accuracy": 1.0 - 1e-12, "distance": 1e-13}}
    again = remeasured(BENCHMARK, dataset, [records[0].changed(metrics=metrics)])
    assert again.unlike == 0
    assert again.records[0].metrics == records[0].metrics


@pytest.mark.parametrize(
    ("changes", "status", "said"),
    [
        (
            {"metrics": {"exact": {"accuracy": 0.0, "distance": 0.0}}}, "ok",
            "double[s0]: accuracy of exact is 0.0, its answer gives 1",
        ),
        (
            {"metrics": {"best": {"accuracy": 1.0}}}, "ok",
            "double[s0]: accuracy of best is 1.0, its answer gives nothing",
        ),
        (
            {"answer": "zero"}, "invalid",
            "double[s0]: status ok, its answer is invalid (expected a whole number, got 'zero')",
        ),
        (
            {"status": "error", "answer": None}, "error",
            "double[s0]: accuracy of exact is 1.0, its answer gives nothing",
        ),
        ({"sample": "sum[s99]"}, None, "'sum[s99]' is no sample of the data"),
    ],
)  # fmt: skip
def test_what_a_record_says_otherwise_is_counted_and_the_first_is_told(
    dataset, records, changes, status, said
):
    doctored = [records[0].changed(**changes), *records[1:]]
    again = remeasured(BENCHMARK, dataset, doctored)
    assert again.unlike == 1
    assert again.first == said
    assert again.note("run").startswith("run: 1 of ")
    if status is None:
        assert len(again.records) == 11
    else:
        assert again.records[0].status == status
        assert bool(again.records[0].metrics) is (status == "ok")
    assert again.records[-11:] == records[1:]


def test_long_answers_stay_in_the_log(dataset, tmp_path):
    class Long(ToySum):
        def check(self, sample, answer):
            return answer

        def score_sample(self, sample, answer):
            return {"exact": {"accuracy": float(len(answer))}}

    made, _ = evaluate(Long(), [dataset.sample(0)], [Outcome([1] * 5000)])
    log = tmp_path / "records.jsonl"
    log.write_text(f"{made[0].to_json()}\n")
    [logged] = run_folder.read_records(tmp_path)
    [again] = remeasured(Long(), dataset, [logged]).records
    assert again.answer == [1] * 5000
    log.write_text("")
    with pytest.raises(BenchmarkError, match="the file was changed meanwhile"):
        _ = again.answer
