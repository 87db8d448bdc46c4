"""Settings go to the manifest and come back as they were."""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path

import pytest

from pytest_agentbench.agents.llm.entries import parse_llm
from pytest_agentbench.benchmarks import registry
from pytest_agentbench.settings import gates
from pytest_agentbench.settings.options import SettingsError, options_of
from pytest_agentbench.settings.settings import Settings

sys.path.append(str(Path(__file__).parents[1] / "toy"))

# A value other than the default for every option that the manifest holds.
CHANGED = {
    "agent": "my_agent.py:Agent",
    "agent_params": {"patience": 3},
    "config": Path("asbench.yml"),
    "submission": Path("answers.csv"),
    "mode": "inference",
    "dataset": Path("data/rows.csv"),
    "limit": 7,
    "first": 6,
    "chunk": 3,
    "epochs": 2,
    "concurrency": 8,
    "seed": 5,
    "agent_timeout": 2.5,
    "agent_retries": 4,
    "agent_isolation": "process",
    "agent_memory": 512,
    "agent_envs": ("HOME", "LANG"),
    "agent_reads": ("~/.cache/huggingface", "prompts"),
    "llm": parse_llm([{"model": "m", "base_url": "http://localhost:1/v1", "api_key": "${KEY}"}]),
    "llm_cache": "replay",
    "llm_proxy": True,
    "max_cost": 0.5,
    "max_tokens": 1000,
    "max_identical_errors": 3,
    "reading": "lenient",
    "gates": (gates.parse("accuracy >= 0.5"), gates.parse("delta(accuracy).low >= -0.1")),
    "baseline": "main",
    "report_without_truth": True,
}


def test_every_option_survives_the_manifest():
    options = [option for option in options_of(Settings) if option.manifest]
    assert [option.key for option in options] == list(CHANGED)
    benchmark = registry.get("toybench:ToySum")
    plain = Settings.from_manifest({}, benchmark)
    settings = dataclasses.replace(plain, parameters={"shift": 2}, **CHANGED)
    for option in options:
        assert getattr(plain, option.key) == option.default_for(benchmark)
        assert getattr(settings, option.key) != getattr(plain, option.key)
    written = json.loads(json.dumps(settings.as_json()))
    assert Settings.from_manifest(written, benchmark) == settings


def test_what_was_an_option_of_every_benchmark_is_read_as_a_parameter_of_one():
    benchmark = registry.get("BehaviorModeling")
    beside = {"text_models": "none", "keep_candidate_order": True, "parameters": {"device": "cpu"}}
    old = Settings.from_manifest(beside, benchmark)
    assert old.parameters == {
        "text_models": "none", "keep_candidate_order": True, "device": "cpu", "revision": None,
        "store": None,
        "groundtruth": None,
        "store_parity": False,
    }  # fmt: skip
    assert Settings.from_manifest(old.as_json(), benchmark) == old
    unset = {"text_models": None, "keep_candidate_order": False, "parameters": {}}
    assert Settings.from_manifest(unset, benchmark) == Settings.from_manifest({}, benchmark)


def test_a_manifest_that_was_changed_by_hand_is_refused_by_key():
    with pytest.raises(SettingsError) as caught:
        Settings.from_manifest({"epochs": "many"}, registry.get("toybench:ToySum"))
    said = "manifest.json: settings.epochs: expected a whole number from 1, got 'many'"
    assert str(caught.value) == said


def test_the_keys_of_an_endpoint_are_not_written():
    settings = dataclasses.replace(
        Settings.from_manifest({}, registry.get("toybench:ToySum")),
        agent="https://user:word@host/ask?key=secret",
    )
    written = json.dumps(settings.as_json())
    assert "host/ask" in written
    assert "secret" not in written
    assert "word" not in written
