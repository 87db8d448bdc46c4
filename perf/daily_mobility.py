"""Measure DailyMobility's scoring: `python perf/daily_mobility.py`, about a minute.

Arrays of up to a million people against a truth of the same size, in both readings: the scores, the
bootstrap intervals (all of them up to 10,000 people; above, some resamples, from which the time of
all 2,000 is projected), the diagnostics with the noise ceiling, and the memory beyond the arrays.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pytest_agentbench import statistics  # noqa: E402  # needs the path above
from pytest_agentbench.benchmarks.daily_mobility import diagnostics, scoring  # noqa: E402
from pytest_agentbench.benchmarks.daily_mobility.population import Population  # noqa: E402

SIZES = (1_000, 10_000, 100_000, 1_000_000)
WHOLE_INTERVALS = 10_000


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


def seconds(run: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = run()
    return time.perf_counter() - start, result


def peak() -> float:
    """Return the most memory this process has had, in MB."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (1024 if sys.platform != "darwin" else 1024**2)


def interval_seconds(estimate: Any, reading: str, count: int) -> float:
    names = [str(number) for number in range(count)]
    if count <= WHOLE_INTERVALS:
        return seconds(lambda: statistics.intervals(estimate, [reading], names, seed=0))[0]
    rng = np.random.default_rng(0)
    rows = max(1, 8_000_000 // count)
    draw, weights = seconds(
        lambda: np.array(
            [np.bincount(rng.integers(0, count, count), minlength=count) for _ in range(rows)],
            float,
        )
    )
    estimate(reading, weights[:1])  # what is prepared once
    score, _ = seconds(lambda: estimate(reading, weights))
    return (draw + score) / rows * statistics.RESAMPLES


def main() -> None:
    print("people      arrays MB  reading           score s  final   2000 resamples s   peak MB")
    for count in SIZES:
        truth, answers = make_people(1, count), make_people(2, count)
        size = sum(array.nbytes for array in vars(answers).values()) / 1e6
        for reading in scoring.READINGS:
            estimate = scoring.score_population(truth, answers)
            took, scores = seconds(lambda e=estimate, r=reading: e(r, None))
            resamples = interval_seconds(estimate, reading, count)
            about = " " if count <= WHOLE_INTERVALS else "~"
            print(
                f"{count:>9,}  {size:>9.1f}  {reading:<16}  {took:>7.2f}  {scores['final_score']:.2f}"
                f"  {about:>10}{resamples:>7.1f}  {peak():>8.0f}"
            )
        took, _ = seconds(lambda t=truth, n=count: diagnostics.noise_ceiling(t, n))
        print(f"{'':>9}  {'':>9}  {'noise ceiling':<16}  {took:>7.2f}{'':>28}{peak():>8.0f}")


if __name__ == "__main__":
    main()
