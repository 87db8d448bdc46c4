"""What differs between the HuMob challenges' formulas: GEO-BLEU's n-grams, DTW's start."""

from __future__ import annotations

from typing import NamedTuple


class Rules(NamedTuple):
    """The formulas of one challenge."""

    max_n: int  # the longest n-gram
    divide_by_taken: bool  # else by the number of generated n-grams
    start_anywhere: bool  # whether an alignment may start anywhere in the reference


# By edition. The 2024 challenge scored by the rules of 2023.
RULES = {
    "2023": Rules(max_n=3, divide_by_taken=True, start_anywhere=True),
    "2025": Rules(max_n=5, divide_by_taken=False, start_anywhere=False),
}


def rules_of(edition: str) -> Rules:
    """Return the rules of an edition; ``ValueError`` where it has none of its own.

    >>> rules_of("2025").max_n
    5
    """
    try:
        return RULES[edition]
    except (KeyError, TypeError):
        known = " or ".join(map(repr, RULES))
        raise ValueError(f"edition must be {known}, got {edition!r}") from None
