"""Columns as arrays: ids, texts, groups."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_agentbench.city.map_columns import Ids, Texts, coded, ranges, starts_of

NUMBERS = st.lists(st.integers(-(2**61), 2**61), unique=True)
MIXED = st.lists(st.one_of(st.integers(), st.text(max_size=5)), unique=True)


@given(st.one_of(NUMBERS, MIXED), st.one_of(st.integers(), st.text(max_size=5)))
def test_a_row_is_that_of_the_list(values, other):
    ids = Ids(values)
    assert len(ids) == len(values)
    assert ids.values() == values
    for row, value in enumerate(values):
        assert ids.row(value) == row
        assert ids.at(row) == value
        assert type(ids.at(row)) is type(value)
    assert ids.row(other) == (values.index(other) if other in values else None)
    rows = np.arange(len(values))[::-1]
    assert ids.some(rows) == values[::-1]


def test_what_cannot_be_an_id_has_no_row():
    for ids in (Ids([1, 2]), Ids(["a", 2])):
        for value in (None, 1.5, [1], "b", 2**80, (1,)):
            assert ids.row(value) is None
    assert Ids([3, 7]).row(np.int64(7)) == 1


@pytest.mark.parametrize("values", [[3, 1, 3], ["a", 1, "a"]])
def test_an_id_twice_is_refused(values):
    with pytest.raises(ValueError, match=f"expected every POI once, got {values[0]!r} twice"):
        Ids(values, "POI")


@given(st.lists(st.text(st.characters())))
def test_texts_come_back(texts):
    kept = Texts.of(texts)
    assert len(kept) == len(texts)
    assert kept.values() == texts
    assert [kept.at(row) for row in range(len(texts))] == texts
    rows = np.arange(len(texts))[::-1]
    assert kept.some(rows) == texts[::-1]


def test_half_a_character_survives():
    assert Texts.of(["\ud800x"]).at(0) == "\ud800x"


@given(st.lists(st.text(max_size=2)))
def test_codes_name_the_texts(texts):
    names, numbers = coded(texts)
    assert [names[number] for number in numbers] == texts
    assert len(set(names)) == len(names)


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 5))))
def test_ranges_are_those_of_python(pairs):
    begins = np.array([begin for begin, _ in pairs], np.int64)
    ends = begins + np.array([count for _, count in pairs], np.int64)
    expected = [n for begin, count in pairs for n in range(begin, begin + count)]
    assert ranges(begins, ends).tolist() == expected


def test_starts():
    assert starts_of([]).tolist() == [0]
    assert starts_of([3, 0, 2]).tolist() == [0, 3, 3, 5]
