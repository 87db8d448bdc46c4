"""The golden trajectories, and days laid out as the metrics take them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from pytest_agentbench.metrics.trajectory_days import day_pairs

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "humob.json").read_text())
EDITIONS = ("2023", "2025")
BACKENDS = ("numpy", "numba")


def together(pairs: Any) -> tuple[Any, ...]:
    """Lay (generated, reference) days out as day_pairs takes them."""
    gen, ref = zip(*pairs, strict=True)
    ends = [np.cumsum([0, *map(len, side)]) for side in (gen, ref)]
    return np.concatenate(gen), np.concatenate(ref), *ends


def score_days(
    metric: Any,
    gen_xy: Any,
    ref_xy: Any,
    gen_offsets: Any,
    ref_offsets: Any,
    *edition: str,
    **options: Any,
) -> Any:
    """The scores of days that are laid out for this call."""
    pairs = day_pairs(gen_xy, ref_xy, gen_offsets, ref_offsets)
    return metric.score_pairs(pairs, *edition, **options)


def points_by_day(case: Any) -> tuple[list[int], tuple[Any, ...]]:
    """The numbers of the days of a golden case, and its points as day_pairs takes them."""
    gen, ref = _by_day(case["generated"]), _by_day(case["reference"])
    return list(ref), together([(gen[d], ref[d]) for d in ref])


def _by_day(rows: Any) -> dict[int, list[tuple[int, int]]]:
    days: dict[int, list[tuple[int, int]]] = {}
    for d, _, x, y in sorted(rows, key=lambda row: row[:2]):
        days.setdefault(d, []).append((x, y))
    return days


def golden_user(
    metric: Any, case: Any, edition: str, backend: str
) -> tuple[Any, list[float], float]:
    """The scores of a golden case by day, and what is expected: by day, and of all days together."""
    name = metric.__name__.rpartition(".")[2]
    numbers, points = points_by_day(case)
    expected = case["expected"][edition]
    scores = score_days(metric, *points, edition, backend=backend)
    return scores, [expected[f"{name}_by_day"][str(d)] for d in numbers], expected[name]


def with_threads(metric: Any) -> list[list[float]]:
    """The scores of 2,000 days with one thread and with four, and with no kernels at all."""
    rng = np.random.default_rng(4)
    laid_out = together([tuple(rng.integers(1, 30, (2, n, 2))) for n in rng.integers(1, 20, 2000)])
    ways: tuple[dict[str, Any], ...] = (
        {"threads": 1, "backend": "numba"}, {"threads": 4, "backend": "numba"}, {"backend": "numpy"},
    )  # fmt: skip
    return [score_days(metric, *laid_out, **way).tolist() for way in ways]
