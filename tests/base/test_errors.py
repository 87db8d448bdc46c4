"""Messages stay short and never fail, whatever value they show."""

from __future__ import annotations

import collections
import datetime
import time

import numpy as np
import pytest

from pytest_agentbench.base.errors import (
    LONGEST_TOLD,
    InvalidAnswer,
    shown,
    told,
    without_secrets,
)


class Hostile:
    def __repr__(self):
        while True:
            pass

    __str__ = __len__ = __iter__ = __repr__  # not __eq__: pytest itself compares parameters


class HostileText(str):
    __repr__ = __str__ = __len__ = Hostile.__repr__


class HostileList(list):
    __repr__ = __iter__ = __len__ = Hostile.__repr__


def nested(copies, levels=40, inner="x"):
    value = [inner]
    for _ in range(levels):
        value = [value] * copies
    return value


def boxed(value):
    array = np.empty(1, object)
    array[0] = value
    return array


# Not parameters: pytest would print them.
SHOWN = [
    ({"b": 1, "a": [2]}, "{'b': 1, 'a': [2]}"),
    ("x" * 300, "'" + "x" * 200 + "... (300 characters)"),
    (Hostile(), "<a Hostile>"),
    ([Hostile(), HostileText("x"), HostileList([1]), (2,)], "[<a Hostile>, 'x', [1], (2,)]"),
    (Hostile, "<class Hostile>"),
    (len, "<function len>"),
    ({1}, "{1}"),
    ((), "()"),
    (set(), "set()"),
    (True, "True"),
    (b"x", "b'x'"),
    (10**5000, "an integer of 16610 bits"),
    (datetime.date(2026, 11, 16), "datetime.date(2026, 11, 16)"),
    (np.array([1, 2]), "array([1, 2])"),
    (boxed(nested(2)), "<a ndarray>"),
    (collections.deque([nested(2)]), "<a deque>"),
    (ValueError(nested(2)), "<a ValueError>"),
]


def test_any_value_is_shown_in_short():
    assert [shown(value) for value, _ in SHOWN] == [text for _, text in SHOWN]


@pytest.mark.parametrize("copies", [2, 60])
def test_a_value_that_holds_itself_many_times_is_cut_while_it_is_shown(copies):
    started = time.process_time()
    assert len(shown(nested(copies))) < 210
    assert len(shown({"a": tuple(nested(copies))})) < 210
    assert time.process_time() - started < 0.5


class Unprintable(Exception):
    def __str__(self):
        raise KeyboardInterrupt


class NoText(Exception):
    def __str__(self):
        return 5


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError(), ""),
        (ValueError("why"), "why"),
        (ValueError("why", 5), "('why', 5)"),
        (KeyError("name"), "'name'"),
        (OSError(2, "gone", "file"), "[Errno 2] gone: 'file'"),
        (Unprintable(), "<its text could not be made: KeyboardInterrupt>"),
        (NoText(), "<its text could not be made: TypeError>"),
        (ValueError(Hostile()), "<a Hostile>"),
    ],
)
def test_an_exception_is_told_whatever_it_holds(error, text):
    assert told(error) == text


def test_of_a_long_text_the_first_and_the_last_part_are_kept():
    text = told(ValueError("a" * 10_000_000 + "b" * 10_000_000))
    half = LONGEST_TOLD // 2
    assert text == f"{'a' * half}… (19980000 characters left out) …{'b' * half}"
    assert len(told(ValueError(nested(2)))) < 210


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
