"""Categories and kinds of items, in the formats of three sources."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_KINDS = {"goodreads": "book", "amazon": "product", "yelp": "business"}
UNKNOWN = "unknown"
# Shelves of readers that say nothing about the book.
_NO_SUBJECT = {
    "to-read", "currently-reading", "read", "default", "owned", "books-i-own", "favorites",
    "wish-list", "library", "kindle", "ebook", "ebooks",
}  # fmt: skip


def categories(item: Mapping[str, Any] | None) -> list[str]:
    """An item's categories: a list, a text with commas, or a mapping to counts in the files.

    Goodreads has none. The shelves that readers put a book on stand for them.

    >>> categories({"categories": "Ramen, Noodles"}), categories({"categories": {"fiction": 9}})
    (['Ramen', 'Noodles'], ['fiction'])
    >>> categories({"popular_shelves": [{"count": "9", "name": "to-read"}, {"name": "mystery"}]})
    ['mystery']
    """
    record = item or {}
    given = record.get("categories")
    if given is None:
        given = _shelves(record.get("popular_shelves"))
    if isinstance(given, str):
        given = given.split(",")
    if not isinstance(given, (list, tuple, Mapping)):
        return []
    return [str(part).strip() for part in given if str(part).strip()]


def _shelves(given: Any) -> list[Any]:
    """The names of shelves that say what a book is about."""
    shelves = given if isinstance(given, list) else []
    names = [shelf.get("name") for shelf in shelves if isinstance(shelf, Mapping)]
    return [name for name in names if name is not None and name not in _NO_SUBJECT]


def kind(item: Mapping[str, Any] | None) -> str:
    """``book``, ``product`` or ``business``, by the item's type or the site it is from.

    >>> kind({"source": "yelp"}), kind({"type": "book"}), kind(None)
    ('business', 'book', 'unknown')
    """
    record = item or {}
    given = record.get("type") or record.get("source") or UNKNOWN
    return _KINDS.get(str(given).lower(), str(given).lower())
