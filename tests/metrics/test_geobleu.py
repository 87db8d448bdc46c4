"""GEO-BLEU against golden cases, a textbook implementation and its own laws."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metrics import textbook_trajectories as textbook
from metrics.golden_days import (
    BACKENDS,
    EDITIONS,
    GOLDEN,
    golden_user,
    score_days,
    together,
    with_threads,
)

from pytest_agentbench.metrics import geobleu, trajectory_days

# The golden cases hold glibc's exponentials; another C library may differ in the last bit.
GOLDEN_TOLERANCE = 0 if sys.platform == "linux" else 1e-12

few_cells = st.tuples(st.integers(1, 4), st.integers(1, 3))
any_cell = st.tuples(st.integers(1, 200), st.integers(1, 200))


def days(cell=any_cell, longest=14):
    return st.lists(cell, min_size=1, max_size=longest)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: case["name"])
def test_golden_users_to_the_last_bit(case, edition, backend):
    scores, golden, mean = golden_user(geobleu, case, edition, backend)
    np.testing.assert_allclose(scores, golden, rtol=GOLDEN_TOLERANCE)
    assert scores.mean() == pytest.approx(mean, rel=GOLDEN_TOLERANCE, abs=0)


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("case", GOLDEN["orig"])
def test_golden_sequences_to_the_last_bit(case, edition):
    score = geobleu.geobleu_score(
        case["generated"], case["reference"], edition, max_n=case["max_n"], beta=case["beta"]
    )
    golden = case["expected"][edition]["geobleu"]
    assert score == pytest.approx(golden, rel=GOLDEN_TOLERANCE, abs=0)


@pytest.mark.parametrize("edition", EDITIONS)
@given(
    pairs=st.lists(
        st.tuples(days(), days()) | st.tuples(days(few_cells), days(few_cells)),
        min_size=1,
        max_size=6,
    )
)
@settings(max_examples=150, deadline=None)
def test_unequal_lengths_and_ties_as_in_the_textbook(edition, pairs):
    expected = [textbook.geobleu(gen, ref, edition) for gen, ref in pairs]
    scores = score_days(geobleu, *together(pairs), edition, backend="numpy")
    np.testing.assert_allclose(scores, expected, rtol=1e-12)


@given(
    pairs=st.lists(
        st.tuples(days(), days()) | st.tuples(days(few_cells, 30), days(few_cells, 30)),
        min_size=1,
        max_size=8,
    ),
    max_n=st.integers(1, 9),
    beta=st.sampled_from([0.0, 1e-18, 0.1, 0.5, 3.0]),
)
@settings(max_examples=300, deadline=None)
def test_numba_and_numpy_agree_to_the_bit(pairs, max_n, beta):
    laid_out = together(pairs)
    for edition in EDITIONS:
        one, other = (
            score_days(geobleu, *laid_out, edition, max_n=max_n, beta=beta, backend=backend)
            for backend in BACKENDS
        )
        assert one.tolist() == other.tolist()


@pytest.mark.parametrize("cells", [2, 5, 200])
def test_full_days_of_48_points(cells):
    rng = np.random.default_rng(cells)
    pairs = [tuple(rng.integers(1, cells + 1, (2, 48, 2))) for _ in range(6)]
    for edition in EDITIONS:
        expected = [textbook.geobleu(g.tolist(), r.tolist(), edition) for g, r in pairs]
        for backend in BACKENDS:
            scores = score_days(geobleu, *together(pairs), edition, backend=backend)
            np.testing.assert_allclose(scores, expected, rtol=1e-12)


@pytest.mark.parametrize("edition", EDITIONS)
@given(day=days(), place=st.integers(-300, 10_000))
@settings(deadline=None)
def test_equal_days_score_one_wherever_they_are(edition, day, place):
    moved = np.array(day) + place
    assert geobleu.geobleu_score(moved, moved, edition) == 1.0


@given(gen=days(), ref=days(), move=st.tuples(*[st.integers(-(10**12), 10**12)] * 2))
@settings(deadline=None)
def test_moving_the_map_changes_nothing(gen, ref, move):
    here = geobleu.geobleu_score(gen, ref, "2025")
    assert geobleu.geobleu_score(np.array(gen) + move, np.array(ref) + move, "2025") == here
    # Halves are exact doubles: the path for fractions must meet the same bits.
    assert geobleu.geobleu_score(np.array(gen) + 0.5, np.array(ref) + 0.5, "2025") == here


@given(pairs=st.lists(st.tuples(days(), days()), min_size=2, max_size=8), data=st.data())
@settings(deadline=None)
def test_a_days_score_does_not_depend_on_its_neighbours(pairs, data):
    order = data.draw(st.permutations(range(len(pairs))))
    scores = score_days(geobleu, *together(pairs), backend="numpy")
    shuffled = score_days(geobleu, *together([pairs[k] for k in order]), backend="numpy")
    assert shuffled.tolist() == scores[list(order)].tolist()


def test_one_point_days():
    scores = score_days(geobleu, [(1, 1), (1, 1)], [(1, 1), (4, 5)], [0, 1, 2], [0, 1, 2], "2025")
    np.testing.assert_allclose(scores, [1.0, np.exp(-2.5)], rtol=1e-15)


def test_a_short_answer_is_penalised_and_a_long_one_is_not():
    day = [(k, k) for k in range(1, 9)]
    assert geobleu.geobleu_score(day[:4], day) == pytest.approx(np.exp(-1))
    assert geobleu.geobleu_score(day, day[:4]) == 1.0
    assert geobleu.geobleu_score(day, day[:4], "2025") < 0.5


def test_far_points_underflow_to_zero_without_a_warning():
    assert geobleu.geobleu_score([(0, 0), (1, 0)], [(10**6, 0), (10**6, 9)]) == 0.0


def test_every_edition_at_once_is_each_edition_alone():
    rng = np.random.default_rng(3)
    laid_out = together([tuple(rng.integers(1, 9, (2, n, 2))) for n in (1, 2, 4, 7, 20)])
    pairs = trajectory_days.day_pairs(*laid_out)
    for edition, scores in geobleu.score_pairs_by_edition(pairs).items():
        assert scores.tolist() == score_days(geobleu, *laid_out, edition).tolist()


def test_threads_change_no_bit():
    one, four, without_kernels = with_threads(geobleu)
    assert one == four == without_kernels


def test_no_days_no_scores():
    nothing = np.empty((0, 2), int)
    assert score_days(geobleu, nothing, nothing, [0], [0]).tolist() == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"edition": "2024"}, "edition must be '2023' or '2025', got '2024'"),
        ({"max_n": 0}, "max_n must be at least 1, got 0"),
        ({"beta": -1.0}, "beta must be a number of at least 0, got -1.0"),
        ({"beta": float("nan")}, "got nan"),
        ({"backend": "gpu"}, "backend must be 'auto', 'numpy' or 'numba', got 'gpu'"),
        ({"threads": 0, "backend": "numba"}, "threads must be at least 1, got 0"),
    ],
)
def test_bad_arguments_are_named(change, message):
    with pytest.raises(ValueError, match=message):
        score_days(geobleu, [(1, 1)], [(1, 1)], [0, 1], [0, 1], **change)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int8", "float32", "uint64"])
def test_small_and_unsigned_types_do_not_wrap(dtype):
    gen, ref = np.array([(3, 100), (90, 2)], dtype), np.array([(100, 4), (1, 120)], dtype)
    expected = textbook.geobleu(gen.tolist(), ref.tolist(), "2023")
    assert geobleu.geobleu_score(gen, ref) == pytest.approx(expected, rel=1e-12)
