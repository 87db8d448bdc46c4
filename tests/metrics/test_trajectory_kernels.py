"""The loops mean the same compiled and not, stay within their tables, and share out the days."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from pytest_agentbench.metrics import kernel_loading, trajectory_kernels


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
        loops.warp_costs(gen, ref, ends, ends, table, True, 0, 5, costs)
        found.append((sums.tolist(), costs.tolist()))
    assert found[0] == found[1]


def test_the_warping_loop_never_reads_beyond_its_table():
    kernels = kernel_loading.load()
    for far in (8, 2**20, 2**31, 2**40, 2**62):
        points = np.array([(0, 0), (far, -far)])
        assert np.isnan(kernels.warp_cost(points, points, np.zeros(512), True))


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("days", [0, 1, 399, 400, 5003])
def test_threads_share_out_every_day_once(days, threads):
    seen, lock = [], threading.Lock()

    def run(first, last):
        with lock:
            seen.extend(range(first, last))

    trajectory_kernels.over_days(run, days, threads)
    assert sorted(seen) == list(range(days))
