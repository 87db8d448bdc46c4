"""What is taken as an answer, and what is refused with which words."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

from pytest_agentbench.base.errors import InvalidAnswer
from pytest_agentbench.benchmarks.humob.benchmark import Humob

CELLS = [[1 + i, 200 - i] for i in range(9)]


@pytest.fixture
def sample(csv, person, load):
    return load(csv(person(80012))).sample(0)


@pytest.fixture
def rows(sample):
    return [[d, t, x, y] for (d, t), (x, y) in zip(sample.context["targets"], CELLS, strict=True)]


def check(sample, answer):
    return Humob().check(sample, answer)


def forms():
    names = ["d", "t", "x", "y"]
    return {
        "cells": lambda rows: [row[2:] for row in rows],
        "tuples": lambda rows: tuple(tuple(row[2:]) for row in rows),
        "rows": lambda rows: rows,
        "rows with uid": lambda rows: [[80012, *row] for row in rows],
        "array": lambda rows: np.array(rows)[:, 2:],
        "unsigned array": lambda rows: np.array(rows, np.uint8),
        "whole floats": lambda rows: np.array(rows, float),
        "list of arrays": lambda rows: [np.array(row) for row in rows],
        "mixed numbers": lambda rows: [[np.int16(row[2]), float(row[3])] for row in rows],
        "objects": lambda rows: np.array(rows, object),
        "pandas": lambda rows: pd.DataFrame(rows, columns=names),
        "polars": lambda rows: pl.DataFrame(rows, schema=names, orient="row"),
        "pandas without names": lambda rows: pd.DataFrame(rows),
        "columns in another order": lambda rows: pd.DataFrame(rows, columns=names)[["y", "x"]],
        "columns of one's own": lambda rows: (
            pl.DataFrame(rows, schema=names, orient="row")
            .with_columns(score=0.5)
            .select("score", "x", "y")
        ),
    }


@pytest.mark.parametrize("form", forms())
def test_every_form_gives_the_same_plain_cells(sample, rows, form):
    answer = check(sample, forms()[form](rows))
    assert answer == CELLS
    assert json.loads(json.dumps(answer)) == CELLS


def changed(row, column, value):
    cells = [list(cell) for cell in CELLS]
    cells[row][column] = value
    return cells


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "one (x, y), (d, t, x, y) or (uid, d, t, x, y) per target, got None"),
        ("home", "per target, got 'home'"),
        ({"x": 1}, "per target, got {'x': 1}"),
        (17, "per target, got 17"),
        ([], "expected 9 rows, one (x, y), (d, t, x, y) or (uid, d, t, x, y) per target, got 0"),
        (CELLS[:-1], "got 8 rows"),
        (np.zeros(9), "got an array of shape (9,)"),
        (np.ones((9, 3)), "(uid, d, t, x, y) in row 0, got [1.0, 1.0, 1.0]"),
        ([*CELLS[:4], [1, 2, 3], *CELLS[5:]], "expected 2 values as in row 0 in row 4, got [1, 2"),
        ([*CELLS[:4], 12, *CELLS[5:]], "in row 4, got 12"),
        (["ab"] * 9, "in row 0, got 'ab'"),
        (changed(3, 0, None), "whole numbers in row 3 (d=61, t=10), got x=None"),
        (changed(3, 1, "7"), "whole numbers in row 3 (d=61, t=10), got y='7'"),
        (changed(3, 1, True), "whole numbers in row 3 (d=61, t=10), got y=True"),
        (changed(3, 1, 7.5), "whole numbers in row 3 (d=61, t=10), got y=7.5"),
        (changed(0, 0, float("nan")), "whole numbers in row 0 (d=60, t=10), got x=nan"),
        (changed(0, 0, float("inf")), "whole numbers in row 0 (d=60, t=10), got x=inf"),
        (changed(0, 0, 10**30), "whole numbers in row 0 (d=60, t=10), got x=1000000000"),
        (changed(8, 0, 0), "x and y within 1-200 in row 8 (d=62, t=30), got x=0, y=192"),
        (changed(8, 1, 201), "x and y within 1-200 in row 8 (d=62, t=30), got x=9, y=201"),
        (changed(8, 1, -3), "got x=9, y=-3"),
        (changed(2, 0, 999), "got x=999, y=198 (999 is the mask, not a cell)"),
        (np.array(CELLS, np.uint8) - np.uint8(1), "got x=0, y=199"),
        (np.array(CELLS, bool), "whole numbers in row 0 (d=60, t=10), got x=True"),
    ],
)
def test_what_is_no_answer_is_refused_with_its_row(sample, answer, message):
    with pytest.raises(InvalidAnswer) as error:
        check(sample, answer)
    assert message in str(error.value)


def test_rows_for_other_times_or_people_are_refused(sample, rows):
    rows[4][1] += 1
    with pytest.raises(InvalidAnswer, match=r"d=61, t=20 in row 4 .* got d=61, t=21"):
        check(sample, rows)
    rows[4][1] -= 1
    with pytest.raises(InvalidAnswer, match=r"expected d=60, t=10 in row 0 .* got d=62, t=30"):
        check(sample, rows[::-1])
    with pytest.raises(InvalidAnswer, match=r"expected uid 80012 in row 0, got 80013"):
        check(sample, [[80013, *row] for row in rows])


def test_an_agent_that_changes_its_context_gains_nothing(sample):
    sample.context["targets"] = sample.context["targets"][:1]
    with pytest.raises(InvalidAnswer, match=r"expected 9 rows"):
        check(sample, CELLS[:1])


def test_an_object_that_raises_when_looked_at_is_an_invalid_answer(sample):
    class Strange:
        def __array__(self, dtype=None, copy=None):
            raise RuntimeError("no array today")

    with pytest.raises(InvalidAnswer, match="Strange"):
        check(sample, Strange())
