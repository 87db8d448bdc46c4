"""Normalised discounted cumulative gain where one item is relevant (0 to 1, higher is better).

Järvelin and Kekäläinen, ACM TOIS 20(4), 2002. The best list has its only relevant item first, with a
gain of 1 / log2(2) = 1, so the gain of a list is already normalised.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

CUTS = (5, 10)


def ndcg(ranked: Sequence[str], truth: str, n: int) -> float:
    """1 / log2(place + 1) if ``truth`` is among the first ``n`` of ``ranked``, else 0.

    >>> ndcg(["a", "b"], "a", 5), ndcg(["b", "c", "a"], "a", 5), ndcg(["b", "c", "a"], "a", 2)
    (1.0, 0.5, 0.0)
    """
    if n < 1:
        raise ValueError(f"expected n of at least 1, got {n!r}")
    first = ranked[:n]
    return 1.0 / math.log2(first.index(truth) + 2) if truth in first else 0.0
