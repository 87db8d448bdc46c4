"""The end of a session with several models: a comparison of two, a table of more."""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from toy_runs import make_run

from pytest_agentbench.reports import models_compared
from pytest_agentbench.runs import stored
from pytest_agentbench.runs.scores_file import AgentFacts
from pytest_agentbench.settings.model_options import run_of

sys.path.append(str(Path(__file__).parents[1] / "toy"))


class Out:
    def __init__(self):
        self.lines = []

    def section(self, title, sep):
        self.lines.append(title)

    def write_line(self, line, **markup):
        self.lines.append(line)


def collected(folder, model, base="toysum"):
    """What models_compared looks at of a collector, for a run on disk."""
    run = stored.read(folder)
    settings = stored.settings_of(run)
    settings = dataclasses.replace(
        settings, nodeid=run_of(base, model) if model else base, of_model=model
    )
    plan = SimpleNamespace(settings=settings, dataset=settings.benchmark.load(settings))
    return SimpleNamespace(
        plan=plan, scores=run.scores, written=True, logged=lambda: run.records,
        log=SimpleNamespace(folder=folder),
    )  # fmt: skip


@pytest.fixture
def runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def made(**agents):
        found = []
        for model, agent in agents.items():
            folder = make_run(tmp_path / model, agent)
            path = folder / "scores.json"
            scores = json.loads(path.read_text())
            scores["agent"] = {"name": "llm_agent.py", "digest": "d", "models": [model]}
            path.write_text(json.dumps(scores))
            found.append(collected(folder, model))
        return found

    return made


def shown(collectors, brief=False):
    out = Out()
    models_compared.show(out, collectors, brief)
    return out.lines


def test_two_are_compared_in_the_first_reading(runs):
    lines = shown(runs(small="half", large="right"))
    assert lines[:2] == [
        "agentbench: toysum, 2 models", "toysum (test): llm_agent.py small → llm_agent.py large",
    ]  # fmt: skip
    assert "reading exact" in lines
    assert "reading lenient" not in lines
    assert any(line.startswith("accuracy") and line.endswith("better") for line in lines)
    assert lines[-1].endswith("agentbench compare small large")


def test_briefly_two_are_a_line(runs):
    (line,) = shown(runs(small="half", large="right"), brief=True)
    assert line.startswith(
        "toysum (test): llm_agent.py small → llm_agent.py large: accuracy 0.5000 → 1.0000, +0.5000 [+"
    )
    assert line.endswith("] better")


def test_three_are_ranked(runs):
    lines = shown(runs(small="half", none="wrong", large="right"))
    assert lines[:2] == ["agentbench: toysum, 3 models", "toysum (test), reading exact"]
    ranks = [line.split()[:3] for line in lines if line.startswith("llm_agent.py")]
    assert [rank[:2] for rank in ranks] == [
        ["llm_agent.py", "large"],
        ["llm_agent.py", "small"],
        ["llm_agent.py", "none"],
    ]


def test_what_is_not_one_of_several_models_is_left_alone(runs):
    one, two = runs(small="half", large="right")
    two.written = False
    assert shown([one, two]) == []
    plain = collected(one.log.folder, None)
    assert shown([plain, plain]) == []


def test_runs_without_a_common_sample_say_so(runs):
    one, two = runs(small="half", large="right")
    first, second = one.logged()[:6], two.logged()[6:]
    one.logged, two.logged = (lambda: first), (lambda: second)
    assert "the models are not compared: " in shown([one, two])[-1]


def test_older_runs_have_the_name_alone():
    assert AgentFacts("a.py", "d").label == "a.py"
    assert AgentFacts("a.py", "d", ("m", "n", "m")).label == "a.py m+n"
