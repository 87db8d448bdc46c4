"""YAML files of people: what is in them, and what is refused."""

from __future__ import annotations

import time

import pytest

from pytest_agentbench.settings.options import SettingsError
from pytest_agentbench.settings.yaml_files import mapping_in


@pytest.mark.parametrize(
    "text", ["a: 1\nb: [x]\n", '{"a": 1, "b": ["x"]}', "\ufeffa: 1\nb:\n- x\n"]
)
def test_yaml_and_json_are_read_with_or_without_a_mark(tmp_path, text):
    path = tmp_path / "a.yml"
    path.write_text(text, encoding="utf-8")
    assert mapping_in(path, "a config") == {"a": 1, "b": ["x"]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\na: 2\n", "expected each key once, got 'a' in line 1 and again in line 2"),
        ("- 1\n", r"expected a mapping of settings \(a config\), got list"),
        ("1: 2\n", r"expected a mapping of settings \(a config\), got dict"),
        ("a: &a [1, *a]\n", "expected values that end, got one that holds itself in line 1"),
        ("a: &a {b: {c: *a}}\n", "expected values that end, got one that holds itself in line 1"),
        ("a: 1\nb: " + "[" * 3000, "expected at most 100 brackets within each other, .* in line 2"),
        ("a: !!python/object/apply:os.getcwd []\n", "expected a config in YAML, got"),
    ],
)
def test_anything_else_is_refused_by_name(tmp_path, text, message):
    path = tmp_path / "a.yml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError, match=f"a.yml: {message}"):
        mapping_in(path, "a config")


def bomb(key: str) -> str:
    """Less than 600 bytes, and 9**12 texts to whoever follows every alias."""
    lines = [f"{key}:", "  - &a0 [x,x,x,x,x,x,x,x,x]"]
    lines += [f"  - &a{n} [{','.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    return "\n".join(["benchmark: humob", *lines, ""])


@pytest.mark.parametrize("key", ["limit", "llm", "dataset", "agent_params", "fail_under", "other"])
def test_few_lines_that_stand_for_billions_of_values_are_refused_at_once(tmp_path, key):
    path = tmp_path / "a.yml"
    path.write_text(bomb(key))
    started = time.process_time()
    with pytest.raises(
        SettingsError, match=r"a\.yml: expected at most 100000 values, got more, by"
    ):
        mapping_in(path, "a scenario")
    assert time.process_time() - started < 1


def test_aliases_are_read_as_what_they_name(tmp_path):
    path = tmp_path / "a.yml"
    path.write_text("a: &a {x: 1}\nb: [*a, *a]\nc: {<<: *a, y: 2}\n")
    assert mapping_in(path, "a config") == {
        "a": {"x": 1}, "b": [{"x": 1}, {"x": 1}], "c": {"x": 1, "y": 2},
    }  # fmt: skip


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(SettingsError, match=r"gone\.yml: expected a config file: No such file"):
        mapping_in(tmp_path / "gone.yml", "a config")
