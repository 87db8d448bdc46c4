"""Scores one CSV file of predictions against one of the truth: the least that any scorer has to do."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from pytest_agentbench import BenchmarkError, mean
from pytest_agentbench.benchmarks.humob.scoring import READINGS, columns_of_means, score_days
from pytest_agentbench.benchmarks.humob.tables import read_table
from pytest_agentbench.metrics import kernel_loading

LARGE = 50_000_000  # bytes: so many days are scored by compiled loops


def score_files(
    generated: Path, reference: Path, readings: Sequence[str] = READINGS
) -> dict[str, dict[str, float]]:
    """The scores of a prediction file against a file of the truth: ``{reading: {metric: value}}``.

    Both must hold the same users, days and half hours: the numbers are those of a run on them.
    """
    files = (generated, reference)
    with ThreadPoolExecutor(
        2
    ) as pool:  # what is done on one core to a file overlaps with the other's
        reading = [pool.submit(read_table, path, masked=False) for path in files]
        if sum(path.stat().st_size for path in files) > LARGE:
            kernel_loading.load()
        ours, truth = (table.result() for table in reading)
    if not (
        np.array_equal(ours.uids, truth.uids)
        and np.array_equal(ours.starts, truth.starts)
        and np.array_equal(*(table.rows.view(np.int32)[:, 0] for table in (ours, truth)))  # d, t
    ):
        raise BenchmarkError(f"{generated}: expected the uids, days and half hours of {reference}")
    counts = np.diff(truth.day_starts, axis=1)
    bounds = np.append(0, np.cumsum(counts[counts > 0]))
    scores = score_days(ours.rows[:, 2:], truth.rows[:, 2:], bounds, readings)
    columns = columns_of_means(scores, np.count_nonzero(counts, axis=1))
    return {
        reading: {name: mean(users, None) for name, users in metrics.items()}
        for reading, metrics in columns.items()
    }


if __name__ == "__main__":
    score_files(*map(Path, sys.argv[1:]))
