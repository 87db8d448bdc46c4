"""Measure humob's scoring: `python perf/humob_kernels.py`, about a minute.

Every ratio is between times of this run. The reference is the public package `geobleu` where it is
installed, else the plain implementation of the tests; the first line says which. Peers that are not
installed are listed as such.
"""

from __future__ import annotations

import importlib
import itertools
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from metrics import textbook_trajectories as textbook  # noqa: E402  # needs the path above

from pytest_agentbench import geobleu as dropin  # noqa: E402
from pytest_agentbench.metrics import dtw, geobleu  # noqa: E402
from pytest_agentbench.metrics.trajectory_days import day_pairs  # noqa: E402

METRICS: tuple[tuple[str, Any, str, str], ...] = (
    ("GEO-BLEU 2023", geobleu, "geobleu", "2023"),
    ("GEO-BLEU 2025", geobleu, "geobleu", "2025"),
    ("DTW 2023", dtw, "dtw", "2023"),
)
REFERENCE_DAYS = 60


def make_days(seed: int, count: int, points: int | None = None) -> tuple[Any, Any, Any]:
    """Make day pairs around a person's few places; about 22 points a day, or as many as told."""
    rng = np.random.default_rng(seed)
    lengths = np.clip(rng.normal(22, 9, count).round().astype(int), 1, 48)
    if points is not None:
        lengths[:] = points
    sides: tuple[list[Any], list[Any]] = ([], [])
    for length in lengths:
        home = rng.integers(60, 140, 2)
        work, others = home + rng.integers(-20, 21, 2), home + rng.integers(-30, 31, (3, 2))
        places = np.vstack([home, work, others])
        for side in sides:
            at = rng.choice(5, length, p=[0.45, 0.25, 0.1, 0.1, 0.1])
            day = places[np.sort(at) if rng.random() < 0.5 else at]
            moving = rng.random(length) < 0.25
            day[moving] += rng.integers(-6, 7, (moving.sum(), 2))
            side.append(day)
    ends = np.concatenate(([0], np.cumsum(lengths)))
    return np.concatenate(sides[0]), np.concatenate(sides[1]), ends


def best(*runs: Callable[[], Any], rounds: int = 7) -> list[float]:
    """Return each run's shortest time in seconds; they take turns, for the machine is shared."""
    shortest = [float("inf")] * len(runs)
    for _ in range(rounds):
        for k, run in enumerate(runs):
            start = time.perf_counter()
            run()
            shortest[k] = min(shortest[k], time.perf_counter() - start)
    return shortest


def show(title: str, head: list[str], rows: list[list[Any]]) -> None:
    """Print an aligned table."""
    cells = [head, *[[c if isinstance(c, str) else f"{c:,.4g}" for c in row] for row in rows]]
    widths = [max(len(row[k]) for row in cells) for k in range(len(head))]
    print(f"\n{title}")
    for first, *rest in cells:
        right = (cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))
        print(" ", "  ".join([first.ljust(widths[0]), *right]))


def reference_package() -> Any | None:
    try:
        return importlib.import_module("geobleu")
    except ImportError:
        return None


def reference_run(metric: str, edition: str, days: tuple[Any, Any, Any]) -> Callable[[], Any]:
    """Return a function that scores the first days the reference's way."""
    gen, ref, ends = days
    package = reference_package()
    if package is None:
        score = partial(getattr(textbook, metric), edition=edition)
    elif metric == "geobleu":
        score = partial(package.calc_geobleu_orig, max_n=geobleu.EDITIONS[edition].max_n)
    else:
        score = partial(package.calc_dtw_orig, scale_factor=2.0)
    cuts = itertools.pairwise(ends[: REFERENCE_DAYS + 1])
    pairs = [(gen[a:b].tolist(), ref[a:b].tolist()) for a, b in cuts]
    return lambda: [score(g, r) for g, r in pairs]


def backends(count: int = 4000) -> None:
    days = gen, ref, ends = make_days(0, count)
    gen, ref = gen.astype(np.int32), ref.astype(np.int32)
    rows: list[list[Any]] = []
    for name, module, metric, edition in METRICS:
        score = partial(module.score_days, gen, ref, ends, ends, edition)
        slow, *ours = best(
            reference_run(metric, edition, days),
            partial(score, backend="numpy"),
            partial(score, backend="numba"),
            partial(score, backend="numba", threads=2),
        )
        slow, (plain, one, two) = slow / REFERENCE_DAYS, (seconds / count for seconds in ours)
        times = [seconds * 1e6 for seconds in (slow, plain, one, two)]
        rows.append([name, *times, slow / one, plain / one, one / two])
    both = partial(geobleu.score_pairs_by_edition, day_pairs(gen, ref, ends, ends), backend="numba")
    rows.append(["GEO-BLEU, both", "", "", best(both)[0] / count * 1e6, "", "", "", ""])
    head = ["", "reference", "NumPy", "numba", "2 threads"]
    head += ["reference/numba", "NumPy/numba", "1/2 threads"]
    average = ends[-1] / count
    show(f"us a user-day: {count} days of {average:.1f} points on average", head, rows)


def growth(count: int = 1000) -> None:
    rows = []
    for points in (5, 10, 20, 30, 48):
        gen, ref, ends = make_days(1, count, points)
        scores = [
            partial(module.score_days, gen, ref, ends, ends, edition, backend=backend)
            for backend in ("numba", "numpy")
            for _, module, _, edition in METRICS
        ]
        rows.append([str(points), *[seconds / count * 1e6 for seconds in best(*scores, rounds=5)]])
    names = [name for name, *_ in METRICS]
    head = ["points", *names, *[f"NumPy: {name}" for name in names]]
    show("growth with points a day, us a day", head, rows)


def drop_in(users: int = 300) -> None:
    count = users * 15
    days = gen, ref, ends = make_days(2, count)
    day = np.repeat(np.arange(count), np.diff(ends))
    head = np.stack((day // 15, 60 + day % 15, np.arange(ends[-1]) - ends[day]), axis=1)
    gen, ref = np.hstack((head, gen)), np.hstack((head, ref))
    sides = [(gen[a:b], ref[a:b]) for a, b in itertools.pairwise(ends[::15])]
    rows = []
    for name, _, metric, edition in METRICS:
        single = partial(getattr(dropin, f"calc_{metric}_single"), edition=edition)
        bulk = partial(getattr(dropin, f"calc_{metric}_bulk"), edition=edition)
        slow, one, many = best(
            reference_run(metric, edition, days),
            lambda f=single: [f(g, r) for g, r in sides],  # type: ignore[misc]  # bound now
            partial(bulk, gen, ref, processes=1),
            rounds=5,
        )
        slow, one, many = slow / REFERENCE_DAYS, one / count, many / count
        rows.append([name, one * 1e6, slow / one, many * 1e6, slow / many])
    show(
        f"drop-in on NumPy rows, conversion and checks included, us a user-day ({users} users)",
        ["", "a call a user", "reference/this", "one bulk call", "reference/this"],
        rows,
    )


def starting() -> None:
    code = (
        "import time; start = time.perf_counter()\n"
        "from pytest_agentbench.metrics import dtw\n"
        "dtw.score_days([(1, 1)], [(1, 1)], [0, 1], [0, 1], backend={!r})\n"
        "print(time.perf_counter() - start)"
    )
    cases = (("numba, nothing cached", "numba"), ("numba, cached", "numba"), ("NumPy", "numpy"))
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        places = {"NUMBA_CACHE_DIR": folder, "XDG_CACHE_HOME": folder, "PYTHONPATH": str(ROOT)}
        for name, backend in cases:
            command = [sys.executable, "-c", code.format(backend)]
            done = subprocess.run(
                command, env=os.environ | places, capture_output=True, text=True, check=True
            )
            rows.append([name, float(done.stdout)])
    show("first score of a process, imports included", ["", "s"], rows)


def traj_dist_rs() -> Callable[[Any, Any], float]:
    score = importlib.import_module("traj_dist_rs").dtw
    return lambda a, b: float(score(a, b, "euclidean").distance)


def dtaidistance() -> Callable[[Any, Any], float]:
    score = importlib.import_module("dtaidistance.dtw_ndim").distance
    return lambda a, b: float(score(a, b, use_c=True))


def aeon() -> Callable[[Any, Any], float]:
    score = importlib.import_module("aeon.distances").dtw_distance
    return lambda a, b: float(score(a.T, b.T))


def dtw_python() -> Callable[[Any, Any], float]:
    # The package prints a greeting on import, and has no quiet switch.
    score = importlib.import_module("dtw").dtw
    return lambda a, b: float(score(a, b, step_pattern="symmetric1", distance_only=True).distance)


def tslearn() -> Callable[[Any, Any], float]:
    score = importlib.import_module("tslearn.metrics").dtw
    return lambda a, b: float(score(a, b))


def peers(count: int = 400) -> None:
    """Time one classical DTW call a day; aeon, dtaidistance and tslearn square the distances."""
    gen, ref, ends = make_days(3, count)
    whole = [(gen[a:b].copy(), ref[a:b].copy()) for a, b in itertools.pairwise(ends)]
    floats = [(g.astype(float), r.astype(float)) for g, r in whole]
    ours = partial(dtw.dtw_distance, edition="2025", scale_factor=1.0)
    expected = [ours(g, r) for g, r in whole]
    names = ["this, one call a day", "this, in bulk"]
    same = ["yes", "yes"]
    runs: list[Callable[[], Any]] = [
        lambda: [ours(g, r) for g, r in whole],
        partial(dtw.score_days, gen, ref, ends, ends, "2025", backend="numba"),
    ]
    missing = []
    for load in (traj_dist_rs, dtaidistance, aeon, dtw_python, tslearn):
        name = load.__name__.replace("_", "-")
        try:
            score = load()
        except ImportError:
            missing.append([name, "not installed", "", ""])
            continue
        values = [score(g, r) for g, r in floats]  # also compiles what is compiled on first use
        names.append(name)
        same.append("yes" if np.allclose(values, expected) else "no")
        runs.append(lambda f=score: [f(g, r) for g, r in floats])  # type: ignore[misc]  # bound now
    times = best(*runs)
    rows: list[list[Any]] = [
        [name, seconds / count * 1e6, seconds / times[0], equal]
        for name, seconds, equal in zip(names, times, same, strict=True)
    ]
    rows += missing
    show("DTW beside others, us a call", ["", "us", "x this", "same numbers"], rows)


def main() -> None:
    package = reference_package()
    print("reference:", "the tests' plain implementation" if package is None else package.__file__)
    backends()
    growth()
    drop_in()
    peers()
    starting()


if __name__ == "__main__":
    main()
