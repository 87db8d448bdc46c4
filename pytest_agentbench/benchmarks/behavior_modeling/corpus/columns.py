"""Which column of a source holds what: as ``--map`` says, else guessed by the names of known corpora."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_agentbench.base.errors import BenchmarkError, shown

# The names of each field in Amazon Reviews (2023, then 2014 and 2018), Yelp, Goodreads and our own files; the
# first that a source has is taken.
_ITEM = ("item_id", "parent_asin", "asin", "business_id", "book_id")
_USER = ("user_id", "reviewerID")
ALIASES: dict[str, dict[str, tuple[str, ...]]] = {
    "reviews": {
        "user_id": _USER,
        "item_id": _ITEM,
        "stars": ("stars", "rating", "overall"),
        "text": ("text", "review_text", "reviewText", "review"),
        "date": ("timestamp", "date", "date_added", "unixReviewTime"),
        "review_id": ("review_id",),
    },
    "items": {
        "item_id": _ITEM,
        "categories": ("categories", "category", "popular_shelves", "genres", "main_category"),
    },
    "users": {"user_id": _USER},
}
OPTIONAL = {"review_id", "categories"}
# The site and the kind of item that the name of the item column shows.
ORIGINS = {
    "parent_asin": ("amazon", "product"),
    "asin": ("amazon", "product"),
    "business_id": ("yelp", "business"),
    "book_id": ("goodreads", "book"),
}


@dataclass(frozen=True)
class Columns:
    """Field -> column of each table, and where the corpus seems to come from."""

    tables: Mapping[str, Mapping[str, str]]
    source: str | None = None
    kind: str | None = None

    def lines(self) -> list[str]:
        """One line a table: ``reviews: user_id=reviewerID, …``."""
        return [
            f"{table}: {', '.join(f'{field}={column}' for field, column in chosen.items())}"
            for table, chosen in self.tables.items()
        ]


def parse_map(text: str) -> dict[str, str]:
    """``user_id=reviewerID,items.item_id=ASIN`` as pairs.

    >>> parse_map("user_id=reviewerID, items.item_id=ASIN")
    {'user_id': 'reviewerID', 'items.item_id': 'ASIN'}
    """
    pairs: dict[str, str] = {}
    for part in text.split(","):
        name, sign, column = (piece.strip() for piece in part.partition("="))
        table, _, field = name.rpartition(".")
        tables = [table] if table else list(ALIASES)
        if not sign or not column or not any(field in ALIASES.get(one, ()) for one in tables):
            raise ValueError(
                f"expected FIELD=COLUMN with a field of {_fields()}, or TABLE.FIELD=COLUMN, got {part.strip()!r}"
            )
        pairs[name] = column
    return pairs


def choose(found: Mapping[str, Sequence[str]], given: Mapping[str, str]) -> Columns:
    """The columns to use of the tables found; one that is needed and missing is an error."""
    for name, column in given.items():
        table, _, field = name.rpartition(".")
        tables = [table] if table else [one for one in found if field in ALIASES[one]]
        if not any(column in found.get(one, ()) for one in tables):
            raise BenchmarkError(
                f"--map {name}={column}: expected a column {column!r}, got {_listing(found, tables)}"
            )
    _refuse_reviews_as_items(found["items"], given)
    shared = [name for name in _ITEM if name in found["reviews"] and name in found["items"]]
    chosen: dict[str, dict[str, str]] = {}
    for table, columns in found.items():
        chosen[table] = {}
        for field, names in ALIASES[table].items():
            said = given.get(f"{table}.{field}") or given.get(field)
            preferred = shared[:1] if field == "item_id" else []
            guesses = [name for name in (said, *preferred, *names) if name in columns]
            if guesses:
                chosen[table][field] = str(guesses[0])
            elif field not in OPTIONAL:
                raise BenchmarkError(
                    f"--{table}: expected a column for {field} ({', '.join(names)}), got "
                    f"{_listing(found, [table])}; --map {table}.{field}=COLUMN names it"
                )
    source, kind = ORIGINS.get(chosen["reviews"]["item_id"], (None, None))
    return Columns(chosen, source, kind)


def _refuse_reviews_as_items(columns: Sequence[str], given: Mapping[str, str]) -> None:
    """Reviews have item ids, too; as items they would put what people wrote later into the store."""
    found = []
    for field in ("user_id", "text"):
        said = given.get(f"reviews.{field}") or given.get(field)
        found += [name for name in (said, *ALIASES["reviews"][field]) if name in columns][:1]
    if len(found) == 2:
        raise BenchmarkError(
            f"--items: expected a table of items, one row an item, got the columns of reviews: "
            f"{' and '.join(map(shown, found))}; name the table with the items' names and categories"
        )


def _fields() -> str:
    return ", ".join(dict.fromkeys(field for fields in ALIASES.values() for field in fields))


def _listing(found: Mapping[str, Sequence[str]], tables: Sequence[str]) -> str:
    lines = [f"{', '.join(map(shown, found.get(table, ())))} in --{table}" for table in tables]
    return "; ".join(lines)
