"""Tasks as objects."""

from __future__ import annotations

from pytest_agentbench.agents.websociety.society_tasks import RecommendationTask, SimulationTask


def test_tasks_have_the_published_keys():
    review = SimulationTask(user_id="u", item_id="i").to_dict()
    assert (review["user_id"], review["item_id"]) == ("u", "i")
    ranked = RecommendationTask("u", "book", ("i", "j"), [1, 2]).to_dict()
    assert ranked["candidate_list"] == ["i", "j"]
    assert (ranked["candidate_category"], ranked["loc"]) == ("book", [1, 2])
    assert RecommendationTask("u", "book", []).to_dict()["loc"] == [-1, -1]
    assert review["description"] != ranked["description"]
