"""Agents of WebSocietySimulator are called as it calls them."""

from __future__ import annotations

import inspect
import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from agent_shapes import Model, question

from pytest_agentbench.agents.shapes import function_of
from pytest_agentbench.agents.websociety.society_agents import RecommendationAgent, SimulationAgent
from pytest_agentbench.base.errors import BenchmarkError


class Recommender(RecommendationAgent):
    def __init__(self, llm):
        super().__init__(llm=llm)

    def workflow(self):
        threading.Event().wait(0.01)
        json.dumps(self.task)  # plain types alone
        store = self.interaction_tool.get_user(user_id=self.task["user_id"])["store"]
        return [self.task["user_id"], store, self.llm(messages=[{"role": "user"}])]


def test_a_websociety_agent_has_its_task_its_tool_and_its_model():
    function = function_of(Recommender, Model())
    assert not inspect.iscoroutinefunction(function)
    assert function(question("ada")) == ["ada", "ada", "reply"]


def test_a_websociety_task_has_the_keys_that_its_tasks_have():
    class Reader(RecommendationAgent):
        def workflow(self):
            return self.task

    function = function_of(Reader)
    task = function(question("ada", candidate_list=["i"]))
    assert task.pop("description").startswith("Rank")
    assert task == {
        "target": "recommendation", "user_id": "ada", "candidate_list": ["i"], "loc": [-1, -1],
    }  # fmt: skip
    assert function(question("ada", loc=[1, 2]))["loc"] == [1, 2]


def test_a_websociety_task_has_no_keys_of_the_other_track():
    class Reader(RecommendationAgent):
        def workflow(self):
            return sorted(self.task)

    asked = question("ada", item_id=None, candidate_list=["a"])
    assert "item_id" not in function_of(Reader, Model())(asked)
    assert "candidate_list" in function_of(Reader, Model())(asked)


def test_calls_at_once_never_share_a_websociety_agent():
    function = function_of(Recommender, Model())
    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(function, [question(f"u{n}") for n in range(30)]))
    assert answers == [[f"u{n}", f"u{n}", "reply"] for n in range(30)]


def test_a_websociety_agent_that_does_not_ask_needs_no_model():
    class Quiet(SimulationAgent):
        def workflow(self):
            return {"stars": 4.0, "review": self.task["item_id"]}

    answer = function_of(Quiet)(question("ada", target="review_writing", item_id="i1"))
    assert answer == {"stars": 4.0, "review": "i1"}


def test_a_websociety_agent_is_told_of_the_other_track():
    with pytest.raises(BenchmarkError, match=r"answers recommendation, got .* -k recommendation"):
        function_of(Recommender)(question("ada", target="review_writing"))


def test_a_workflow_without_the_base_class_is_taken():
    class Free:
        def workflow(self):
            return self.task["user_id"], self.interaction_tool.user, bool(self.llm)

    assert function_of(Free)(question("ada")) == ("ada", "ada", False)


def test_an_object_cannot_stand_for_the_class():
    with pytest.raises(BenchmarkError, match="expected the class Recommender, got an object"):
        function_of(Recommender(llm=None))
