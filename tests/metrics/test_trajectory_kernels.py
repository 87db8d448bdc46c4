"""The loops mean the same compiled and not, stay within their tables, and share out the days."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metrics import textbook_trajectories as textbook
from metrics.golden_days import together

from pytest_agentbench.metrics import geobleu, kernel_loading, trajectory_kernels
from pytest_agentbench.metrics.trajectory_days import day_pairs


def precisions_as_in_the_textbook(pairs, beta, orders=5):
    """Score days with either backend and assert the textbook's bits, order by order."""
    days = day_pairs(*together(pairs))
    expected = np.zeros((len(pairs), min(orders, max(min(map(len, pair)) for pair in pairs))))
    for day, (gen, ref) in enumerate(pairs):
        for order in range(min(orders, len(gen), len(ref))):
            whole = textbook.precision(gen, ref, order + 1, beta, "2025")
            expected[day, order] = whole
    grams = np.array([[max(len(gen) - order, 1) for order in range(expected.shape[1])]
                      for gen, _ in pairs])  # fmt: skip
    for backend in ("numba", "numpy"):
        sums = geobleu._taken_sums(days, orders, beta, 1, backend)
        assert (sums / grams).tolist() == expected.tolist()


# A beta near 1e-16 makes neighbours as good as equal cells, a large one lets proximities vanish.
BETAS = [0.0, 2e-16, 0.1, 0.5, 3.0, 100.0]
cells = st.tuples(st.integers(1, 4), st.integers(1, 3)) | st.tuples(*[st.integers(1, 200)] * 2)
any_day = st.lists(cells, min_size=1, max_size=20)


@given(
    pairs=st.lists(st.tuples(any_day, any_day), min_size=1, max_size=4), beta=st.sampled_from(BETAS)
)
@settings(max_examples=150, deadline=None)
def test_taken_sums_have_the_bits_of_the_textbook(pairs, beta):
    precisions_as_in_the_textbook(pairs, beta)


@pytest.mark.parametrize("beta", BETAS)
@pytest.mark.parametrize("width", [2, 6, 200])
def test_taken_sums_of_many_days_have_the_bits_of_the_textbook(width, beta):
    rng = np.random.default_rng(width)
    sides = [
        [
            [(int(x), int(y)) for x, y in rng.integers(1, width + 1, (length, 2))]
            for length in rng.integers(1, 13, 200)
        ]
        for _ in range(2)
    ]
    precisions_as_in_the_textbook(list(zip(*sides, strict=True)), beta)


@pytest.mark.parametrize("lengths", [(63, 64), (64, 65), (65, 64), (70, 130)])
def test_days_of_more_points_than_a_word_has_bits(lengths):
    rng = np.random.default_rng(1)
    sides = [[(int(x), int(y)) for x, y in rng.integers(1, 5, (length, 2))] for length in lengths]
    precisions_as_in_the_textbook([tuple(sides)], 0.5)


def test_the_loops_mean_the_same_compiled_and_not():
    rng = np.random.default_rng(2)
    gen, ref = rng.integers(1, 6, (2, 60, 2)).astype(np.int32)
    ends = np.array([0, 1, 4, 20, 33, 60])
    table = np.exp(-0.5 * np.sqrt(np.arange(60.0)))
    kernels = kernel_loading.load()
    found = []
    for loops in (kernels, trajectory_kernels):
        sums, costs = np.zeros((5, 5)), np.zeros(5)
        loops.taken_sums(gen, ref, ends, ends, table, 5, 0, 5, sums)
        loops.warp_costs(gen, ref, ends, ends, table, 0.0, 0, 5, costs)
        found.append((sums.tolist(), costs.tolist()))
    assert found[0] == found[1]


def test_the_warping_loop_never_reads_beyond_its_table():
    kernels = kernel_loading.load()
    for far in (8, 2**20, 2**31, 2**40, 2**62):
        points = np.array([(0, 0), (far, -far)])
        assert np.isnan(kernels.warp_cost(points, points, np.zeros(512), 0.0))


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("days", [0, 1, 399, 400, 5003])
def test_threads_share_out_every_day_once(days, threads):
    seen, lock = [], threading.Lock()

    def run(first, last):
        with lock:
            seen.extend(range(first, last))

    trajectory_kernels.over_days(run, days, threads)
    assert sorted(seen) == list(range(days))
