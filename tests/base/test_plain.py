"""Any value an agent may give, as plain JSON or as what a benchmark checks."""

from __future__ import annotations

import collections
import enum
import json
import time
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
    plain_answer,
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

    twice: list = []
    twice += [twice, {"a": twice}]
    assert json.dumps(jsonable(twice)).count("too deep") == 2


def test_lists_within_each_other_are_counted_before_they_are_copied():
    """40 lists, and 2**40 values to whoever follows them all."""
    value: list = ["x"]
    for _ in range(40):
        value = [value, value]
    started = time.process_time()
    kept = json.dumps(jsonable({"a": value}))
    assert time.process_time() - started < 1
    assert 100_000 < kept.count("x") < 1_000_000
    with pytest.raises(ValueError, match="at most 1000000 values"):
        jsonable(value, whole=True)


def test_of_an_answer_that_is_too_large_the_beginning_is_kept():
    assert plain_answer([float("-inf"), (1,), {2: b""}]) == [
        float("-inf"), [1], {"2": {"<bytes>": "b''"}}
    ]  # fmt: skip
    value: list = ["x"]
    for _ in range(40):
        value = [value, value]
    kept = json.dumps(plain_answer(value))
    assert 100 < kept.count("x") < 10_000
    assert "too large to be kept" in kept


def test_what_is_shared_and_small_is_kept_as_often_as_it_stands_there():
    row, deep = [0.5, "x"], [[[["x"]]]]
    assert jsonable([row] * 3) == [[0.5, "x"]] * 3
    value = deep
    for _ in range(96):  # the same list again, where it would be too deep
        value = [value]
    kept = jsonable([deep, value])
    assert kept[0] == deep
    assert "too deep" in json.dumps(kept[1])


class Own:
    def __init__(self, **held):
        vars(self).update(held)

    def __repr__(self):
        while True:
            pass


def test_objects_are_kept_by_what_they_hold_and_not_by_what_they_say():
    bomb: list = []
    for _ in range(40):
        bomb = [bomb, bomb]
    assert jsonable(Own(stars=4)) == {"<Own>": {"stars": 4}}
    assert jsonable(Own()) == {"<Own>": "<a Own>"}
    assert jsonable(ValueError("x", 1)) == {"<ValueError>": ["x", 1]}
    assert jsonable({Own(): 1, 2: 3, (1, "a"): 4}) == {"<a Own>": 1, "2": 3, "(1, 'a')": 4}
    assert "too deep" in json.dumps(jsonable(ValueError(bomb)))
    assert jsonable(collections.deque([bomb])) == {"<deque>": "<a deque>"}


class OwnInt(int):
    def _never(self, *args):
        raise ZeroDivisionError

    __eq__ = __lt__ = __repr__ = __str__ = __index__ = __int__ = __hash__ = _never


class OwnList(list):
    __iter__ = __len__ = __getitem__ = OwnInt._never


def test_what_tolist_gives_is_plain_as_well():
    class Array:
        def tolist(self):
            return OwnList([OwnInt(3), OwnList([OwnInt(4)])])

    for made in (jsonable(Array()), jsonable(unpacked(Array()))):
        assert (type(made), type(made[0]), type(made[1]), type(made[1][0])) == (
            list,
            int,
            list,
            int,
        )
        assert made == [3, [4]]
    assert [type(one) for one in items(Array())] == [int, OwnList]

    class Again:
        def tolist(self):
            return self

    assert "too deep" in json.dumps(jsonable(Again()))
    assert isinstance(unpacked(Again()), Again)


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

    assert items(Endless([5, 6])) == [5, 6]


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
