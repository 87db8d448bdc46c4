"""asbench's files become settings: the weakest ones, with what they lack and what they hide said."""

from __future__ import annotations

import json

import pytest

from pytest_agentbench.settings.options import SettingsError
from pytest_agentbench.settings.resolve import Layer, resolve

KEY = "sk-canary-0123456789abcdef"


@pytest.fixture
def settled(tmp_path):
    """Settings from the files of one folder, and from what stands on the command line and in a scenario."""

    def settle(files, scenario=None, benchmark="BehaviorModeling", **typed):
        for name, data in files.items():
            path = tmp_path / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
        layers = [Layer(lambda key: f"--{key}", typed, tmp_path, for_all=True)]
        if scenario is not None:
            layers.append(Layer(lambda key: f"s.yaml: {key}", scenario, tmp_path))
        return resolve(benchmark, None, layers, [tmp_path])

    return settle


ENTRY = {"provider": "deepseek", "model": "deepseek-chat", "api_key": KEY, "timeout": 30}


@pytest.mark.parametrize("llm", [ENTRY, [ENTRY]], ids=["a mapping", "a list"])
def test_models_of_the_config_are_models_of_the_run(settled, llm):
    settings = settled({"c.yml": {"llm": llm}}, config="c.yml")
    (entry,) = settings.llm
    assert (entry.base_url, entry.model) == ("https://api.deepseek.com/v1", "deepseek-chat")
    assert (entry.timeout, entry.concurrency) == (30, None)
    assert entry.api_key.reveal() == KEY
    assert KEY not in json.dumps(settings.as_json())
    assert KEY not in repr(settings)
    assert settings.notes == ()


@pytest.mark.parametrize("name", ["semaphore", "concurrency"])
def test_both_names_of_a_limit_are_known(settled, name):
    settings = settled({"c.yml": {"llm": [{**ENTRY, name: 200}]}}, config="c.yml")
    assert settings.llm[0].concurrency == 200


def test_yaml_as_asbench_documents_it(settled):
    text = (
        "llm:\n- api_key: YOUR-API-KEY # LLM API key\n  model: m\n  provider: openai\n  semaphore: 200\n"
        "env:\n  db:\n    enabled: true\n  home_dir: .agentsociety-benchmark/agentsociety_data\n"
        "exp: {name: x}\n"
    )
    settings = settled({"config.yaml": text}, config="config.yaml")
    assert settings.llm[0].base_url == "https://api.openai.com/v1"
    assert settings.notes == ("config.yaml: without a meaning here: env, exp",)


def test_an_empty_key_is_none(settled):
    entry = {
        "provider": "vllm",
        "base_url": "http://localhost:8000/v1",
        "model": "m",
        "api_key": "",
    }
    assert settled({"c.json": {"llm": entry}}, config="c.json").llm[0].api_key is None


def test_what_a_scenario_or_the_command_line_says_beats_the_config(settled):
    config = {"llm": ENTRY, "agent_class": "a.py", "number": 4, "mode": "inference"}
    weak = settled({"c.yml": config}, config="c.yml")
    assert (weak.agent, weak.concurrency, weak.mode) == ("a.py", 4, "inference")
    own = {"benchmark": "BehaviorModeling", "config": "c.yml", "llm": {"model": "mine"}}
    strong = settled({}, scenario={**own, "concurrency": 2}, mode="test", agent="b.py")
    assert [entry.model for entry in strong.llm] == ["mine"]
    assert (strong.agent, strong.concurrency, strong.mode) == ("b.py", 2, "test")


def test_an_agents_file_names_its_class_its_parameters_and_how_many_there_are(settled):
    agent = {"agent_class": "my_agent.py:Mine", "agent_params": {"patience": 3}, "number": 8}
    files = {"agents/agent.yml": agent, "agents/my_agent.py": ""}
    settings = settled(files, agent="agents/agent.yml")
    assert settings.agent == "agents/my_agent.py:Mine"  # beside its description
    assert settings.agent_params == {"patience": 3}
    assert settings.concurrency == 8
    assert settled({"my_agent.py": ""}, agent="agents/agent.yml").agent == "my_agent.py:Mine"


def test_the_config_may_name_an_agents_file(settled):
    files = {"c.yml": {"agent_class": "agent.yaml"}, "agent.yaml": {"agent_class": "p.m:Mine"}}
    assert settled(files, config="c.yml").agent == "p.m:Mine"


def test_answers_that_exist_need_no_agent(settled):
    files = {"c.yml": {"llm": ENTRY, "agent_class": "a.py", "agent_params": {}}, "run/x": ""}
    settings = settled(files, benchmark="humob", config="c.yml", submission="run")
    assert settings.agent_params is None
    assert settings.submission.name == "run"


def test_secrets_among_the_parameters_are_not_in_the_manifest(settled):
    given = {"search": [{"api_key": KEY, "most": 3}], "max_tokens": 5, "token": KEY}
    settings = settled({}, scenario={"benchmark": "BehaviorModeling", "agent_params": given})
    assert settings.agent_params == given
    hidden = {"search": [{"api_key": "***", "most": 3}], "max_tokens": 5, "token": "***"}
    assert settings.as_json()["agent_params"] == hidden


@pytest.mark.parametrize(
    ("files", "typed", "says"),
    [
        ({}, {"config": "c.yml"}, r"--config: expected a path that exists, got 'c\.yml'"),
        ({"c.yml": "- a"}, {"config": "c.yml"}, r"expected a mapping of settings \(asbench's config\), got list"),
        ({"c.yml": "a: ["}, {"config": "c.yml"}, "expected asbench's config in YAML, got"),
        ({"c.yml": {"llm": []}}, {"config": "c.yml"}, r"c\.yml: llm: expected a list of models"),
        (
            {"c.yml": {"llm": [{**ENTRY, "modle": 1}]}}, {"config": "c.yml"},
            r"c\.yml: llm: entry 1: expected the keys model, .*, provider, got 'modle'",
        ),
        ({"c.yml": {"llm": {"provider": "x", "model": "m"}}}, {"config": "c.yml"}, "expected one of openai"),
        ({"c.yml": {"number": 0}}, {"config": "c.yml"}, r"c\.yml: number: expected a whole number from 1"),
        ({"c.yml": {"mode": "x"}}, {"config": "c.yml"}, r"c\.yml: mode: expected a mode of Behav"),
        ({"a.yml": {"number": 1}}, {"agent": "a.yml"}, r"a\.yml: expected the key agent_class, got none"),
        ({"a.yml": {"agent_class": "b.yml"}}, {"agent": "a.yml"}, r"agent_class: expected file\.py"),
        (
            {"a.yml": {"agent_class": "a.py", "memory_from_file": "m.json"}}, {"agent": "a.yml"},
            r"a\.yml: memory_from_file: expected none, for agents get no memory from file here",
        ),
        ({}, {"agent": "a.yml"}, r"--agent: expected a path that exists, got 'a\.yml'"),
        (
            {"c.yml": {"agent_params": [1]}}, {"config": "c.yml"},
            r"agent_params: expected a mapping that JSON can hold",
        ),
    ],
)  # fmt: skip
def test_mistakes_are_named_with_file_and_key(settled, files, typed, says):
    with pytest.raises(SettingsError, match=says) as caught:
        settled(files, **typed)
    assert KEY not in str(caught.value)


def test_empty_keys_say_nothing(settled):
    agent = {"agent_class": "a.py", "tools": [], "blocks": None, "agent_params": None}
    settings = settled({"a.json": agent}, agent="a.json")
    assert (settings.agent, settings.agent_params, settings.notes) == ("a.py", None, ())
