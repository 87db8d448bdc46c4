"""A run as an Inspect AI log, read by the real reader where it is installed."""

from __future__ import annotations

import json

import pytest
from toy_runs import make_run

from pytest_agentbench.reports import inspect_log
from pytest_agentbench.runs import stored


def fails_now_and_then(context):
    if context["a"] == 3:
        return "three\ud800"
    return context["a"] + context["b"]


@pytest.fixture
def run(tmp_path):
    return stored.read(make_run(tmp_path / "run", fails_now_and_then, name="my_agent.py"))


def written(tmp_path, run, dataset=None):
    log = inspect_log.inspect_log(run, dataset)
    path = tmp_path / inspect_log.file_name(log)
    path.write_text(json.dumps(log, allow_nan=False))
    return path


def test_the_log_has_every_sample_with_context_answer_and_truth(run):
    dataset, problem = inspect_log.load_context(run, None)
    assert problem is None
    log = inspect_log.inspect_log(run, dataset)
    sample = log["samples"][2]
    assert json.loads(sample["input"]) == {"a": 2, "b": 2}
    assert (sample["target"], sample["id"]) == ("4", "sum[s2]")
    assert sample["scores"]["exact"]["value"] == {"accuracy": 1.0, "distance": 0.0}
    assert log["samples"][3]["error"]["message"].startswith("invalid: expected a whole number")
    assert len(log["samples"]) == 12


def test_without_data_it_says_so_and_has_the_answers(run):
    dataset, problem = inspect_log.load_context(run, "nowhere.csv")
    assert dataset is None
    assert "neither contexts nor truths" in problem
    assert "nowhere.csv" in problem
    log = inspect_log.inspect_log(run, None)
    assert log["samples"][2]["messages"][-1] == {"role": "assistant", "content": "4"}


def test_long_texts_are_cut(tmp_path):
    run = stored.read(make_run(tmp_path / "run", lambda context: "x" * 100_000))
    assert len(json.dumps(inspect_log.inspect_log(run, None))) < 500_000


def test_the_real_reader_opens_it(tmp_path, run):
    reader = pytest.importorskip("inspect_ai.log", reason="inspect_ai reads the log")
    dataset, _ = inspect_log.load_context(run, None)
    path = written(tmp_path, run, dataset)
    (info,) = reader.list_eval_logs(str(tmp_path))  # as `inspect view` finds it
    assert info.task == "toysum"
    log = reader.read_eval_log(str(path))
    assert (log.status, log.eval.task, log.eval.model) == ("success", "toysum", "my_agent.py")
    assert [score.name for score in log.results.scores] == ["exact", "lenient"]
    accuracy = log.results.scores[0].metrics["accuracy"]
    assert accuracy.value == run.scores.metric("accuracy").value
    assert accuracy.metadata["low"] == run.scores.metric("accuracy").low
    assert [s.id for s in log.samples] == [record.sample for record in run.records]
    assert log.samples[2].output.completion == "4"
    assert log.samples[3].error.message.startswith("invalid")
    assert r"\ud800" in log.samples[3].output.completion
    assert len(reader.read_eval_log_sample_summaries(str(path))) == 12
