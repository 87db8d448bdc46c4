"""A score in points, and what a point has cost: how runs of different models are weighed against their price."""

from __future__ import annotations

from pytest_agentbench.benchmarks.protocol import Metric


def points(value: float, metric: Metric) -> float | None:
    """How far a score is on the way from the worst value to the best, in hundredths of it.

    None where the metric has no worst or no best value, or of which none is better.

    >>> points(0.25, Metric("geobleu", "higher", 0.0, 1.0)), points(0.25, Metric("jsd", "lower", 0.0, 1.0))
    (25.0, 75.0)
    >>> points(80.5, Metric("final_score", "higher", 0.0, 100.0)), points(3.1, Metric("dtw", "lower", 0.0))
    (80.5, None)
    """
    low, high = metric.low, metric.high
    if low is None or high is None or high <= low or metric.better not in ("higher", "lower"):
        return None
    return 100 * ((value - low) if metric.better == "higher" else (high - value)) / (high - low)


def cost_per_point(cost: float | None, value: float | None, metric: Metric) -> float | None:
    """What a point of the score has cost; None where there is no cost, no point, or no way to count them.

    >>> cost_per_point(0.5, 0.25, Metric("geobleu", "higher", 0.0, 1.0))
    0.02
    """
    if cost is None or value is None:
        return None
    found = points(value, metric)
    return cost / found if found is not None and found > 0 else None
