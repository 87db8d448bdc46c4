"""Agents in published shapes, as they are, through real runs: with a model, without one, isolated or not."""

from __future__ import annotations

import sys

import pytest
import society_shapes as shapes

TOKENS = "def count(text):\n    return len(text.split())\n"
REVIEWERS = {
    "baseline": shapes.BASELINE,
    "in a thread": shapes.IN_A_THREAD,
    "in a pool": shapes.IN_A_POOL,
    "own model": shapes.OWN_MODEL,
    "all modules": shapes.ALL_MODULES,
    "async": shapes.ASYNC,
    "leaf": shapes.LEAF,
}
ISOLATION = [
    "none",
    pytest.param(
        "process", marks=pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX")
    ),
]


@pytest.mark.parametrize("shape", REVIEWERS)
def test_reviewers_answer_by_the_model(run, shape):
    result, records = run({"agent.py": REVIEWERS[shape]}, "review_writing")
    assert result.ret == 0
    assert records
    assert all(record["answer"]["review"].startswith("I was told") for record in records)
    assert all(record["usage"]["llm_calls"] >= 1 for record in records)


@pytest.mark.parametrize("shape", ["baseline", "in a thread", "own model", "all modules"])
def test_reviewers_answer_in_a_process_of_their_own(run, shape):
    result, records = run(
        {"agent.py": REVIEWERS[shape]}, "review_writing", "--agent-isolation=process"
    )
    assert result.ret == 0
    assert all(record["answer"]["review"].startswith("I was told") for record in records)


@pytest.mark.parametrize("isolation", ISOLATION)
@pytest.mark.parametrize("shape", ["baseline", "in a thread", "in a pool", "own model", "async"])
def test_without_a_model_no_made_up_answer_passes(run, shape, isolation):
    code = (
        REVIEWERS[shape]
        .replace('self.memory("review: it was good")', "")
        .replace('assert "good" in self.memory.retriveMemory("was it?")', "")
    )
    code = code.replace("self.memory(f", "str(f").replace("self.memory(mine", "str(mine")
    result, records = run(
        {"agent.py": code}, "review_writing", f"--agent-isolation={isolation}", llm=False
    )
    assert result.ret == 1
    assert {record["status"] for record in records} == {"error"}
    for record in records:
        assert "the agent asked for a model, and none is configured" in record["error"]
        assert "agent.py:" in record["error"]
    result.stdout.fnmatch_lines(
        [f"{len(records)} samples: the agent asked for a model, and none is configured"]
    )


def test_calls_that_overlap_are_marked_each_for_itself(run):
    result, records = run(
        {"agent.py": shapes.IN_A_THREAD}, "review_writing", "--concurrency=3", llm=False
    )
    assert result.ret == 1
    assert {record["status"] for record in records} == {"error"}


def test_a_model_that_an_agent_makes_is_the_configured_one(run, server):
    run({"agent.py": shapes.OWN_MODEL}, "review_writing")
    assert {seen["body"]["model"] for seen in server.seen} == {"m", "e"}
    assert {seen["key"] for seen in server.seen} == {None}


@pytest.mark.parametrize("isolation", ISOLATION)
def test_a_recommender_ranks_by_the_model_and_imports_when_it_is_called(run, isolation):
    before = list(sys.path)
    result, records = run(
        {"agent.py": shapes.RECOMMENDER, "tokens_of_this_agent.py": TOKENS},
        "recommendation", f"--agent-isolation={isolation}",
    )  # fmt: skip
    assert result.ret == 0
    assert all(r["answer"]["item_list"] == sorted(r["answer"]["item_list"]) for r in records)
    assert sys.path == before


@pytest.mark.parametrize("isolation", ISOLATION)
def test_the_data_can_be_looked_through_without_what_is_hidden(run, isolation):
    result, records = run(
        {"agent.py": shapes.VIEWS}, "review_writing", f"--agent-isolation={isolation}"
    )
    assert [record["error"] for record in records] == [None] * len(records)
    assert result.ret == 0


@pytest.mark.parametrize("isolation", ISOLATION)
def test_a_file_of_a_package_is_imported_as_one(run, isolation):
    result, records = run(
        shapes.IN_A_PACKAGE, "review_writing", f"--agent-isolation={isolation}",
        agent="repo/solution/agents/agent.py",
    )  # fmt: skip
    assert result.ret == 0
    assert {record["answer"]["review"] for record in records} == {"I was told 14 characters."}


def test_the_published_shape_of_failure_is_invalid_and_shows_the_reply_it_came_from(run):
    result, records = run({"agent.py": shapes.FAILING}, "review_writing")
    assert result.ret == 1
    for record in records:
        assert record["status"] == "invalid"
        assert record["error"].endswith(
            """; the model's last reply ends with "Here it is: ['a', 'b']\""""
        )


def test_a_vendored_package_is_used_and_gets_our_model_and_tool(run):
    vendored = {
        "repo/websocietysimulator/__init__.py": "",
        "repo/websocietysimulator/agent.py": """
class SimulationAgent:
    vendored = True
    def __init__(self, llm): self.llm = llm
    def set_interaction_tool(self, tool): self.interaction_tool = tool
    def insert_task(self, task): self.task = task.to_dict()
""",
        "repo/example/agent.py": """
from websocietysimulator.agent import SimulationAgent
class Mine(SimulationAgent):
    def workflow(self):
        vectors = self.llm.get_embedding_model().embed_documents(["aa", "e"])
        pair = self.task["user_id"], self.task["item_id"]
        assert pair not in [(r["user_id"], r["item_id"]) for r in self.interaction_tool.get_reviews(item_id=pair[1])]
        return {"stars": 4.0, "review": f"{self.vendored} {vectors}"}
""",
    }
    result, records = run(vendored, "review_writing", agent="repo/example/agent.py")
    assert result.ret == 0
    expected = "True [[2.0, 0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0, 0.0]]"
    assert {record["answer"]["review"] for record in records} == {expected}


@pytest.mark.parametrize("isolation", ISOLATION)
def test_a_vendored_package_that_lacks_what_it_needs_is_stood_in_for(run, isolation):
    vendored = {
        "repo/websocietysimulator/__init__.py": "import nothing_like_openai\n",
        "repo/websocietysimulator/llm/__init__.py": "",
        "repo/websocietysimulator/agent/modules/our_own.py": (
            "from .reasoning_modules import ReasoningIO\nclass Ours(ReasoningIO): ...\n"
        ),
        "repo/example/agent.py": """
from websocietysimulator.agent import SimulationAgent
from websocietysimulator.llm import ClaudeLLM
from websocietysimulator.agent.modules.our_own import Ours
class Mine(SimulationAgent):
    def workflow(self):
        text = Ours(profile_type_prompt="", memory=None, llm=ClaudeLLM(api_key="k"))("Write.")
        return {"stars": 4.0, "review": text}
""",
    }
    result, records = run(
        vendored, "review_writing", f"--agent-isolation={isolation}", agent="repo/example/agent.py"
    )
    assert result.ret == 0
    assert all("I was told" in record["answer"]["review"] for record in records)
    result.stdout.fnmatch_lines(
        ["note: websocietysimulator in *No module named 'nothing_like_openai'*"]
    )


def test_a_simulator_inside_an_agent_is_refused(run):
    code = """
from websocietysimulator import Simulator
from websocietysimulator.agent import SimulationAgent
class Mine(SimulationAgent):
    def workflow(self):
        try:
            Simulator(data_dir="x")
        except Exception:
            pass
        return {"stars": 3.0, "review": "made up"}
"""
    result, records = run({"agent.py": code}, "review_writing")
    assert result.ret == 1
    assert all("asked for websocietysimulator.Simulator" in r["error"] for r in records)
    assert all(record["error"].endswith("agent.py:7") for record in records)
