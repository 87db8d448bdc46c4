"""Any value an agent may give, as plain JSON or as what a benchmark checks."""

from __future__ import annotations

import enum
import json
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pytest

from pytest_agentbench.base.errors import InvalidAnswer
from pytest_agentbench.base.plain import (
    LARGEST,
    is_amount,
    is_finite,
    is_number,
    items,
    jsonable,
    keys_shown,
    limit_words,
    unpacked,
)


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (np.float64(0.5), 0.5),
        (np.arange(2), [0, 1]),
        (np.array([1.0, np.nan]), [1.0, {"<float>": "nan"}]),
        (float("inf"), {"<float>": "inf"}),
        ((1, {2}), [1, {"<set>": [2]}]),
        ({1: "a"}, {"1": "a"}),
        (pd.Series([1, 2]), [1, 2]),
        (pl.Series([1, 2]), {"<Series>": [1, 2]}),
        (pd.DataFrame({"x": [1]}), {"<DataFrame>": {"x": {"0": 1}}}),
        (date(2026, 11, 16), {"<date>": "2026-11-16"}),
        (np.timedelta64(3, "ns"), {"<timedelta64>": "np.timedelta64(3,'ns')"}),
        (b"x", {"<bytes>": "b'x'"}),
        ("\ud83d\ude00", "\U0001f600"),
        (True, True),
    ],
)
def test_what_json_cannot_hold_is_converted(value, kept):
    assert jsonable(value) == kept


def test_numbers_of_numpy_become_builtins():
    assert type(jsonable(np.int64(3))) is int
    assert type(jsonable(np.str_("x"))) is str
    assert type(jsonable(np.bool_(True))) is bool


def test_numbers_too_long_to_print_are_kept_in_hexadecimal():
    assert jsonable(10**5000) == {"<int>": hex(10**5000)}
    assert jsonable(10**3000) == 10**3000


def test_answers_that_would_never_end_are_cut():
    endless: list = []
    endless.append(endless)
    assert "too deep" in json.dumps(jsonable(endless))

    class Hostile:
        def __repr__(self):
            raise RuntimeError

    assert jsonable(Hostile()) == {"<Hostile>": "<raised RuntimeError>"}


class Name(str):
    def __str__(self):
        return "another"


class Colour(enum.IntEnum):
    RED = 3


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (np.float32(0.5), 0.5),
        (np.array([[1, 2]]), [[1, 2]]),
        (Name("own"), "own"),
        (Colour.RED, 3),
        (True, True),
        ((1, 2), (1, 2)),
        (np.timedelta64(3, "ns"), np.timedelta64(3, "ns")),
    ],
)
def test_values_of_libraries_and_subclasses_are_unpacked(value, plain):
    assert unpacked(value) == plain
    assert type(unpacked(value)) is type(plain)


def test_an_array_that_fails_is_refused_in_words():
    class Broken:
        def tolist(self):
            raise RuntimeError("on another device")

    with pytest.raises(InvalidAnswer, match=r"got Broken \(on another device\)$"):
        unpacked(Broken())


def test_items_are_those_of_lists_and_arrays_only():
    assert items(np.array([1, 2])) == [1, 2]
    assert items((np.int64(1), "x")) == [1, "x"]
    assert items("xy") is None
    assert items({1: 2}) is None

    class Endless(list):
        def __iter__(self):
            while True:
                yield 1

    assert items(Endless([5, 6])) == [1, 1]


@pytest.mark.parametrize(
    ("value", "number", "finite", "amount"),
    [
        (1, True, True, True),
        (0.5, True, True, True),
        (-1, True, True, False),
        (True, False, False, False),
        (float("nan"), True, False, False),
        (10**400, True, False, False),
        (2 * LARGEST, True, True, False),
        ("1", False, False, False),
    ],
)
def test_kinds_of_numbers(value, number, finite, amount):
    assert (is_number(value), is_finite(value), is_amount(value)) == (number, finite, amount)


def test_the_limit_is_told_where_it_was_the_reason():
    assert limit_words(2 * LARGEST) == " and at most 1e+12"
    assert limit_words(-1) == ""


def test_keys_are_listed_and_cut():
    assert keys_shown({"a": 1, 2: 3}) == "a, 2"
    assert keys_shown({}) == "nothing"
    assert keys_shown({"x" * 300: 1}) == "x" * 200 + "..."
