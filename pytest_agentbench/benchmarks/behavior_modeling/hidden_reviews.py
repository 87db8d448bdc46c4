"""The reviews that no agent may see: what the tasks of a data set ask about."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from pytest_agentbench.benchmarks.behavior_modeling.visible_totals import without_hidden

if TYPE_CHECKING:
    from pytest_agentbench.benchmarks.behavior_modeling.store import Store


_Stars = list[float | None]


class HiddenReviews:
    """The reviews that no agent may see: those that a user wrote of these items, by user."""

    def __init__(self, items: Mapping[str, Collection[str]]) -> None:
        self._items = items
        self._found: _Found | None = None
        self._stars: dict[tuple[str, str], tuple[_Stars, _Stars]] = {}

    def __contains__(self, pair: tuple[str, str]) -> bool:
        user, item = pair
        return item in self._items.get(user, ())

    def rows(self, store: Store) -> str:
        """The numbers of their rows, as a JSON list."""
        return self._in(store).rows

    def without(self, record: dict[str, Any], table: str, store: Store) -> dict[str, Any]:
        """The record of a user or an item, whose counts and averages leave out what is hidden."""
        identifier = str(record[f"{table}_id"])
        if identifier not in self._in(store).about[table]:
            return record
        return without_hidden(record, *self._split(store, table, identifier))

    def _in(self, store: Store) -> _Found:
        """Looked for once, where a query needs it."""
        if self._found is None:
            self._found = _Found(self, self._items, store)
        return self._found

    def _split(self, store: Store, table: str, identifier: str) -> tuple[_Stars, _Stars]:
        """The stars of the visible and of the hidden reviews of a user or an item."""
        if (table, identifier) not in self._stars:
            visible: _Stars = []
            hidden: _Stars = []
            sql = f"SELECT user, item, json FROM review WHERE {table} = ?"  # noqa: S608 -- ours
            for user, item, text in store.rows(sql, (identifier,)):
                kept = hidden if (user, item) in self else visible
                kept.append(_stars(json.loads(text)))
            self._stars[table, identifier] = visible, hidden
        return self._stars[table, identifier]


class _Found:
    """The hidden reviews in one store: their rows, and the users and items that they are about."""

    def __init__(
        self, hidden: HiddenReviews, items: Mapping[str, Collection[str]], store: Store
    ) -> None:
        rows = []
        self.about: dict[str, set[str]] = defaultdict(set)
        for user in items:
            for number, item in store.rows("SELECT n, item FROM review WHERE user = ?", (user,)):
                if (user, item) in hidden:
                    rows.append(number)
                    self.about["user"].add(user)
                    self.about["item"].add(item)
        self.rows = json.dumps(rows)


def _stars(review: Mapping[str, Any]) -> float | None:
    """The stars of a review, or None where it has none."""
    try:
        return float(review["stars"])
    except (KeyError, TypeError, ValueError):
        return None


NOTHING_HIDDEN = HiddenReviews({})
