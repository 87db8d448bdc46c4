"""Scenario files: what is wrong with one is said, and YAML of others is left alone."""

from __future__ import annotations

import re

import pytest

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.settings import scenario
from pytest_agentbench.settings.resolve import resolve

OURS = re.compile(r"pytest_agentbench/[\w/]+\.py:\d+|File \".*pytest_agentbench|INTERNALERROR")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("benchmark: humob\nlimit: [3\n", "s.yaml: expected a scenario in YAML, got while parsing"),
        ("limit: 3\nbenchmark: humob\nlimit: 4\n",
         "s.yaml: expected each key once, got 'limit' in line 1 and again in line 3"),
        ("benchmark: humob\nseed: 2001-02-30\n", "s.yaml: expected a scenario in YAML, got day"),
        ("benchmark: humob\ntext_models: none\n",
         "; it is a parameter of BehaviorModeling, not of humob"),
        ("benchmark: humob\nllm: {model: m, parameters: {a: .nan}}\n",
         "parameters: expected a mapping such as {top_p: 0.9}, got {'a': nan}"),
        ("benchmark: humob\nweekend: [1.9]\n", "weekend: expected days of the week"),
        ("benchmark: humob\ngates: [dtw <= 1e999]\n", "expected a number that a float can hold"),
        ("benchmark: humob\ndataset: ~nobody-of-this-name/x\n", "dataset: expected a path, got"),
        ("benchmark: ':x'\n", "s.yaml: benchmark: expected package.module:Class, got ':x'"),
    ],
)  # fmt: skip
def test_a_broken_scenario_is_told_what_is_wrong(tmp_path, text, message):
    path = tmp_path / "s.yaml"
    path.write_text(text)
    assert scenario.is_scenario(path)
    with pytest.raises(BenchmarkError, match=re.escape(message)):
        resolve(None, "s.yaml", [scenario.read(path)], [tmp_path])


def test_a_broken_scenario_given_as_a_path_is_no_missing_test(project):
    project.write(s__yaml="benchmark: humob\nlimit: [3\n")
    result = project.pytest("s.yaml")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "s.yaml: expected a scenario in YAML, got while parsing" in result.stderr.str()
    assert not OURS.search(result.stdout.str() + result.stderr.str())


def test_yaml_of_others_stays_theirs(tmp_path):
    for name, text in {
        "a.yaml": "stages: [1\n",
        "b.yaml": "x: 1\n",
        "c.txt": "benchmark: x\n",
    }.items():
        (tmp_path / name).write_text(text)
        assert not scenario.is_scenario(tmp_path / name)
