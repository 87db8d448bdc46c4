"""Scores by the names that WebSocietySimulator's ``evaluate()`` has."""

from __future__ import annotations

from pytest_agentbench.benchmarks.behavior_modeling import simulation
from pytest_agentbench.benchmarks.behavior_modeling.benchmark import BehaviorModeling
from pytest_agentbench.benchmarks.behavior_modeling.scoring import METRICS
from pytest_agentbench.settings.settings import OPTIONS

ABSENT = {"published-0.1.4": dict.fromkeys(METRICS), "documented": dict.fromkeys(METRICS, 0.5)}


def test_reviews_have_three_metrics_of_the_published_reading():
    values = {"preference_estimation": 0.9, "review_generation": 0.7, "overall_quality": 0.8}
    readings = {**ABSENT, "published-0.1.4": {**ABSENT["published-0.1.4"], **values}}
    found = simulation.results("review_writing", readings, 4)
    assert found == {"type": "simulation", "metrics": values}


def test_rates_of_rankings_are_counted_too():
    rates = {"top_1_hit_rate": 1 / 3, "top_3_hit_rate": 2 / 3, "top_5_hit_rate": 1.0}
    values = {**ABSENT["published-0.1.4"], **rates, "average_hit_rate": 2 / 3}
    found = simulation.results("recommendation", {"published-0.1.4": values}, 3)
    assert found == {
        "type": "recommendation",
        "metrics": {
            **rates, "average_hit_rate": 2 / 3, "total_scenarios": 3,
            "top_1_hits": 1, "top_3_hits": 2, "top_5_hits": 3,
        },
    }  # fmt: skip


def test_what_is_absent_is_none():
    found = simulation.results("recommendation", ABSENT, 0)["metrics"]
    assert (found["average_hit_rate"], found["top_1_hits"], found["total_scenarios"]) == (
        None,
        0,
        0,
    )


def test_the_arguments_of_the_simulator_are_settings_or_parameters():
    known = {option.key for option in OPTIONS} | {one.name for one in BehaviorModeling.parameters}
    assert set(simulation.WEB_SOCIETY.keys.values()) <= known
