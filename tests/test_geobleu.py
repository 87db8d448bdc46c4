"""The drop-in keeps the reference package's rules, and refuses what it scores silently wrong."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metrics import textbook_trajectories as textbook

from pytest_agentbench import geobleu

GOLDEN = json.loads((Path(__file__).parent / "golden" / "humob.json").read_text())
EDITIONS = ("2023", "2025")

# The example of the reference's documentation: rows (d, t, x, y).
GENERATED = [
    (60, 12, 84, 88), (60, 15, 114, 78), (60, 21, 121, 96), (61, 12, 78, 86), (61, 13, 89, 67),
    (61, 17, 97, 70), (61, 20, 96, 70), (61, 24, 111, 80), (61, 25, 114, 78), (61, 26, 99, 70),
    (61, 38, 77, 86), (62, 12, 77, 86), (62, 14, 102, 129), (62, 15, 104, 131),
    (62, 17, 106, 131), (62, 18, 104, 110),
]  # fmt: skip
REFERENCE = [
    (60, 12, 82, 93), (60, 15, 114, 78), (60, 21, 116, 96), (61, 12, 82, 84), (61, 13, 89, 67),
    (61, 17, 97, 70), (61, 20, 91, 67), (61, 24, 109, 82), (61, 25, 110, 78), (61, 26, 99, 70),
    (61, 38, 77, 86), (62, 12, 77, 86), (62, 14, 97, 125), (62, 15, 104, 131),
    (62, 17, 106, 131), (62, 18, 103, 111),
]  # fmt: skip
SCORES = (0.21733678721880598, 5.889002930255253)


def with_uid(rows, uid):
    return [(uid, *row) for row in rows]


def scores(generated, reference, **options):
    return (
        geobleu.calc_geobleu(generated, reference, **options),
        geobleu.calc_dtw(generated, reference, **options),
    )


def test_the_documented_examples_to_the_last_digit():
    assert scores(GENERATED, REFERENCE, processes=3) == SCORES
    assert geobleu.calc_geobleu(GENERATED, REFERENCE, edition="2025") == 0.07556369896234784
    points = [(1, 1), (2, 2), (3, 3)], [(1, 1), (1, 1), (1, 2), (2, 2), (2, 2)]
    assert geobleu.calc_geobleu_orig(*points) == 0.2644414706605502


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: case["name"])
def test_golden_users(case, edition):
    expected = case["expected"][edition]
    sides = case["generated"], case["reference"]
    assert geobleu.calc_geobleu_single(*sides, edition=edition) == pytest.approx(
        expected["geobleu"], rel=1e-12, abs=0
    )
    assert geobleu.calc_dtw_single(*sides, edition=edition) == pytest.approx(
        expected["dtw"], rel=1e-12, abs=0
    )


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("case", GOLDEN["orig"])
def test_golden_sequences(case, edition):
    sides = case["generated"], case["reference"]
    bleu = geobleu.calc_geobleu_orig(*sides, case["max_n"], case["beta"], edition=edition)
    assert bleu == pytest.approx(case["expected"][edition]["geobleu"], rel=1e-12, abs=0)
    cost = geobleu.calc_dtw_orig(*sides, scale_factor=2.0, edition=edition)
    assert cost == pytest.approx(case["expected"][edition]["dtw"], rel=1e-12, abs=0)


@pytest.mark.parametrize("edition", EDITIONS)
def test_bulk_is_the_mean_over_users_in_any_order(edition):
    cases = GOLDEN["cases"][:12]
    gen = [row for uid, case in enumerate(cases) for row in with_uid(case["generated"], uid)]
    ref = [row for uid, case in reversed([*enumerate(cases)])
           for row in with_uid(case["reference"], uid)]  # fmt: skip
    for metric in ("geobleu", "dtw"):
        expected = np.mean([case["expected"][edition][metric] for case in cases])
        bulk = getattr(geobleu, f"calc_{metric}_bulk")(gen, ref, processes=2, edition=edition)
        assert bulk == pytest.approx(expected, rel=1e-12, abs=0)


FORMS = {
    "lists": lambda rows: [list(row) for row in rows],
    "tuple": tuple,
    "int array": np.array,
    "column-major": lambda rows: np.asfortranarray(rows),
    "unsigned bytes": lambda rows: np.array(rows, np.uint8),
    "floats": lambda rows: np.array(rows, float),
    "half of floats, half of ints": lambda rows: [(d, t, float(x), y) for d, t, x, y in rows],
    "objects": lambda rows: np.array(rows, object),
    "records": lambda rows: np.array(rows, [(name, int) for name in "dtxy"]),
    "pandas": lambda rows: pd.DataFrame(rows, columns=list("dtxy")),
    "pandas, other order": lambda rows: pd.DataFrame(rows, columns=list("dtxy"))[list("yxtd")],
    "pandas, unnamed": lambda rows: pd.DataFrame(rows),
    "pandas, nullable": lambda rows: pd.DataFrame(rows, columns=list("dtxy"), dtype="Int64"),
    "polars": lambda rows: pl.DataFrame(rows, schema=list("dtxy"), orient="row"),
    "polars, small": lambda rows: pl.DataFrame(
        rows, schema=dict.fromkeys("dtxy", pl.UInt8), orient="row"
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_trajectory_scores_the_same(form):
    assert scores(FORMS[form](GENERATED), FORMS[form](REFERENCE)) == SCORES
    assert scores(GENERATED, FORMS[form](REFERENCE)) == SCORES


@pytest.mark.parametrize("uid", [7, 80_000, 2.0, "user 7"])
def test_a_uid_column_is_allowed(uid):
    assert scores(with_uid(GENERATED, uid), with_uid(REFERENCE, uid)) == SCORES
    frame = pl.DataFrame(
        with_uid(GENERATED, uid), schema=["uid", "d", "t", "x", "y"], orient="row", strict=False
    )
    assert scores(frame, with_uid(REFERENCE, uid)) == SCORES


def test_rows_in_another_order_score_the_same_and_stay_in_it():
    order = np.random.default_rng(0).permutation(len(GENERATED))
    gen, ref = [GENERATED[k] for k in order], [REFERENCE[k] for k in order]
    before = copy.deepcopy((gen, ref))
    assert scores(gen, ref) == SCORES
    assert (gen, ref) == before
    array = np.array(gen)
    array.flags.writeable = False
    assert scores(array, ref) == SCORES


row = st.tuples(st.integers(60, 63), st.integers(0, 47), *[st.integers(1, 200)] * 2)


@pytest.mark.parametrize("edition", EDITIONS)
@given(rows=st.lists(row, min_size=1, max_size=30), data=st.data())
@settings(max_examples=60, deadline=None)
def test_days_and_times_repeat_and_mix_as_in_the_textbook(edition, rows, data):
    moves = data.draw(st.lists(st.integers(-5, 5), min_size=len(rows), max_size=len(rows)))
    other = [(d, t, x + move, y) for (d, t, x, y), move in zip(rows, moves, strict=True)]
    days = sorted({row[0] for row in rows})

    def day(side, d):
        return [row[2:] for row in sorted(side, key=lambda row: row[:2]) if row[0] == d]

    for metric in ("geobleu", "dtw"):
        expected = np.mean(
            [getattr(textbook, metric)(day(rows, d), day(other, d), edition) for d in days]
        )
        single = getattr(geobleu, f"calc_{metric}_single")(rows, other, edition=edition)
        assert single == pytest.approx(expected, rel=1e-12, abs=0)


def test_fractions_are_legal():
    half = [(d, t, x + 0.5, y) for d, t, x, y in GENERATED]
    other = [(d, t, x + 0.5, y) for d, t, x, y in REFERENCE]
    assert scores(half, other) == SCORES
    quarter = geobleu.calc_dtw([(60, 1, 1.25, 1)], [(60, 1, 2.0, 2)])
    assert quarter == 0.625
    assert 0 < geobleu.calc_geobleu(half, REFERENCE) < 1


def replaced(rows, at, *values):
    return [*rows[:at], (*rows[at][:2], *values), *rows[at + 1 :]]


REFUSED = {
    "empty generated": ([], REFERENCE, "generated trajectory: .* got none"),
    "empty reference": (GENERATED, np.empty((0, 4)), "reference trajectory: .* got none"),
    "lengths": (GENERATED[:-1], REFERENCE, "got 15 generated and 16 reference"),
    "ragged": ([(1, 2, 3, 4), (1, 2, 3)], REFERENCE[:2], r"generated .*\{4: 1, 3: 1\}"),
    "columns": ([(60, 12, 84)], [(60, 12, 84)], r"\(uid, d, t, x, y\), got 3 columns"),
    "sides differ": (with_uid(GENERATED, 1), REFERENCE, "got 5 generated and 4 reference"),
    "one dimension": (np.arange(16), REFERENCE, "expected 2 dimensions"),
    "day": ([(60, 1, 5, 5)], [(61, 1, 5, 5)], "step 0: generated d=60 t=1, reference d=61 t=1"),
    "time": ([*GENERATED[:15], (62, 19, 1, 1)], REFERENCE, "step 15: generated d=62 t=19"),
    "not the same order": (GENERATED[::-1], REFERENCE, "day and time differ at step 0"),
    "nan": (replaced(GENERATED, 3, float("nan"), 1), REFERENCE, "generated row 3: .* x, got nan"),
    "infinite": (GENERATED, replaced(REFERENCE, 2, 1, float("inf")), "reference row 2: .* y"),
    "none": (replaced(GENERATED, 3, 5, None), REFERENCE, "row 3: expected a number as y, got None"),
    "text": (replaced(GENERATED, 0, "84", 5), REFERENCE, "row 0: expected a number as x, got '84'"),
    "masked": (
        GENERATED,
        replaced(REFERENCE, 5, 999, 999),
        r"reference row d=61 t=17: expected a cell, got \[999, 999\]",
    ),
    "masked y": (
        replaced(GENERATED, 5, 1, 999.0),
        REFERENCE,
        r"generated row d=61 t=17: expected a cell, got \[1.0, 999.0\]",
    ),
    "too large": (
        np.array([(60, 1, 2**64 - 1, 1)], np.uint64),
        [(60, 1, 1, 1)],
        "generated row 0: x 18446744073709551615 exceeds 64 signed bits",
    ),
    "mixed uids": (
        with_uid(GENERATED[:8], 1) + with_uid(GENERATED[8:], 2),
        with_uid(REFERENCE[:8], 1) + with_uid(REFERENCE[8:], 2),
        "expected the rows of one uid, got 2 uids, 1 and 2",
    ),
    "other uid": (with_uid(GENERATED, 1), with_uid(REFERENCE, 2), "got 2 uids, 1 and 2"),
    "nullable": (
        pd.DataFrame([(60, 1, None, 5)], columns=list("dtxy"), dtype="Int64"),
        [(60, 1, 1, 1)],
        "generated row 0: expected a .*x",
    ),
    "null": (
        pl.DataFrame({"d": [60, 60], "t": [1, 2], "x": [1, None], "y": [1, 1]}),
        [(60, 1, 1, 1), (60, 2, 1, 1)],
        "generated row 1: expected a finite x, got nan",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_what_was_expected_and_where(name):
    generated, reference, message = REFUSED[name]
    for function in (
        geobleu.calc_geobleu,
        geobleu.calc_dtw,
        geobleu.calc_geobleu_single,
        geobleu.calc_dtw_single,
    ):
        with pytest.raises(ValueError, match=message):
            function(generated, reference)


@pytest.mark.parametrize("function", [geobleu.calc_geobleu_bulk, geobleu.calc_dtw_bulk])
@pytest.mark.parametrize(
    ("generated", "reference", "message"),
    [
        (GENERATED, REFERENCE, r"expected rows \(uid, d, t, x, y\), 5 columns, got 4"),
        (
            [(1, 60, 1, 1, 1), (9, 60, 1, 1, 1)],
            [(1, 60, 1, 1, 1), (2, 60, 1, 1, 1)],
            r"users differ: 1 missing in generated \[2\], 1 not in reference \[9\]",
        ),
        (
            [(1, 60, 1, 1, 1), (1, 60, 2, 1, 1), (2, 60, 1, 1, 1)],
            [(1, 60, 1, 1, 1), (2, 60, 1, 1, 1), (2, 60, 2, 1, 1)],
            "uid 1: expected 1 generated rows as in the reference, got 2",
        ),
        (
            [(2, 60, 1, 1, 1), (1, 60, 1, 1, 1)],
            [(1, 60, 1, 1, 1), (2, 60, 3, 1, 1)],
            r"step 0 \(uid 2\): generated d=60 t=1, reference d=60 t=3",
        ),
    ],
)
def test_bulk_refuses_sides_that_do_not_match(function, generated, reference, message):
    with pytest.raises(ValueError, match=message):
        function(generated, reference)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: geobleu.calc_geobleu_orig([], [(1, 1)]), "generated points: .* got none"),
        (lambda: geobleu.calc_dtw_orig([(1, 1)], []), "reference points: .* got none"),
        (lambda: geobleu.calc_dtw_orig(GENERATED, REFERENCE), "got 4 columns"),
        (lambda: geobleu.calc_geobleu_orig([(1, 1)], [(1, 1)], weights=[1]), "weights"),
        (lambda: geobleu.calc_geobleu(GENERATED, REFERENCE, processes=0), "got 0"),
        (lambda: geobleu.calc_dtw(GENERATED, REFERENCE, edition="2024"), "got '2024'"),
    ],
)
def test_options_are_checked(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_999_is_a_coordinate_where_points_are_not_cells():
    assert geobleu.calc_dtw_orig([(999, 1)], [(996, 5)]) == 5.0


@given(order=st.permutations(range(2 * len(GENERATED))))
@settings(max_examples=25, deadline=None)
def test_bulk_sorts_users_days_and_times_itself(order):
    gen = with_uid(GENERATED, 5) + with_uid(REFERENCE, 3)
    ref = with_uid(REFERENCE, 5) + with_uid(REFERENCE, 3)
    gen, ref = [gen[k] for k in order], [ref[k] for k in order]
    assert geobleu.calc_geobleu_bulk(gen, ref) == (1 + SCORES[0]) / 2
    assert geobleu.calc_dtw_bulk(np.array(gen), np.array(ref)) == SCORES[1] / 2
