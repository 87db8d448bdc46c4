"""What asbench's agents import is there, and whole runs of such agents work."""

from __future__ import annotations

import importlib.machinery
import json
import logging
import sys

import pytest
from llm_server import KEY, text

from pytest_agentbench.agents.asbench import asbench_modules
from pytest_agentbench.agents.framework_imports import available

# Agents of our own with the imports, calls and parameters of published ones.
AGENT = """
import asyncio
import re
from typing import Any

from agentsociety.agent import AgentParams, FormatPrompt, IndividualAgentBase, MemoryAttribute
from agentsociety.logger import get_logger
from agentsociety.memory import Memory

log = get_logger()


class Params(AgentParams):
    most_reviews: int = 3
    style: str = "plain"


class ReviewerAgent(IndividualAgentBase):
    ParamsType = Params
    StatusAttributes = [
        MemoryAttribute(name="answered", type=int, default_or_value=0, description="tasks so far")
    ]

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.prompt = FormatPrompt("Style: {style}. Item: ${context.item_id}", system_prompt="Review.")

    async def forward(self, task_context: dict[str, Any]):
        uir = self.toolbox.get_tool_object("uir")
        user_id = task_context["user_id"]
        past = uir.get_reviews(user_id=user_id)[: self.params.most_reviews]
        assert uir.get_user(user_id) and len(past) <= self.params.most_reviews
        answered = await self.memory.status.get("answered")
        await self.memory.status.update("answered", answered + 1)
        log.info("asked about %s", user_id)
        if task_context["target"] == "recommendation":
            known = [item for item in task_context["candidate_list"] if uir.get_item(item)]
            messages = [{"role": "user", "content": ", ".join(known)}]
            reply = await self.llm.atext_request(
                messages, response_format={"type": "text"}, temperature=0.7, max_tokens=50,
                timeout=30, retries=2,
            )
            named = [word for word in re.split(r"[,\\s]+", reply) if word in known]
            rest = [item for item in task_context["candidate_list"] if item not in named]
            return {"item_list": named + rest}
        elif task_context["target"] == "review_writing":
            await self.prompt.format(task_context, style=self.params.style)
            reply = await self.llm.atext_request(dialog=self.prompt.to_dialog())
            try:
                stars = int(reply.split("Rating:")[1].split(",")[0].strip())
                return {"stars": stars, "review": reply.split("Review:")[1].strip()}
            except Exception:
                return {"stars": 4, "review": reply}
"""


def config(server, **entry):
    entry = {"provider": "vllm", "base_url": server.url, "api_key": KEY, "model": "m", **entry}
    return json.dumps({"llm": [entry], "env": {"db": {"enabled": True}}})


def test_an_agent_of_asbench_runs_with_asbenchs_config(project, server):
    server.script = [text("Rating: 2, Review: Not for me.")] * 3
    project.write(agents___reviewer__py=AGENT, asbench__yml=config(server, semaphore=2))
    result = project.pytest(
        "--benchmark=BehaviorModeling", "--config=asbench.yml", "--agent=agents/reviewer.py",
        "-k", "review_writing", "--limit=3", "--text-models=none",
    )  # fmt: skip
    result.stdout.fnmatch_lines(["asbench.yml: without a meaning here: env"])
    assert result.ret == 0
    answers = [record["answer"] for record in project.records()]
    assert answers == [{"stars": 2, "review": "Not for me."}] * len(answers)
    assert 1 <= len(answers) <= 3
    asked = server.seen[0]
    assert asked["key"] == f"Bearer {KEY}"
    assert asked["body"]["messages"][0] == {"role": "system", "content": "Review."}
    assert asked["body"]["messages"][1]["content"].startswith("Style: plain. Item: ")
    (run,) = project.runs()
    assert run.name.endswith("-BehaviorModeling-reviewer-m")
    assert not [path for path in run.iterdir() if KEY in path.read_text(errors="replace")]
    assert KEY not in result.stdout.str() + result.stderr.str()


@pytest.mark.parametrize("isolation", ["none", "process"])
def test_an_agents_own_file_gives_its_class_and_parameters(project, server, isolation):
    server.script = [text("Rating: 5, Review: Fine.")] * 9
    agent = {"agent_class": "reviewer.py:ReviewerAgent", "agent_params": {"style": "terse"}}
    project.write(
        agents___reviewer__py=AGENT,
        agents___agent__yml=json.dumps({**agent, "number": 1, "config": {"name": "Reviewer"}}),
        asbench__yml=config(server),
    )
    result = project.pytest(
        "--benchmark=BehaviorModeling", "--config=asbench.yml", "--agent=agents/agent.yml",
        "-k", "review_writing", "--limit=2", "--text-models=none",
        f"--agent-isolation={isolation}",
    )  # fmt: skip
    result.stdout.fnmatch_lines(["agent.yml: without a meaning here: config"])
    assert result.ret == 0
    assert server.seen[0]["body"]["messages"][1]["content"].startswith("Style: terse.")
    manifest = json.loads((project.runs()[0] / "manifest.json").read_text())
    assert manifest["settings"]["agent_params"] == {"style": "terse"}
    assert manifest["agent"]["name"] == "agents/reviewer.py:ReviewerAgent"


@pytest.mark.parametrize("isolation", ["none", "process"])
def test_wrong_parameters_are_refused_before_any_sample(project, isolation):
    project.write(
        reviewer__py=AGENT,
        agent__yml="agent_class: reviewer.py\nagent_params: {most_reviews: many}\n",
    )
    result = project.pytest(
        "--benchmark=BehaviorModeling", "--agent=agent.yml", f"--agent-isolation={isolation}"
    )
    assert result.ret == 4
    text = result.stderr.str()
    assert "agent_params: expected the fields of Params, which ReviewerAgent has; got" in text
    assert "most_reviews" in text
    assert not project.runs()


def test_recommendations_keep_the_options_of_their_request(project, server):
    project.write(reviewer__py=AGENT, asbench__yml=config(server))
    result = project.pytest(
        "--benchmark=BehaviorModeling", "--config=asbench.yml", "--agent=reviewer.py",
        "-k", "recommendation", "--limit=4", "--text-models=none",
    )  # fmt: skip
    assert result.ret == 0
    body = server.seen[0]["body"]
    assert (body["temperature"], body["max_tokens"]) == (0.7, 50)
    assert body["response_format"] == {"type": "text"}
    assert not body.keys() & {"timeout", "retries"}


def test_loggers_are_pythons():
    asbench_modules.set_logger_level("warning")
    assert asbench_modules.get_logger() is logging.getLogger("agentsociety")
    assert asbench_modules.get_logger().level == logging.WARNING
    asbench_modules.get_logger().setLevel(logging.NOTSET)


@pytest.mark.parametrize(
    "line",
    [
        "from agentsociety_benchmark.benchmarks import DailyMobilityAgent, HurricaneMobilityAgent",
        "from agentsociety_benchmark.benchmarks.DailyMobility import DailyMobilityAgent",
        "from agentsociety_benchmark.benchmarks.DailyMobility.template_agent import DailyMobilityAgent",
        "from agentsociety_benchmark.benchmarks.HurricaneMobility import HurricaneMobilityAgent",
        "from mobisimbench.benchmarks import DailyMobilityAgent, HurricaneMobilityAgent",
        "from mobisimbench.benchmarks.HurricaneMobility.template_agent import HurricaneMobilityAgent",
        "from agentsociety.agent import Agent, CitizenAgentBase, MemoryAttribute",
        "from agentsociety.agent.agent_base import extract_json",
        "from agentsociety.environment import Environment, EconomyClient, MapData",
        "from agentsociety.environment.utils.const import POI_CATG_DICT as groups; groups['restaurant']",
        "from agentsociety.cityagent.blocks.utils import clean_json_response, prettify_document",
        "from pycityproto.city.person.v2.motion_pb2 import STATUS_DRIVING, Status; "
        "assert STATUS_DRIVING == Status.STATUS_DRIVING == Status.Value('STATUS_DRIVING') == 2",
        "from pycityproto.city.trip.v2 import trip_pb2; assert trip_pb2.TripMode.Name(1) == 'TRIP_MODE_WALK_ONLY'",
    ],
)
@pytest.mark.parametrize("hidden", [True, False])
def test_what_agents_of_the_city_import_is_there(monkeypatch, line, hidden):
    roots = {"agentsociety", "agentsociety_benchmark", "mobisimbench", "pycityproto"}
    real = importlib.machinery.PathFinder.find_spec

    def find_spec(name, path=None, target=None):
        return None if hidden and name.partition(".")[0] in roots else real(name, path, target)

    monkeypatch.setattr(importlib.machinery.PathFinder, "find_spec", find_spec)
    for name in [name for name in sys.modules if name.partition(".")[0] in roots]:
        monkeypatch.delitem(sys.modules, name)
    with available():
        exec(line, {})
        assert not hidden or not hasattr(sys.modules.get("pycityproto"), "__file__")
