"""Scores one CSV file of predictions against one of the truth: the least that any scorer has to do."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np

from pytest_agentbench import BenchmarkError, mean
from pytest_agentbench.benchmarks.humob.scoring import READINGS, means, score_days
from pytest_agentbench.benchmarks.humob.tables import read_table


def score_files(
    generated: Path, reference: Path, readings: Sequence[str] = READINGS
) -> dict[str, dict[str, float]]:
    """The scores of a prediction file against a file of the truth: ``{reading: {metric: value}}``.

    Both must hold the same users, days and half hours: the numbers are those of a run on them.
    """
    with ThreadPoolExecutor(
        2
    ) as pool:  # what is done on one core to a file overlaps with the other's
        ours, truth = pool.map(partial(read_table, masked=False), (generated, reference))
    if not (
        np.array_equal(ours.uids, truth.uids)
        and np.array_equal(ours.starts, truth.starts)
        and np.array_equal(ours.rows[:, :2], truth.rows[:, :2])
    ):
        raise BenchmarkError(f"{generated}: expected the uids, days and half hours of {reference}")
    counts = np.diff(truth.day_starts, axis=1)
    bounds = np.append(0, np.cumsum(counts[counts > 0]))
    scores = score_days(ours.rows[:, 2:], truth.rows[:, 2:], bounds, readings)
    users = means(scores, np.count_nonzero(counts, axis=1))
    return {
        reading: {name: mean([user[reading][name] for user in users], None) for name in metrics}
        for reading, metrics in scores.items()
    }


if __name__ == "__main__":
    score_files(*map(Path, sys.argv[1:]))
