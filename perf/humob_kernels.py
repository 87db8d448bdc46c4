"""GEO-BLEU and DTW against the textbook.

Microseconds a user-day, for days of 12, 24 and 48 points around a person's few places. The textbook is
the plain implementation that the tests take as their oracle; it scores 30 of the days, the others score
all. "Drop-in" is one bulk call of `pytest_agentbench.geobleu` on rows (uid, d, t, x, y), conversion and
checks included. The shortest of five times each, taken in turns. MB: what one numba call needs beyond
its arguments.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from measure import Cell, best, beyond, show, textbook

from pytest_agentbench import geobleu as dropin
from pytest_agentbench.metrics import dtw, geobleu
from pytest_agentbench.metrics.trajectory_days import day_pairs

HEAD = ("metric", "points", "textbook µs", "NumPy µs", "numba µs", "2 threads µs", "drop-in µs",
        "textbook / numba", "textbook / drop-in", "NumPy / numba", "1 / 2 threads", "MB")  # fmt: skip
METRICS: tuple[tuple[str, Any, str, str], ...] = (
    ("GEO-BLEU 2023", geobleu, "geobleu", "2023"),
    ("GEO-BLEU 2025", geobleu, "geobleu", "2025"),
    ("DTW 2023", dtw, "dtw", "2023"),
    ("DTW 2025", dtw, "dtw", "2025"),
)
POINTS = (12, 24, 48)
DAYS_OF_A_USER = 15


def make_days(seed: int, count: int, points: int) -> tuple[Any, Any, Any]:
    """Day pairs around a person's few places: cells of both sides, and where each day begins."""
    rng = np.random.default_rng(seed)
    sides: tuple[list[Any], list[Any]] = ([], [])
    for _ in range(count):
        home = rng.integers(60, 140, 2)
        work, others = home + rng.integers(-20, 21, 2), home + rng.integers(-30, 31, (3, 2))
        places = np.vstack([home, work, others])
        for side in sides:
            at = rng.choice(5, points, p=[0.45, 0.25, 0.1, 0.1, 0.1])
            day = places[np.sort(at) if rng.random() < 0.5 else at]
            moving = rng.random(points) < 0.25
            day[moving] += rng.integers(-6, 7, (moving.sum(), 2))
            side.append(day)
    bounds = np.arange(count + 1) * points
    return np.concatenate(sides[0]), np.concatenate(sides[1]), bounds


def with_time(cells: Any, bounds: Any) -> Any:
    """Rows (uid, d, t, x, y): the days belong to users of 15 days."""
    day = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    uid, d = day // DAYS_OF_A_USER, 60 + day % DAYS_OF_A_USER
    return np.column_stack((uid, d, np.arange(bounds[-1]) - bounds[day], cells))


def score_days(module: Any, gen: Any, ref: Any, bounds: Any, edition: str, **options: Any) -> Any:
    return module.score_pairs(day_pairs(gen, ref, bounds, bounds), edition, **options)


def rows(quick: bool) -> Iterator[list[Cell]]:
    count, few, rounds = (60, 2, 1) if quick else (3000, 30, 5)
    for name, module, metric, edition in METRICS:
        for points in POINTS:
            gen, ref, bounds = make_days(points, count, points)
            pairs = [
                (gen[a:b].tolist(), ref[a:b].tolist())
                for a, b in itertools.pairwise(bounds[: few + 1])
            ]
            plain = partial(getattr(textbook, metric), edition=edition)
            score = partial(score_days, module, gen, ref, bounds, edition)
            bulk = partial(getattr(dropin, f"calc_{metric}_bulk"), edition=edition, processes=1)
            score(backend="numba", threads=2)  # compiled, or loaded, before the clock runs
            slow, *ours = best(
                lambda p=plain, all_pairs=pairs: [p(g, r) for g, r in all_pairs],
                partial(score, backend="numpy"),
                partial(score, backend="numba"),
                partial(score, backend="numba", threads=2),
                partial(bulk, with_time(gen, bounds), with_time(ref, bounds)),
                rounds=rounds,
            )
            book, plain_numpy, one, two, drop = (
                1e6 * slow / few,
                *(1e6 * taken / count for taken in ours),
            )
            ratios = (book / one, book / drop, plain_numpy / one, one / two)
            mb = beyond(partial(score, backend="numba"))
            yield [name, points, book, plain_numpy, one, two, drop, *ratios, mb]


if __name__ == "__main__":
    show(__doc__, HEAD, rows)
