"""Rows of any corpus as records of the published layout, without what was counted including the truth."""

from __future__ import annotations

import datetime
import decimal
import json
from collections.abc import Mapping
from typing import Any

from pytest_agentbench.benchmarks.behavior_modeling.corpus.columns import Columns
from pytest_agentbench.benchmarks.behavior_modeling.items import categories
from pytest_agentbench.benchmarks.behavior_modeling.review_dates import review_time
from pytest_agentbench.benchmarks.behavior_modeling.visible_totals import COUNTS, MEANS

# COUNTS and MEANS are over all reviews, those after the split included: computed again from the store.
# These likewise, but not to be had from the store: left out. Bought, viewed and shelved together tells
# what people chose later; votes and compliments are about reviews that are not in the store.
DROPPED_OF_ITEMS = (
    "also_bought", "also_buy", "also_view", "also_viewed", "bought_together", "buy_after_viewing",
    "checkin", "is_open", "popular_shelves", "rank", "related", "salesRank", "similar_books",
    "similar_item",
)  # fmt: skip
DROPPED_OF_USERS = ("cool", "elite", "fans", "funny", "useful")
DROPPED_PREFIX = "compliment_"  # of users
DROPPED_DETAILS = ("Best Sellers Rank", "Customer Reviews")  # within an item's details
_MOST_SHELVES = 10  # that become categories
_PLAIN = {str, int, bool, type(None)}
_TIME_NAMES = ("timestamp", "date", "date_added", "time")  # as the store knows them


def review_record(row: Mapping[str, Any], columns: Columns, number: int) -> dict[str, Any] | None:
    """A review of the store, or None where nobody can say whose it is or of what."""
    names = columns.tables["reviews"]
    user, item = identifier(row.get(names["user_id"])), identifier(row.get(names["item_id"]))
    if user is None or item is None:
        return None
    given = names.get("review_id")
    date = plain(row.get(names["date"]))
    text = row.get(names["text"])
    record = {
        "review_id": (identifier(row.get(given)) if given else None) or f"review-{number}",
        "user_id": user,
        "item_id": item,
        "stars": stars_of(row.get(names["stars"])),
        "text": "" if text is None else str(text),
        _time_name(names["date"], date): date,
    }
    used = names.values()
    for key, value in row.items():
        if key not in record and key not in _TIME_NAMES and key not in used:
            record[key] = value if type(value) in _PLAIN else plain(value)
    return _with_origin(record, columns)


def time_of(record: Mapping[str, Any]) -> float | None:
    """When a review was written, in seconds since 1970, as the store reads it."""
    return review_time(dict(record))


def item_record(row: Mapping[str, Any], columns: Columns) -> dict[str, Any] | None:
    """An item; numbers that the store gives are None until :func:`recount` knows them."""
    names = columns.tables["items"]
    item = identifier(row.get(names["item_id"]))
    if item is None:
        return None
    record: dict[str, Any] = {"item_id": item}
    for key, value in row.items():
        if key != names["item_id"] and key not in DROPPED_OF_ITEMS:
            record[key] = None if key in (*COUNTS, *MEANS) else _opened(plain(value))
    if isinstance(record.get("details"), dict):
        details = record["details"]
        record["details"] = {k: v for k, v in details.items() if k not in DROPPED_DETAILS}
    if "categories" in names:
        record["categories"] = _categories(_opened(plain(row.get(names["categories"]))))
    if not record.get("categories") and record.get("main_category"):
        record["categories"] = [record["main_category"]]
    return _with_origin(record, columns)


def user_record(row: Mapping[str, Any], columns: Columns) -> dict[str, Any] | None:
    names = columns.tables["users"]
    user = identifier(row.get(names["user_id"]))
    if user is None:
        return None
    record: dict[str, Any] = {"user_id": user}
    for key, value in row.items():
        dropped = key in DROPPED_OF_USERS or key.startswith(DROPPED_PREFIX)
        if key != names["user_id"] and not dropped:
            record[key] = None if key in (*COUNTS, *MEANS) else plain(value)
    return record


def recount(record: dict[str, Any], count: int, mean: float | None) -> dict[str, Any]:
    """The record with the number of its reviews in the store and the mean of their stars.

    >>> recount({"item_id": "i", "average_rating": None}, 3, 4.333333)
    {'item_id': 'i', 'average_rating': 4.33, 'review_count': 3}
    """
    for key in record:
        if key in COUNTS:
            record[key] = count
        elif key in MEANS:
            record[key] = None if mean is None else round(mean, 2)
    record["review_count"] = count
    return record


def identifier(value: Any) -> str | None:
    """An id as a text; a number loses nothing but its type.

    >>> identifier(17), identifier(17.0), identifier(" "), identifier(None)
    ('17', '17', None, None)
    """
    if isinstance(value, str):
        return value.strip() or None
    if value is None or isinstance(value, bool) or value != value:  # NaN
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value)


def stars_of(value: Any) -> float | None:
    """Stars from 1 to 5, or None: Goodreads writes 0 where a person gave none.

    >>> stars_of("4"), stars_of(0), stars_of("n/a")
    (4.0, None, None)
    """
    try:
        stars = float(value)
    except (TypeError, ValueError):
        return None
    return stars if 1 <= stars <= 5 else None


def plain(value: Any) -> Any:
    """A value of a table as JSON has it."""
    if value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, float):
        return value if value - value == 0 else None  # NaN, infinity
    if isinstance(value, (datetime.datetime, datetime.date)):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    return float(value) if isinstance(value, decimal.Decimal) else str(value)


def _time_name(column: str, value: Any) -> str:
    if column in _TIME_NAMES:
        return column
    return "date" if isinstance(value, str) else "timestamp"


def _opened(value: Any) -> Any:
    """A list or a mapping that a table holds as text."""
    if isinstance(value, str) and value[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _categories(value: Any) -> Any:
    """Categories as the store knows them; shelves, and lists of lists (Amazon before 2018), made flat."""
    if not isinstance(value, list):
        return value
    if any(isinstance(part, Mapping) for part in value):
        return categories({"popular_shelves": value})[:_MOST_SHELVES]
    parts = (part if isinstance(part, list) else [part] for part in value)
    return list(dict.fromkeys(str(name) for part in parts for name in part))


def _with_origin(record: dict[str, Any], columns: Columns) -> dict[str, Any]:
    if columns.source is not None:
        record.setdefault("source", columns.source)
        record.setdefault("type", columns.kind)
    return record
