"""Hit rate: whether the true item stands among the first N of a ranked list (0 to 1, higher is better)."""

from __future__ import annotations

from collections.abc import Sequence

CUTS = (1, 3, 5)


def hit(ranked: Sequence[str], truth: str, n: int) -> float:
    """1.0 if ``truth`` is among the first ``n`` of ``ranked``, else 0.0.

    >>> hit(["b", "a", "c"], "a", 1), hit(["b", "a", "c"], "a", 3)
    (0.0, 1.0)
    """
    if n < 1:
        raise ValueError(f"expected n of at least 1, got {n!r}")
    return float(truth in ranked[:n])


def hits(ranked: Sequence[str], truth: str) -> tuple[float, ...]:
    """:func:`hit` at every N of :data:`CUTS`.

    >>> hits(["b", "a", "c"], "a")
    (0.0, 1.0, 1.0)
    """
    return tuple(hit(ranked, truth, n) for n in CUTS)


def chance(candidates: int, n: int) -> float:
    """The expected hit rate at ``n`` of a random order of so many candidates.

    >>> chance(20, 1), chance(20, 5), chance(3, 5)
    (0.05, 0.25, 1.0)
    """
    if candidates < 1:
        raise ValueError(f"expected at least one candidate, got {candidates!r}")
    return min(n, candidates) / candidates
