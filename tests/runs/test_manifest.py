"""What it takes to trust a run and to repeat it."""

from __future__ import annotations

import importlib.metadata
import json
import platform
import socket

import pytest
from runs.toy_plan import toy_plan

from pytest_agentbench.agents.process import sandbox
from pytest_agentbench.runs.manifest import confinement_in_force, manifest
from pytest_agentbench.settings.settings import Settings

FACTS = {"name": "builtin:right", "digest": "d"}


@pytest.fixture
def plan():
    made = []

    def plan(**changes):
        made.append(toy_plan(**changes))
        return made[-1]

    yield plan
    for one in made:
        one.close()


def test_it_tells_the_data_the_versions_and_the_settings(plan):
    made = plan(seed=7)
    found = manifest(made, FACTS, ["--seed=7"], "20260102-030405")
    assert json.loads(json.dumps(found)) == found
    assert (found["schema"], found["started"], found["agent"]) == (1, "20260102-030405", FACTS)
    assert found["dataset"] == {
        "source": "demo", "digest": made.dataset.digest, "description": "toy data", "samples": 12,
    }  # fmt: skip
    assert found["versions"]["python"] == platform.python_version()
    assert found["versions"]["numpy"] == importlib.metadata.version("numpy")
    assert Settings.from_manifest(found["settings"], made.benchmark).seed == 7


def test_it_tells_nothing_of_who_ran_it_where(plan, monkeypatch):
    monkeypatch.setenv("SOME_KEY", "sk-canary")
    text = json.dumps(manifest(plan(), FACTS, [], "20260102-030405"))
    assert socket.gethostname() not in text
    assert "sk-canary" not in text


def test_arguments_are_kept_without_the_secrets_of_an_address(plan):
    agent = "https://me:canary@localhost:1/answer?key=canary"
    given = [f"--agent={agent}", "--benchmark=toysum"]
    found = manifest(plan(agent=agent), FACTS, given, "20260102-030405")
    assert found["arguments"] == ["--agent=https://localhost:1/answer", "--benchmark=toysum"]
    assert "canary" not in json.dumps(found)


@pytest.mark.skipif(sandbox.os.name != "posix", reason="process isolation needs POSIX")
def test_confinement_is_told_of_the_agent_that_answers_in_a_process_of_ours(plan, tmp_path):
    (tmp_path / "agent.py").write_text("def agent(context):\n    return 0\n")
    isolated = plan(agent="agent.py", agent_isolation="process", bases=(tmp_path,))
    named = {"name": isolated.loaded_agent.name, "digest": "d"}
    assert confinement_in_force(isolated, named) == str(sandbox.available())
    # The fixture of a conftest answers in our own process, and so does a baseline.
    assert confinement_in_force(isolated, {"name": "conftest.py:agent", "digest": "d"}) is None
    assert confinement_in_force(plan(), FACTS) is None
