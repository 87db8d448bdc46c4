"""What stands beside the scores, found again by hand."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_agentbench.benchmarks.behavior_modeling import diagnostics
from pytest_agentbench.runs.record import Record

RANKED = ["i1", *(f"i{n}" for n in (0, 2, 3, 4, 5, 6, 7))]  # the true item first


def records(*seconds, usage=None, **statuses):
    made = [Record("b", f"s{n}", "ok", seconds=s, usage=usage or {}) for n, s in enumerate(seconds)]
    for status, count in statuses.items():
        made += [Record("b", f"{status}{n}", status, seconds=9.0) for n in range(count)]
    return made


def test_performance_counts_time_failures_and_tokens():
    made = records(*np.arange(1.0, 8.0), usage={"tokens": 3}, invalid=1, error=2)
    found = diagnostics.performance(made)
    # Ten values, 1 to 7 and three nines: the median lies between the fifth and the sixth.
    assert found["seconds"] == pytest.approx({"p50": 5.5, "p90": 9.0, "p99": 9.0, "max": 9.0})
    assert (found["invalid_rate"], found["error_rate"], found["timeout_rate"]) == (0.1, 0.2, 0.0)
    assert found["usage"] == {"tokens": 21}


def test_nothing_was_asked_nothing_is_known():
    assert diagnostics.performance([]) == {}
    assert diagnostics.chance_rates([]) == {}


def test_chance_is_the_mean_over_lists_of_every_length(folder, load):
    task = {"target": "recommendation", "user_id": "u1", "candidate_category": "product"}
    tasks = [
        {**task, "task_id": n, "candidate_list": [f"i{k}" for k in range(size)], "ground_truth": "i0"}
        for n, size in enumerate((2, 4, 8))
    ]  # fmt: skip
    rates = diagnostics.chance_rates(load(folder(test_tasks=tasks)).tasks)
    by_hand = {
        "top_1_hit_rate": (1 / 2 + 1 / 4 + 1 / 8) / 3,
        "top_3_hit_rate": (1 + 3 / 4 + 3 / 8) / 3,
        "top_5_hit_rate": (1 + 1 + 5 / 8) / 3,
    }
    assert rates == pytest.approx({**by_hand, "average_hit_rate": sum(by_hand.values()) / 3})


def test_a_run_is_broken_down_by_kind_of_task_by_source_and_by_category(folder, load, answered):
    def agent(context):
        ranked = context["target"] == "recommendation"
        return {"item_list": RANKED} if ranked else {"stars": 3.0, "review": "x"}

    items = [{"item_id": f"i{n}", "categories": "Tea, Cups", "type": "product"} for n in range(8)]
    items[2] |= {"categories": None, "type": None, "source": "yelp"}
    dataset = load(folder(item=items))
    made = answered(dataset, agent)
    found = diagnostics.breakdown(dataset, dataset.tasks, made)
    assert {kind: list(groups) for kind, groups in found.items()} == {
        "target": ["recommendation", "review_writing"],
        "source": ["business", "product"],
        "category": ["Tea", "unknown"],
    }
    assert found["source"]["product"]["top_1_hit_rate"] == 1.0
    assert (
        found["source"]["product"]["samples"] == found["target"]["recommendation"]["samples"] == 1
    )
    # Three stars for one: an error of 2 / 5, which the documented reading divides by 5 again.
    assert found["category"]["unknown"]["preference_estimation"] == pytest.approx(1 - 2 / 5 / 5)
    details = diagnostics.describe(dataset, made)
    assert details["breakdown"] == found
    assert details["text_models"] == "none"
    assert details["chance"]["top_1_hit_rate"] == 1 / 8


def test_without_a_truth_nothing_is_broken_down_and_chance_is_known(folder, load, answered):
    dataset = load(folder(inference_tasks_groundtruth=None), mode="inference")
    details = diagnostics.describe(dataset, [Record("b", str(key), "ok") for key in dataset.keys])
    assert "breakdown" not in details
    assert details["notes"] == ["chance: top 1 0.125, top 3 0.375, top 5 0.625, average 0.375"]
