"""A participant's repository: data, tasks and a script that drives WebSocietySimulator's Simulator."""

from __future__ import annotations

import json

import pytest
from llm_server import serving

STARS = [1.0, 2.0, 3.0, 4.0, 5.0, 5.0]
HEAD = """
import json, sys, threading, time
from websocietysimulator import Simulator
from websocietysimulator.agent import RecommendationAgent, SimulationAgent
from websocietysimulator.llm import InfinigenceLLM, LLMBase

SIMULATE = dict(number_of_tasks=None, enable_threading=False)
MODELS = InfinigenceLLM(api_key="sk-of-the-script")
TASKS, TRUTH = "{track}/tasks", "{track}/groundtruth"
"""
TAIL = """
if __name__ == "__main__":
    simulator = Simulator(data_dir="store", device="auto", cache=True)
    simulator.set_task_and_groundtruth(task_dir=TASKS, groundtruth_dir=TRUTH)
    simulator.set_agent(Mine)
    simulator.set_llm(MODELS)
    outputs = simulator.run_simulation(**SIMULATE)
    results = simulator.evaluate()
    assert simulator.get_evaluation_history() == [results]
    with open("said.json", "w") as file:
        json.dump({"outputs": outputs, "results": results}, file)
"""


@pytest.fixture
def server():
    with serving() as server:
        yield server


@pytest.fixture
def challenge(project):
    """``challenge(track, agent, *options)``: the result of the script, and what the simulator returned.

    The six tasks of ``reviews`` are about items with 1 to 5 stars; those of ``ranks`` have candidate ``iN`` as
    the truth of task N.
    """
    users = [{"user_id": "u", "name": "Ada"}]
    items = [{"item_id": f"i{n}", "title": f"Item {n}"} for n in range(8)]
    reviews = [
        {
            "review_id": f"r{n}",
            "user_id": "u",
            "item_id": f"i{n}",
            "stars": 4.0,
            "text": f"Text {n}",
        }
        for n in range(8)
    ]
    for name, rows in (("user", users), ("item", items), ("review", reviews)):
        path = project.path / "store" / f"{name}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    for number, stars in enumerate(STARS):
        asked = {"type": "user_behavior_simulation", "user_id": "u", "item_id": f"i{number}"}
        truth = {"stars": stars, "review": f"Text {number}"}
        ranking = {
            "type": "recommendation", "user_id": "u", "candidate_category": "product",
            "candidate_list": [f"i{n}" for n in range(8)], "loc": [-1, -1],
        }  # fmt: skip
        for track, task, known in (
            ("reviews", asked, truth),
            ("ranks", ranking, {"ground truth": f"i{number}"}),
        ):
            project.write(
                **{
                    f"{track}___tasks___task_{number}__json": json.dumps(task),
                    f"{track}___groundtruth___groundtruth_{number}__json": json.dumps(known),
                }
            )

    def run(track, agent, *options, after=""):
        project.write(script__py=HEAD.replace("{track}", track) + agent + TAIL + after)
        result = project.agentbench("exec", "--text-models=none", *options, "script.py")
        said = project.path / "said.json"
        return result, json.loads(said.read_text()) if said.exists() else None

    return run
