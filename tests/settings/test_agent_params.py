"""Parameters of an agent, as a mapping and as KEY=VALUE."""

from __future__ import annotations

import pytest

from pytest_agentbench.settings.agent_params import parse
from pytest_agentbench.settings.resolve import Layer, SettingsError, resolve


def settled(*layers):
    found = [Layer(where=lambda key: f"--{key}", values={"agent_params": one}) for one in layers]
    return resolve("humob", None, found, []).agent_params


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("-0.5", -0.5),
        ("true", True),
        ("False", False),
        ("null", None),
        ("[1, 2]", [1, 2]),
        ('{"a": [true]}', {"a": [True]}),
        ('"3"', "3"),
        ("short", "short"),
        ("", ""),
        ("no", "no"),  # YAML's false
        ("1:30", "1:30"),  # and its 90
        ("NaN", "NaN"),
        ("a=b, c", "a=b, c"),
    ],
)
def test_a_value_is_json_or_else_text(text, value):
    found = parse([f"key={text}"])["key"]
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("text", ["style", "=short", "a b=1", "[1,2"])
def test_what_is_no_pair_is_refused(text):
    with pytest.raises(SettingsError, match=r"--agent_params: expected KEY=VALUE .* style=short"):
        settled([text])


def test_json_that_is_broken_is_no_text():
    with pytest.raises(SettingsError, match=r"--agent_params: tags: expected JSON.*got '\[a, b\]'"):
        settled(["tags=[a, b]"])


def test_pairs_change_single_parameters_and_a_mapping_all():
    assert settled(["a=1"], {"a": 2, "b": 3}) == {"a": 1, "b": 3}
    assert settled(["a=1"], ["b=2"], {"a": 0}) == {"a": 1, "b": 2}
    assert settled({"a": 2}, ["b=2"]) == {"a": 2}
    assert settled(["a=1", "a=2"]) == {"a": 2}
