"""DTW against other packages.

Microseconds a call for the same days of 12, 24 and 48 points, one call a day, and how many times ours
that is ("×"). Ours is given whole cells, as the data are, and once more all days in one call; the others
are given floats, as they want them. The shortest of five times, taken in turns. What each package gives
is compared with the textbook: `sum` is the sum of the distances along the best alignment, as HuMob
2025 has it; `squares` is that of the squared distances, or its root (other numbers for the same work).
"First" is a fresh process from its start to its first number (compiled code comes from a cache where
the package keeps one), and MB the memory of that process. GEO-BLEU is in none of these packages.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import itertools
import math
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from humob_kernels import POINTS, make_days
from measure import Cell, best, run, show, textbook

HEAD = ("package", *(f"{points} points µs" for points in POINTS),
        *(f"× at {points}" for points in POINTS), "numbers", "first s", "MB")  # fmt: skip
Score = Callable[[Any, Any], float]


def ours() -> Score:
    from pytest_agentbench.metrics.dtw import dtw_distance

    return lambda a, b: dtw_distance(a, b, "2025", scale_factor=1.0)


def traj_dist_rs() -> Score:
    score = importlib.import_module("traj_dist_rs").dtw
    return lambda a, b: float(score(a, b, "euclidean").distance)


def dtaidistance() -> Score:
    score = importlib.import_module("dtaidistance.dtw_ndim").distance
    return lambda a, b: float(score(a, b, use_c=True))


def aeon() -> Score:
    score = importlib.import_module("aeon.distances").dtw_distance
    return lambda a, b: float(score(a.T, b.T))


def dtw_python() -> Score:
    with contextlib.redirect_stdout(io.StringIO()):  # it greets on import, and has no quiet switch
        score = importlib.import_module("dtw").dtw
    return lambda a, b: float(score(a, b, step_pattern="symmetric1", distance_only=True).distance)


def tslearn() -> Score:
    score = importlib.import_module("tslearn.metrics").dtw
    return lambda a, b: float(score(a, b))


def plain() -> Score:
    return partial(textbook.dtw, edition="2025", scale=1.0)


OURS, BULK = "this package", "this package, in one call"
PACKAGES: dict[str, tuple[Callable[[], Score], str]] = {  # how to load it, what it needs
    OURS: (ours, "pytest_agentbench"),
    "the textbook": (plain, "metrics"),
    "traj-dist-rs": (traj_dist_rs, "traj_dist_rs"),
    "dtaidistance": (dtaidistance, "dtaidistance"),
    "aeon": (aeon, "aeon"),
    "dtw-python": (dtw_python, "dtw"),
    "tslearn": (tslearn, "tslearn"),
}


def squared(a: Any, b: Any) -> float:
    """The textbook's recursion on squared distances."""
    above = [0.0] + [math.inf] * len(b)
    for x, y in a:
        row = [math.inf]
        for j, (u, v) in enumerate(b):
            row.append((x - u) ** 2 + (y - v) ** 2 + min(above[j], above[j + 1], row[j]))
        above = row
    return above[-1]


def kind(score: Score, pairs: list[tuple[Any, Any]]) -> str:
    given = [score(a, b) for a, b in pairs]
    squares = [squared(a, b) for a, b in pairs]
    if np.allclose(given, [plain()(a, b) for a, b in pairs]):
        return "sum"
    if np.allclose(given, squares) or np.allclose(given, np.sqrt(squares)):
        return "squares"
    return "others"


def rows(quick: bool) -> Iterator[list[Cell]]:
    from pytest_agentbench.metrics.dtw import score_pairs
    from pytest_agentbench.metrics.trajectory_days import day_pairs

    count, rounds = (5, 1) if quick else (200, 5)
    found = {
        name: load()
        for name, (load, module) in PACKAGES.items()
        if importlib.util.find_spec(module) is not None
    }
    micro: dict[str, list[float]] = {OURS: [], BULK: [], **{name: [] for name in found}}
    numbers = {BULK: "sum"}
    for points in POINTS:
        gen, ref, bounds = make_days(points, count, points)

        def in_bulk(gen: Any = gen, ref: Any = ref, bounds: Any = bounds) -> Any:
            pairs = day_pairs(gen, ref, bounds, bounds)
            return score_pairs(pairs, "2025", backend="numba")

        in_bulk()  # compiled code is loaded by work that is worth it, as in any run
        whole = [(gen[a:b].copy(), ref[a:b].copy()) for a, b in itertools.pairwise(bounds)]
        floats = [(a.astype(float), b.astype(float)) for a, b in whole]
        runs = [in_bulk]
        for name, score in found.items():
            pairs = whole if name == OURS else floats
            numbers[name] = kind(score, pairs[:20])  # also compiles what is compiled on first use
            runs.append(partial(lambda f, given: [f(a, b) for a, b in given], score, pairs))
        for name, taken in zip([BULK, *found], best(*runs, rounds=rounds), strict=True):
            micro[name].append(1e6 * taken / count)
    for name in (OURS, BULK, *list(PACKAGES)[1:]):
        if name not in micro:
            yield [name, *[None] * 6, "not installed", None, None]
            continue
        first = run(first_number(PACKAGES[name][0])) if name in found and not quick else None
        times = [mine / own for mine, own in zip(micro[name], micro[OURS], strict=True)]
        took, mb = (first.seconds, first.mb) if first else (None, None)
        yield [name, *micro[name], *times, numbers[name], took, mb]


def first_number(load: Callable[[], Score]) -> list[str]:
    code = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); "
        f"import numpy as np; from humob_peers import {load.__name__} as load; "
        "day = np.arange(44.0).reshape(22, 2); load()(day, day + 1)"
    )
    return [sys.executable, "-c", code]


if __name__ == "__main__":
    show(__doc__, HEAD, rows)
