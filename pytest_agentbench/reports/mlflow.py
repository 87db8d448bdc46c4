"""``--agentbench-mlflow``: a run logged to MLflow, where MLFLOW_TRACKING_URI says."""

from __future__ import annotations

import importlib
import os
import re
from pathlib import Path
from typing import Any

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.runs import run_folder
from pytest_agentbench.runs.scores_file import Scores

ARTIFACTS = (run_folder.MANIFEST, run_folder.SCORES, run_folder.RECORDS, "report.html")
_LONGEST_PARAM = 500  # older servers refuse more


def check_installed() -> None:
    """Says before the first sample, not after the last, that MLflow is not there."""
    try:
        importlib.import_module("mlflow")  # by name: it need not be there where types are checked
    except ImportError as error:
        raise BenchmarkError(
            f"--agentbench-mlflow: expected mlflow to be installed: {error}; pip install mlflow"
        ) from None


def log_run(scores: Scores, folder: Path, tracking_uri: str | None = None) -> str:
    """Logs parameters, every metric of every reading and the run's files; returns MLflow's run id.

    Goes through a client of its own, so that an agent which has a run of MLflow's open keeps it. The
    experiment is ``$MLFLOW_EXPERIMENT_NAME``, else ``agentbench-<benchmark>``.
    """
    check_installed()
    mlflow: Any = importlib.import_module("mlflow")
    try:
        # None means MLFLOW_TRACKING_URI, as everywhere in MLflow.
        client = mlflow.MlflowClient(tracking_uri=tracking_uri)
        name = os.environ.get("MLFLOW_EXPERIMENT_NAME") or f"agentbench-{scores.benchmark}"
        experiment = client.get_experiment_by_name(name)
        key = client.create_experiment(name) if experiment is None else experiment.experiment_id
        run = client.create_run(key, run_name=folder.name, tags=_tags(scores))
        for param, value in _params(scores).items():
            client.log_param(run.info.run_id, param, value)
        for metric, number in metrics(scores).items():
            client.log_metric(run.info.run_id, metric, number)
        for file in ARTIFACTS:
            if (folder / file).is_file():
                client.log_artifact(run.info.run_id, str(folder / file))
        client.set_terminated(run.info.run_id, "FAILED" if scores.incomplete else "FINISHED")
    except mlflow.MlflowException as error:
        raise BenchmarkError(f"--agentbench-mlflow: {folder} was not logged: {error}") from None
    return str(run.info.run_id)


def metrics(scores: Scores) -> dict[str, float]:
    """``2023/geobleu``, ``2023/geobleu.low`` …; the primary reading's also by their bare names."""
    found: dict[str, float] = {}
    for reading, metric, number in scores.numbers():
        found[_name(f"{reading}/{metric}")] = number
        if reading == scores.primary:
            found[_name(metric)] = number
    found["gates_failed"] = float(sum(gate.passed is False for gate in scores.gates))
    return found


def _params(scores: Scores) -> dict[str, str]:
    params = {
        "benchmark": scores.benchmark,
        "mode": scores.mode,
        "reading": scores.primary,
        "seed": scores.seed,
        "agent": scores.agent.label,
        "agent_digest": scores.agent.digest,
        "dataset": scores.dataset.source,
        "data_digest": scores.dataset.digest,
        "samples": scores.samples.total,
        "partial": scores.partial,
        **scores.conditions,
    }
    return {_name(str(key)): str(value)[:_LONGEST_PARAM] for key, value in params.items()}


def _tags(scores: Scores) -> dict[str, str]:
    tags = {"agentbench.benchmark": scores.benchmark}
    if scores.incomplete:
        tags["agentbench.incomplete"] = scores.incomplete
    return tags


def _name(text: str) -> str:
    """Only what MLflow takes in a name."""
    return re.sub(r"[^\w.\- /]", "_", text, flags=re.ASCII)
