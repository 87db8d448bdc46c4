"""JSON as declared types: refused by the path of its key, with what was expected and what came."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from pytest_agentbench.base import typed_json
from pytest_agentbench.base.errors import shown
from pytest_agentbench.base.typed_json import Count, FromOne, Number


@dataclass(frozen=True)
class Part:
    name: str
    size: FromOne = 1


@dataclass(frozen=True)
class Whole:
    title: str = ""
    count: Count = 0
    values: Mapping[str, Mapping[str, Number | None]] = field(default_factory=dict)
    parts: tuple[Part, ...] = ()


def test_a_good_file_of_this_or_a_later_version_is_read():
    text = '{"title": "\\ud800", "values": {"a": {"b": 1, "c": 0.5, "d": null}}, "parts": [{"name": "x"}], "new": 3}'
    found = typed_json.typed(Whole, typed_json.parsed(text))
    assert found == Whole("\ud800", 0, {"a": {"b": 1, "c": 0.5, "d": None}}, (Part("x"),))
    assert type(found.values["a"]["b"]) is int  # written again as it was read


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"title": 3}, "`title`: expected a text, got 3"),
        ({"count": -1}, "`count`: expected a whole number from 0, got -1"),
        ({"count": True}, "`count`: expected a whole number, got True"),
        ({"count": 1.0}, "`count`: expected a whole number, got 1.0"),
        ({"count": 10**30}, f"`count`: expected a whole number up to {2**53}, got {10**30}"),
        ({"values": {"a": {"b": 1, "c": "x"}}}, "`values.a.c`: expected a number or null, got 'x'"),
        ({"values": {"a": {"b": 10**400}}}, f"`values.a.b`: expected a whole number up to {2**53}, got {shown(10**400)}"),
        ({"values": {"\ud800": {"b": "\ud800"}}}, "half of a surrogate pair in a text"),
        ({"parts": [{"name": "x"}, {}]}, "`parts[1]`: expected the key `name`, got nothing"),
        ({"parts": [{"name": "x", "size": 0}]}, "`parts[0].size`: expected a whole number from 1, got 0"),
        ({"parts": {}}, "`parts`: expected a list, got {}"),
        ([], "the JSON: expected an object, got []"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named(data, said):
    with pytest.raises(ValueError, match=r".") as caught:
        typed_json.typed(Whole, data)
    assert str(caught.value) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1, NaN]", "NaN, which is no JSON"),
        ("[-Infinity]", "-Infinity, which is no JSON"),
        ("[1e999]", "the number 1e999, which is too large"),
        ("[" * 3000 + "]" * 3000, "more than 100 levels"),
        ("[" * 500 + "]" * 500, "more than 100 levels"),
        ("[" * 100_000, "more than 100 levels"),
        ("", "Expecting value"),
        (b"\xff", "can't decode byte"),
        ("1" * 5000, "4300 digits"),
    ],
)
def test_what_is_no_json_of_ours_is_refused(text, said):
    with pytest.raises(ValueError, match=r".") as caught:
        typed_json.parsed(text)
    assert said in str(caught.value)
