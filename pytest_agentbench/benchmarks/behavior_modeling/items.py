"""Categories and kinds of items, in the formats of three sources."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_KINDS = {"goodreads": "book", "amazon": "product", "yelp": "business"}
UNKNOWN = "unknown"


def categories(item: Mapping[str, Any] | None) -> list[str]:
    """An item's categories: a list, a text with commas, or a mapping to counts in the files.

    >>> categories({"categories": "Ramen, Noodles"}), categories({"categories": {"fiction": 9}})
    (['Ramen', 'Noodles'], ['fiction'])
    """
    given = (item or {}).get("categories")
    if isinstance(given, str):
        given = given.split(",")
    if not isinstance(given, (list, tuple, Mapping)):
        return []
    return [str(part).strip() for part in given if str(part).strip()]


def kind(item: Mapping[str, Any] | None) -> str:
    """``book``, ``product`` or ``business``, by the item's type or the site it is from.

    >>> kind({"source": "yelp"}), kind({"type": "book"}), kind(None)
    ('business', 'book', 'unknown')
    """
    record = item or {}
    given = record.get("type") or record.get("source") or UNKNOWN
    return _KINDS.get(str(given).lower(), str(given).lower())
