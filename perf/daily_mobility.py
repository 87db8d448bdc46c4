"""DailyMobility: scoring populations.

Arrays of made-up people against a truth of the same size, in each reading: one score, the 2,000 bootstrap
resamples of the intervals (above 10,000 people some of them, from which the time of all is projected), and
the time of 2,000 scores, for which nothing has to be drawn, over theirs. The noise ceiling is part of the diagnostics. MB:
beyond the arrays, for a score and for the resamples.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from measure import Cell, best, beyond, seconds, show

from pytest_agentbench.benchmarks.daily_mobility import diagnostics, scoring
from pytest_agentbench.benchmarks.daily_mobility.population import Population
from pytest_agentbench.metrics import bootstrap

HEAD = ("people", "arrays MB", "reading", "score s", "µs a person", "resamples s",
        "2,000 scores / resamples", "noise ceiling s", "score MB", "resamples MB")  # fmt: skip
WHOLE_INTERVALS = 10_000
WEIGHTS_AT_ONCE = 8_000_000


def rows(quick: bool) -> Iterator[list[Cell]]:
    for count in (100, 200, 400) if quick else (10_000, 100_000, 1_000_000):
        truth, answers = make_people(1, count), make_people(2, count)
        size = sum(array.nbytes for array in vars(answers).values()) / 1e6
        ceiling = seconds(partial(diagnostics.noise_ceiling, truth, count))
        for reading in scoring.READINGS:
            estimate = scoring.score_population(truth, answers)
            score_mb = beyond(partial(estimate, reading, None))
            (score,) = best(partial(estimate, reading, None), rounds=3)
            resamples: list[float] = []
            resamples_mb = beyond(
                lambda: resamples.append(interval_seconds(estimate, reading, count))  # noqa: B023 -- called here
            )
            faster = bootstrap.RESAMPLES * score / resamples[0]
            yield [count, size, reading, score, 1e6 * score / count, resamples[0], faster,
                   ceiling, score_mb, resamples_mb]  # fmt: skip


def interval_seconds(estimate: Any, reading: str, count: int) -> float:
    if count <= WHOLE_INTERVALS:
        names = [str(number) for number in range(count)]
        return seconds(lambda: bootstrap.intervals(estimate, [reading], names, seed=0))
    rng = np.random.default_rng(0)
    rows = max(1, WEIGHTS_AT_ONCE // count)
    drawn: list[Any] = []

    def draw() -> None:
        for _ in range(rows):
            drawn.append(np.bincount(rng.integers(0, count, count), minlength=count))

    drawing = seconds(draw)
    weights = np.array(drawn, float)
    estimate(reading, weights[:1])  # what is prepared once
    return (drawing + seconds(lambda: estimate(reading, weights))) / rows * bootstrap.RESAMPLES


def make_people(seed: int, count: int) -> Population:
    """Draw people of the real set's shape."""
    rng = np.random.default_rng(seed)
    slots = np.arange(48)
    working = (slots > 16) & (slots < 36)
    asleep = (slots < 14) | (slots > 45)
    chances = np.where(
        asleep[:, None], [8, 1, 0.2, 0.1, 0, 0, 0.1], [0.3, 5, 0.5, 0.3, 0.7, 0.5, 0.7]
    )
    chances = np.where(working[:, None], [0.2, 2, 0.5, 6, 0.5, 0.4, 0.4], chances)
    edges = np.cumsum(chances / chances.sum(axis=1, keepdims=True), axis=1)
    codes = np.empty((count, 48), np.uint8)
    for slot in slots:
        codes[:, slot] = 1 + np.searchsorted(edges[slot, :-1], rng.random(count))
    shares = np.stack([(codes == code).mean(axis=1) for code in range(1, 8)], axis=1)
    radius, visited = rng.gamma(1.5, 2500, count), np.clip(rng.gamma(6, 0.4, count), 1, 9)
    return Population(radius, visited.round(2), codes, shares)


if __name__ == "__main__":
    show(__doc__, HEAD, rows)
