"""Memory modules keep texts, find the nearest, and ask the model where their kind does."""

from __future__ import annotations

import pytest
from society_model import ScriptedModel

from pytest_agentbench.agents.websociety.memory import (
    Document,
    MemoryBase,
    MemoryDILU,
    MemoryGenerative,
    MemoryTP,
    MemoryVoyager,
    ScenarioMemory,
)


def test_the_store_gives_the_nearest_first_with_squared_distances():
    store = ScenarioMemory(ScriptedModel().get_embedding_model())
    assert store.similarity_search_with_score("a") == []
    store.add_documents([Document("aaa", {"n": 1}), Document("ee", {"n": 2})])
    store.add_texts(["a"], [{"n": 3}])
    assert store._collection.count() == 3
    found = store.similarity_search_with_score("aa", k=2)
    # From (2, 0): "aaa" is at (3, 0) and "a" at (1, 0), both at 1; "ee" at (0, 2) is at 4 + 4.
    assert [(document.page_content, score) for document, score in found] == [("aaa", 1), ("a", 1)]
    assert [d.metadata["n"] for d in store.similarity_search("e", k=3)] == [2, 3, 1]


def test_texts_are_embedded_all_at_once_and_once():
    model = ScriptedModel()
    memory = MemoryDILU(model)
    for text in ("aaa", "eee"):
        memory(f"review:{text}")
    assert model.embedded == []
    memory("a")
    memory.addMemory("iii")
    memory("i")
    assert model.embedded == [["aaa", "eee"], ["a"], ["iii"], ["i"]]


@pytest.mark.parametrize("kind", [MemoryDILU, MemoryGenerative, MemoryTP, MemoryVoyager])
def test_an_empty_memory_says_nothing_and_asks_nobody(kind):
    model = ScriptedModel()
    assert kind(llm=model)("what happened?") == ""
    assert model.asked == []


def test_a_text_with_the_word_is_kept_without_it():
    memory = MemoryDILU(ScriptedModel())
    assert memory("review: aaa") is None
    assert memory("a") == " aaa"


def test_the_generative_memory_takes_the_one_that_helps_most():
    model = ScriptedModel("2", "Score: 9", "I cannot say")
    memory = MemoryGenerative(model)
    for text in ("a", "aa", "aaa", "eeeeeeee"):
        memory.addMemory(text)
    assert memory.retriveMemory("a") == "aa"
    assert len(model.asked) == 3  # of the three nearest alone


def test_a_plan_is_made_of_the_nearest():
    model = ScriptedModel("first this, then that")
    memory = MemoryTP(model)
    memory.addMemory("aaa")
    memory.addMemory("eee")
    assert memory.retriveMemory("a") == "first this, then that"
    assert "aaa" in model.asked[0][0]
    assert "eee" not in model.asked[0][0]


def test_a_text_is_found_by_its_summary():
    model = ScriptedModel("eee", "aaa")
    memory = MemoryVoyager(model)
    memory.addMemory("the first")
    memory.addMemory("the second")
    assert memory.retriveMemory("a") == "the second"


def test_an_agent_may_derive_its_own_and_read_the_store():
    class Own(MemoryBase):
        def __init__(self, llm):
            super().__init__(memory_type="own", llm=llm)

        def addMemory(self, current_situation):
            known = {"task_trajectory": current_situation}
            self.scenario_memory.add_documents([Document(current_situation, known)])

        def retriveMemory(self, query_scenario):
            found = self.scenario_memory.similarity_search_with_score(query_scenario, k=1)
            return found[0][0].metadata["task_trajectory"]

    memory = Own(ScriptedModel())
    memory("review:aaa")
    assert memory("a") == "aaa"
    with pytest.raises(NotImplementedError, match="expected addMemory in MemoryBase"):
        MemoryBase("x", ScriptedModel())("review: x")
