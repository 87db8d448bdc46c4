"""Logging to MLflow, with a local file store."""

from __future__ import annotations

import sys

import pytest
from toy_runs import make_run

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.reports import mlflow as logging
from pytest_agentbench.runs import stored


@pytest.fixture
def run(tmp_path):
    return stored.read(make_run(tmp_path / "run-1", "half"))


def test_metrics_of_all_readings_and_the_primary_by_bare_name(run):
    found = logging.metrics(run.scores)
    assert found["exact/accuracy"] == found["accuracy"] == 0.5
    assert found["lenient/accuracy"] == 0.5
    assert found["accuracy.low"] == run.scores.metric("accuracy").low
    assert "exact/style" not in found
    assert found["gates_failed"] == 0.0


def test_what_models_took_is_a_metric_each(tmp_path):
    use = {"models": ["a", "b"], "calls": 12, "cost": 2.5, "p95": 0.5}
    scores = stored.read(make_run(tmp_path / "run", "half", model_use=use)).scores
    found = logging.metrics(scores)
    assert (found["model_use/calls"], found["model_use/cost"], found["model_use/p95"]) == (
        12,
        2.5,
        0.5,
    )
    assert "model_use/p50" not in found  # nobody knows it


def test_without_mlflow_it_says_what_to_install(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(BenchmarkError, match="pip install mlflow"):
        logging.log_run(run.scores, run.folder)


@pytest.mark.filterwarnings("ignore")  # of MLflow's own
def test_a_run_is_logged_beside_one_that_an_agent_has_open(run, tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow", reason="mlflow keeps the run")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", (tmp_path / "store").as_uri())
    monkeypatch.delenv("MLFLOW_EXPERIMENT_NAME", raising=False)
    with mlflow.start_run() as other:
        first = logging.log_run(run.scores, run.folder)
        second = logging.log_run(run.scores, run.folder)
        assert mlflow.active_run().info.run_id == other.info.run_id
    client = mlflow.MlflowClient()
    logged = client.get_run(first)
    assert logged.data.metrics == logging.metrics(run.scores)
    assert logged.data.params["agent"] == "builtin:half"
    assert logged.data.params["candidate order"] == "seed 0"
    assert (logged.info.run_name, logged.info.status) == ("run-1", "FINISHED")
    assert {file.path for file in client.list_artifacts(first)} == {
        "manifest.json", "records.jsonl", "scores.json",
    }  # fmt: skip
    experiment = client.get_experiment(logged.info.experiment_id)
    assert experiment.name == "agentbench-toysum"
    assert client.get_run(second).info.experiment_id == experiment.experiment_id


@pytest.mark.filterwarnings("ignore")
def test_a_store_that_cannot_be_reached_is_named(run, monkeypatch):
    pytest.importorskip("mlflow", reason="mlflow keeps the run")
    with pytest.raises(BenchmarkError, match=r"run-1 was not logged: "):
        logging.log_run(run.scores, run.folder, "strange://nowhere")
