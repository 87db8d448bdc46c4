"""Runs that scripts start: several calls at once, and limits of time and money."""

from __future__ import annotations

import json

import pytest
from llm_server import text

MEETING = """
SIMULATE = dict(enable_threading=True, max_workers=3)
meeting = threading.Barrier(3)

class Mine(RecommendationAgent):
    def workflow(self):
        meeting.wait(90)
        return self.task["candidate_list"]
"""
SLOW = """
class Mine(RecommendationAgent):
    def workflow(self):
        if self.task["task_id"] == 1:
            time.sleep(3)
        return self.task["candidate_list"]
"""


def test_as_many_calls_go_on_at_once_as_there_are_workers(project, challenge):
    result, said = challenge("ranks", MEETING)
    assert result.ret == 0
    assert [output["task"]["task_id"] for output in said["outputs"]] == list(range(6))
    assert all("output" in output for output in said["outputs"])
    settings = json.loads((project.runs()[0] / "manifest.json").read_text())["settings"]
    assert settings["concurrency"] == 3


@pytest.mark.parametrize(
    ("threads", "answered"),
    # A call that has begun is waited for in turn, and left alone where others go on beside it.
    [("enable_threading=False", [0, 1]), ("enable_threading=True, max_workers=2", [0, 2, 3, 4, 5])],
)
def test_when_the_time_is_over_the_rest_is_missing(project, challenge, threads, answered):
    limits = f"SIMULATE = dict({threads}, time_limitation=0.02)\n"
    result, said = challenge("ranks", limits + SLOW)
    assert result.ret == 0
    assert [output["task"]["task_id"] for output in said["outputs"]] == answered
    missing = 6 - len(answered)
    result.stdout.fnmatch_lines(
        [
            "stopped: the time is over (time_limitation: 0.02 minutes); "
            f"{missing} of 6 tasks are missing"
        ]
    )
    assert len(project.records()) == len(answered)
    assert project.scores()["incomplete"].startswith("the time is over")
    assert said["results"]["data_info"] == {
        "evaluated_count": len(answered),
        "original_simulation_count": len(answered),
        "original_ground_truth_count": 6,
    }


def test_a_spent_budget_ends_the_run(project, server, challenge):
    server.usual = text("Fine.", usage=(50, 50))
    project.write(asbench__yml=json.dumps({"llm": [{"model": "m", "base_url": server.url}]}))
    agent = """
class Mine(SimulationAgent):
    def workflow(self):
        return {"stars": 3.0, "review": self.llm(messages=[{"role": "user", "content": "Write."}])}
"""
    result, said = challenge("reviews", agent, "--config=asbench.yml", "--max-tokens=200")
    assert result.ret == 0
    assert len(said["outputs"]) == len(server.seen) == 2
    result.stdout.fnmatch_lines(["stopped: the budget is spent*; 4 of 6 tasks are missing"])


def test_what_was_answered_before_an_interrupt_is_scored(project, challenge):
    agent = """
import signal
class Mine(RecommendationAgent):
    def workflow(self):
        if self.task["task_id"] == 2:
            signal.raise_signal(signal.SIGINT)
        return self.task["candidate_list"]
"""
    challenge("ranks", agent)
    assert len(project.records()) == 2
    assert project.scores()["incomplete"] == "interrupted"
