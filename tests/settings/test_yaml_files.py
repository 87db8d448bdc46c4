"""YAML files of people: what is in them, and what is refused."""

from __future__ import annotations

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
        ("a: !!python/object/apply:os.getcwd []\n", "expected a config in YAML, got"),
    ],
)
def test_anything_else_is_refused_by_name(tmp_path, text, message):
    path = tmp_path / "a.yml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError, match=f"a.yml: {message}"):
        mapping_in(path, "a config")


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(SettingsError, match=r"gone\.yml: expected a config file: No such file"):
        mapping_in(tmp_path / "gone.yml", "a config")
