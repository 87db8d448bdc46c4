"""The words of the benchmark: 48 half-hour slots, 7 intentions, four values a person."""

from __future__ import annotations

from collections.abc import Sequence

SLOTS = 48
SLOT_MINUTES = 30
SLOT_SECONDS = 60 * SLOT_MINUTES

# The position is the code, from 1 on.
LABELS = (
    "sleep",
    "home activity",
    "other",
    "work",
    "shopping",
    "eating out",
    "leisure and entertainment",
)
CODES = {label: code for code, label in enumerate(LABELS, start=1)}
OTHER = CODES["other"]

# The names of the published output format, one value or row a person.
FIELDS = (
    "gyration_radius",
    "daily_location_numbers",
    "intention_sequences",
    "intention_proportions",
)


def shares_of(sequence: Sequence[int]) -> list[float]:
    """The share of the day that goes to each intention, of a code a slot."""
    return [sequence.count(code) / SLOTS for code in CODES.values()]


def clock(slot: int) -> str:
    """The start of a slot as people write it.

    >>> clock(15)
    '07:30'
    """
    return f"{slot // 2:02d}:{slot % 2 * SLOT_MINUTES:02d}"
