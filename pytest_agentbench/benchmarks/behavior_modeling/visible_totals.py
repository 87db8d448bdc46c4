"""Counts and averages in the records of users and items, without the reviews that are hidden.

Otherwise they would tell: one review more than the store shows points to the true candidate, and an average
over four stars of which three are visible gives the fourth.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

# By the names of three sources. The first count that a record has is the one its average is over.
COUNTS = ("rating_number", "ratings_count", "review_count", "text_reviews_count")
MEANS = ("average_rating", "average_stars", "stars")


def without_hidden(
    record: dict[str, Any], visible: Sequence[float | None], hidden: Sequence[float | None]
) -> dict[str, Any]:
    """The record as if the hidden reviews had never been written. The sequences hold their stars, or None.

    A number over no more reviews than the store has is computed again from the visible ones. A number
    over more, because the store is a part of a larger collection, loses the hidden ones.

    >>> without_hidden({"review_count": 3, "average_stars": 3.67}, visible=[5, 4], hidden=[2])
    {'review_count': 2, 'average_stars': 4.5}
    >>> without_hidden({"ratings_count": "101", "average_rating": "4.00"}, visible=[5], hidden=[1])
    {'ratings_count': '100', 'average_rating': '4.03'}
    """
    if not hidden:
        return record
    known = {key: number for key in COUNTS if (number := _number(record.get(key))) is not None}
    total = next(iter(known.values()), 0.0)
    rated, unseen = ([s for s in stars if s is not None] for stars in (visible, hidden))
    for key, count in known.items():
        if count <= len(visible) + len(hidden):
            record[key] = _like(record[key], float(len(visible)))
        else:
            record[key] = _like(record[key], count - len(hidden))
    for key in MEANS:
        mean = _number(record.get(key))
        if mean is None:
            continue
        if total <= len(visible) + len(hidden):
            left = math.fsum(rated) / len(rated) if rated else 0.0
        else:
            left = (mean * total - math.fsum(unseen)) / (total - len(unseen))
            left = min(max(left, 1.0), 5.0)
        if key == "stars" and (mean * 2).is_integer():  # Yelp gives a business half stars
            left = round(left * 2) / 2
        record[key] = _like(record[key], left)
    return record


def _number(value: Any) -> float | None:
    """The number in a field: Goodreads writes them as texts."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _like(given: Any, number: float) -> Any:
    """A number written as the one given, with as many decimals: another look would show that something is hidden.

    >>> _like("4.00", 3.456), _like(17, 16.0), _like(4.1, 3.456), _like(3.67, 3.456)
    ('3.46', 16, 3.5, 3.46)
    """
    decimals = len(str(given).partition(".")[2])
    if isinstance(given, str):
        return f"{number:.{decimals}f}"
    return round(number) if isinstance(given, int) else round(number, decimals)
