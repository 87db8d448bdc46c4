"""Dynamic time warping against golden cases, a textbook implementation and its own laws."""

from __future__ import annotations

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

from pytest_agentbench.metrics import dtw, kernel_loading

any_cell = st.tuples(st.integers(1, 200), st.integers(1, 200))
few_cells = st.tuples(st.integers(1, 3), st.integers(1, 3))
any_day = st.lists(any_cell, min_size=1, max_size=16) | st.lists(few_cells, min_size=1, max_size=30)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: case["name"])
def test_golden_users_to_the_last_bit(case, edition, backend):
    costs, golden, mean = golden_user(dtw, case, edition, backend)
    assert costs.tolist() == golden
    assert costs.mean() == mean


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("case", GOLDEN["orig"])
def test_golden_sequences_to_the_last_bit(case, edition):
    cost = dtw.dtw_distance(case["generated"], case["reference"], edition)
    assert cost == case["expected"][edition]["dtw"]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("edition", EDITIONS)
@given(
    pairs=st.lists(st.tuples(any_day, any_day), min_size=1, max_size=8),
    scale=st.sampled_from([1.0, 2.0, 0.3]),
)
@settings(max_examples=150, deadline=None)
def test_every_length_as_in_the_textbook(backend, edition, pairs, scale):
    costs = score_days(dtw, *together(pairs), edition, scale_factor=scale, backend=backend)
    assert costs.tolist() == [textbook.dtw(gen, ref, edition, scale) for gen, ref in pairs]


@pytest.mark.parametrize("cells", [2, 200])
def test_full_days_of_48_points(cells):
    rng = np.random.default_rng(cells)
    pairs = [tuple(rng.integers(1, cells + 1, (2, 48, 2))) for _ in range(10)]
    for edition in EDITIONS:
        expected = [textbook.dtw(g.tolist(), r.tolist(), edition) for g, r in pairs]
        for backend in BACKENDS:
            assert score_days(dtw, *together(pairs), edition, backend=backend).tolist() == expected


@given(day=any_day)
@settings(deadline=None)
def test_equal_days_cost_nothing(day):
    assert [dtw.dtw_distance(day, day, edition) for edition in EDITIONS] == [0.0, 0.0]


@given(gen=any_day, ref=any_day, move=st.tuples(*[st.integers(-(10**12), 10**12)] * 2))
@settings(deadline=None)
def test_moving_the_map_changes_nothing(gen, ref, move):
    here = dtw.dtw_distance(gen, ref, "2025")
    assert dtw.dtw_distance(np.array(gen) + move, np.array(ref) + move, "2025") == here
    assert dtw.dtw_distance(np.array(gen) + 0.5, np.array(ref) + 0.5, "2025") == here


def test_fractions_and_far_points_take_the_exact_path():
    assert dtw.dtw_distance([(0.25, 0)], [(1.0, 1.0)]) == 0.625
    kernel_loading.load()
    far = np.array([(0, 0), (3_000_000, 4_000_000)])
    assert dtw.dtw_distance(far, far[:1], scale_factor=1.0) == 5_000_000.0


def test_one_call_with_kernels_is_one_day_of_many():
    kernel_loading.load()
    rng = np.random.default_rng(8)
    for n, m in [(1, 1), (1, 9), (8, 1), (22, 22), (47, 48)]:
        gen, ref = rng.integers(1, 201, (n, 2)), rng.integers(1, 201, (m, 2))
        for edition in EDITIONS:
            many = score_days(dtw, gen, ref, [0, n], [0, m], edition, backend="numpy")
            # The first call prepares what the later ones use.
            assert [dtw.dtw_distance(gen, ref, edition) for _ in range(2)] == [many[0]] * 2


def test_2023_may_start_anywhere_in_the_reference():
    gen, ref = [(9, 9), (9, 9)], [(1, 1), (2, 2), (9, 9)]
    assert dtw.dtw_distance(gen, ref, "2023") == 0.0
    assert dtw.dtw_distance(gen, ref, "2025") > 8


def test_threads_change_no_bit():
    one, four, without_kernels = with_threads(dtw)
    assert one == four == without_kernels


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"edition": "2022"}, "edition must be '2023' or '2025', got '2022'"),
        ({"scale_factor": 0.0}, "scale_factor must be a number above 0, got 0.0"),
        ({"scale_factor": float("nan")}, "scale_factor .* got nan"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    for kernels in (False, True):
        if kernels:
            kernel_loading.load()
        with pytest.raises(ValueError, match=message):
            dtw.dtw_distance(np.array([(1, 1)]), np.array([(1, 1)]), **arguments)


@pytest.mark.parametrize(
    ("points", "message"),
    [
        (np.empty((0, 2), int), "generated day 0: expected at least one point, got none"),
        (np.ones((2, 3), int), r"got int64 of shape \(2, 3\)"),
        (np.ones(4, int), r"got int64 of shape \(4,\)"),
    ],
)
def test_points_of_another_shape_are_refused_by_every_path(points, message):
    kernel_loading.load()
    for generated in (points, points.astype(np.int16)):
        with pytest.raises(ValueError, match=message.replace("int64", str(generated.dtype))):
            dtw.dtw_distance(generated, np.array([(1, 1)]))


def test_points_need_not_be_contiguous():
    kernel_loading.load()
    wide = np.array([(1, 0, 1), (4, 0, 5)])
    assert dtw.dtw_distance(wide[:, ::2], wide[:1, ::2], scale_factor=1.0) == 5.0
