"""Reciprocal rank: 1 over the place of the one true item in a ranked list (0 to 1, higher is better).

Its mean over lists is the mean reciprocal rank, MRR (Voorhees, TREC-8 Question Answering Track, 1999).
"""

from __future__ import annotations

from collections.abc import Sequence


def reciprocal_rank(ranked: Sequence[str], truth: str) -> float:
    """1 / place of ``truth``, counted from 1; 0 where it is not listed.

    >>> reciprocal_rank(["b", "a", "c"], "a"), reciprocal_rank(["b"], "a")
    (0.5, 0.0)
    """
    return 1.0 / (ranked.index(truth) + 1) if truth in ranked else 0.0
