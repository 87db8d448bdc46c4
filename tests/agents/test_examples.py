"""The agents in examples/ and in the documentation answer what their benchmarks accept."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from agent_shapes import Model, asked

from pytest_agentbench.agents.framework_imports import available
from pytest_agentbench.agents.llm.entries import parse_llm
from pytest_agentbench.agents.shapes import function_of
from pytest_agentbench.benchmarks.behavior_modeling.benchmark import BehaviorModeling
from pytest_agentbench.benchmarks.daily_mobility.benchmark import DailyMobility
from pytest_agentbench.benchmarks.humob.benchmark import Humob

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
DOCS = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")


def load(path):
    spec = importlib.util.spec_from_file_location(f"example_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    with available():
        spec.loader.exec_module(module)
    return module


@pytest.fixture
def demo(tmp_path, monkeypatch):
    """The first samples of a benchmark's demo data."""
    monkeypatch.setenv("AGENTBENCH_CACHE", str(tmp_path))

    def samples(benchmark, targets=None):
        settings = SimpleNamespace(
            dataset="demo", mode=benchmark.modes[0], seed=0, bases=(), submission=None,
            parameters={parameter.name: parameter.default for parameter in benchmark.parameters}
            | {"text_models": "none"},
        )  # fmt: skip
        dataset = benchmark.load(settings)
        found = []
        for index, key in enumerate(dataset.keys):
            if targets is None or key.target in targets:
                found.append(dataset.sample(index))
        step = max(1, len(found) // 6)
        return found[::step]

    return samples


class Talker(Model):
    async def atext_request(self, messages, **options):
        await super().atext_request(messages)
        return "4\nIt was good, and then 2, 0 and 99 more."


@pytest.mark.parametrize(
    ("name", "agent", "measured", "targets"),
    [
        ("function_agent", "answer", Humob, None),
        ("coroutine_agent", "answer", Humob, None),
        ("forward_agent", "WeekdayAgent", Humob, None),
        ("batch_agent", "BatchAgent", Humob, None),
        ("asbench_agent", "ReviewerAgent", BehaviorModeling, None),
        ("websociety_agent", "PopularAgent", BehaviorModeling, ["recommendation"]),
        ("llm_agent", "Agent", BehaviorModeling, None),
        ("citizen_agent", "Commuter", DailyMobility, None),
    ],
)
def test_every_example_answers_what_its_benchmark_accepts(demo, name, agent, measured, targets):
    function = function_of(getattr(load(EXAMPLES / f"{name}.py"), agent), Talker())
    benchmark = measured()
    samples = demo(benchmark, targets)
    assert len(samples) >= 5
    for sample in samples:
        assert benchmark.check(sample, asked(function, sample.context))


# Fixtures, and agents that bring a client, are run with their commands (tests/test_docs.py).
CODES = re.findall(r"```python\n((?!# conftest\.py|from openai).*?)```", DOCS, re.DOTALL)


@pytest.mark.parametrize("code", CODES, ids=range(len(CODES)))
def test_every_agent_in_the_documentation_answers(demo, tmp_path, code):
    path = tmp_path / "documented.py"
    path.write_text(code, encoding="utf-8")
    module = load(path)
    agent = getattr(module, "Agent", None) or module.answer
    benchmark = Humob() if "targets" in code else BehaviorModeling()
    if "work" in code:
        benchmark = DailyMobility()
    targets = ["recommendation"] if "RecommendationAgent" in code else None
    function = function_of(agent, Talker())
    for sample in demo(benchmark, targets):
        assert benchmark.check(sample, asked(function, sample.context))


@pytest.mark.parametrize("source", ["documentation", "example"])
def test_the_scenarios_name_models_as_they_must_be_named(source):
    text = (EXAMPLES / "llm_scenario.yaml").read_text(encoding="utf-8")
    if source == "documentation":
        (text,) = re.findall(r"```yaml\n(.*?)```", DOCS, re.DOTALL)
    entries = parse_llm(yaml.safe_load(text)["llm"])
    assert entries[0].as_json()["api_key"] == "${OPENAI_API_KEY}"
    assert all(entry.price_input is not None for entry in entries)  # max_cost needs it
