"""Replies of models, cleaned by agentsociety's names."""

from __future__ import annotations

import pytest

from pytest_agentbench.agents.asbench.json_texts import (
    clean_json_response,
    extract_dict_from_string,
    extract_json,
    prettify_document,
)


@pytest.mark.parametrize("text", ['```json\n{"a": 1}\n```', ' {"a": 1}\n', '```{"a": 1}```'])
def test_fences_go(text):
    assert clean_json_response(text) == '{"a": 1}'


def test_the_text_between_the_outer_braces():
    assert extract_json('Sure: {"a": {"b": 1}} as you wish') == '{"a": {"b": 1}}'
    assert extract_json("no braces") == ""


def test_a_document_on_one_line():
    assert prettify_document(" a\n\n b\tc ") == "a b c"


@pytest.mark.parametrize(
    ("text", "dicts"),
    [
        ("", []),
        ("{'a': 1} and {\"b\": {'c': [2]}}", [{"a": 1}, {"b": {"c": [2]}}]),
        ("{broken} {'a': 1}", [{"a": 1}]),
        ("{1, 2} {'a': '}'}", [{"a": "}"}]),  # a set is no dict; a brace may stand in a text
        ("{'a': 1", []),
    ],
)
def test_dicts_in_a_text(text, dicts):
    assert extract_dict_from_string(text) == dicts
