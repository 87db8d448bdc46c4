"""Messages stay short and never fail, whatever value they show."""

from __future__ import annotations

import pytest

from pytest_agentbench.base.errors import InvalidAnswer, shown, without_secrets


class Hostile:
    def __repr__(self):
        raise SystemExit


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": [2]}, "{'b': 1, 'a': [2]}"),
        ("x" * 300, "'" + "x" * 199 + "... (302 characters)"),
        (Hostile(), "a Hostile whose repr raised SystemExit"),
        ([Hostile()], "a list whose repr raised SystemExit"),
    ],
)
def test_any_value_is_shown_in_short(value, text):
    assert shown(value) == text


def test_a_value_that_holds_itself_many_times_is_cut_while_it_is_shown():
    value: list = []
    for _ in range(40):
        value = [value, value]
    assert len(shown(value)) < 210


def test_a_refusal_shows_the_value_or_describes_it():
    assert str(InvalidAnswer("a number", "x")) == "expected a number, got 'x'"
    assert str(InvalidAnswer("two rows", described="3 rows")) == "expected two rows, got 3 rows"
    long = str(InvalidAnswer("a word", described="w" * 500))
    assert long == f"expected a word, got {'w' * 200}... (500 characters)"


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("https://me:word@host:8000/answer?key=k", "https://host:8000/answer"),
        ("http://host/a#b", "http://host/a"),
    ],
)
def test_addresses_are_shown_without_secrets(url, text):
    assert without_secrets(url) == text
