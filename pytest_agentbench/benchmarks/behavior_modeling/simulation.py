"""What WebSocietySimulator's ``evaluate()`` returns, from the scores of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_agentbench.benchmarks.behavior_modeling.measured import HIT_RATES
from pytest_agentbench.benchmarks.behavior_modeling.scoring import PUBLISHED
from pytest_agentbench.benchmarks.behavior_modeling.tasks import RECOMMENDATION
from pytest_agentbench.benchmarks.protocol import Simulation

_OF_REVIEWS = ("preference_estimation", "review_generation", "overall_quality")


def results(
    target: str, readings: Mapping[str, Mapping[str, float | None]], valid: int
) -> dict[str, Any]:
    """``{"type": …, "metrics": {…}}`` by the published names; None where a metric is absent."""
    values = readings[PUBLISHED]
    if target != RECOMMENDATION:
        return {"type": "simulation", "metrics": {name: values[name] for name in _OF_REVIEWS}}
    metrics: dict[str, Any] = {name: values[name] for name in (*HIT_RATES, "average_hit_rate")}
    metrics["total_scenarios"] = valid
    for name in HIT_RATES:
        rate = values[name]
        metrics[name.replace("_hit_rate", "_hits")] = 0 if rate is None else round(rate * valid)
    return {"type": "recommendation", "metrics": metrics}


WEB_SOCIETY = Simulation(
    keys={
        "task_dir": "dataset",
        "groundtruth_dir": "groundtruth",
        "data_dir": "store",
        "device": "device",
    },
    results=results,
)
