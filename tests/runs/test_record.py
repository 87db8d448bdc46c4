"""Records are plain JSON, whatever an agent said."""

from __future__ import annotations

import json
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_agentbench.base.plain import jsonable
from pytest_agentbench.runs.record import Record

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(JSON)
def test_any_json_answer_survives_the_way_to_the_log_and_back(answer):
    kept = jsonable(answer)
    line = Record("b", "s[1]", "ok", answer=kept).to_json()
    assert line.isascii()
    assert "\n" not in line
    assert Record.from_json(line).answer == kept
    assert json.loads(line)["answer"] == kept


@pytest.mark.parametrize("answer", [[[17, 4]] * 1000, "é\ud800" * 600, {"short": 1}, None])
def test_long_answers_are_kept_small_and_come_back_whole(answer):
    record = Record("b", "s[1]", "ok", answer=answer, metrics={"r": {"m": 0.5}})
    for back in (Record.from_parts(*record.to_parts()), Record.from_json(record.to_json())):
        assert back == record
        assert back.to_json() == record.to_json()
        kept = vars(back)["answer"]
        assert len(kept if isinstance(kept, bytes) else json.dumps(kept)) < 500


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


@pytest.mark.parametrize("line", ["", "3", "{}", '{"benchmark": "b"}', "[1]", '{"x": 1}', "nonsense",
                                  '{"benchmark": "b", "sample": "s", "status": "fine"}'])  # fmt: skip
def test_what_is_no_record_is_refused(line):
    with pytest.raises(ValueError, match=r"."):
        Record.from_json(line)
