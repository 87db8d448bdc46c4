"""What --agent may say, and what stands behind it."""

from __future__ import annotations

import os
import sys

import pytest

from pytest_agentbench.agents import load as loading
from pytest_agentbench.agents import specs
from pytest_agentbench.agents.call import LocalAgent
from pytest_agentbench.agents.process.sandbox import IsolationOptions
from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks.registry import get


@pytest.fixture
def load(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    made = []

    def load(spec, *options):
        (tmp_path / "agent.py").write_text("def agent(context): return context + 1\n")
        (tmp_path / "program.py").write_text(
            "for line in open(0): print(int(line) + 1, flush=True)\n"
        )
        made.append(loading.load(spec, [tmp_path / "elsewhere", tmp_path], get("humob"), *options))
        return made[-1]

    yield load
    for loaded in made:
        loaded.agent.close()


KINDS = {
    "agent.py": ("LocalAgent", "IsolatedAgent"),
    "agent.py:agent": ("LocalAgent", "IsolatedAgent"),
    "cmd:" + sys.executable + " program.py": ("CommandAgent", "CommandAgent"),
    "builtin:mean": ("LocalAgent", "LocalAgent"),
    "http://localhost:1/answer": ("HttpAgent", "HttpAgent"),
}


@pytest.mark.skipif(os.name != "posix", reason="process isolation needs POSIX")
@pytest.mark.parametrize("isolated", [False, True])
@pytest.mark.parametrize("spec", KINDS, ids=["file", "name", "command", "builtin", "endpoint"])
def test_every_kind_of_agent_is_ready_to_be_asked(load, spec, isolated):
    loaded = load(spec, 20.0, IsolationOptions() if isolated else None)
    kind = KINDS[spec][isolated]
    assert (loaded.name, type(loaded.agent).__name__) == (spec, kind)
    # Baselines are ours, and what answers an address is not in our hands.
    assert loaded.confined == (isolated and kind in ("IsolatedAgent", "CommandAgent"))
    assert len(loaded.digest) == 64
    if "agent.py" in spec or "program.py" in spec:
        assert loaded.agent(1) == 2


def test_the_name_of_an_endpoint_holds_no_secret(load):
    spec = "https://me:secret@localhost:1/answer?key=secret"
    assert load(spec).name == specs.shown(spec) == "https://localhost:1/answer"


def test_an_agent_of_any_shape_is_made_ready_and_a_ready_one_stays_itself():
    ready = loading.ready(len, 5.0, None)
    assert isinstance(ready, LocalAgent)
    assert ready("abc") == 3
    assert loading.ready(ready, 1.0, None) is ready


def test_where_there_is_no_agent_a_call_says_so():
    with pytest.raises(BenchmarkError, match="--agent: expected a function"):
        loading.LoadedAgent("submission:x", "digest").agent({})


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("builtin:best", "builtin:mean, .*, got 'builtin:best'"),
        ("nothing", "expected file.py, file.py:Name, package.module:Name, builtin:NAME, cmd:COMMAND"),
    ],
)  # fmt: skip
def test_mistakes_say_what_was_expected_and_what_came(load, spec, message):
    with pytest.raises(BenchmarkError, match=message):
        load(spec)


def test_parameters_are_for_agents_in_python(tmp_path):
    for spec in ("builtin:nothing", "cmd:agent", "http://localhost:1"):
        with pytest.raises(BenchmarkError, match="agent_params: expected an agent in Python"):
            loading.load(spec, [tmp_path], get("humob"), params={"patience": 3})


def test_a_step_without_the_time_is_found_before_any_sample(load, tmp_path):
    text = "class Walker:\n    def __init__(self, city): ...\n    def step(self): ...\n"
    (tmp_path / "walker.py").write_text(text)
    with pytest.raises(BenchmarkError, match=r"expected step\(self, now\) in Walker"):
        load("walker.py")
