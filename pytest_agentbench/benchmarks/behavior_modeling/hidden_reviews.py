"""The reviews that no agent may see: what the tasks of a data set ask about."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_agentbench.benchmarks.behavior_modeling.store import Store


class HiddenReviews:
    """The reviews that no agent may see: those that a user wrote of these items, by user."""

    def __init__(self, items: Mapping[str, Collection[str]]) -> None:
        self._items = items
        self._rows: str | None = None

    def __contains__(self, pair: tuple[str, str]) -> bool:
        user, item = pair
        return item in self._items.get(user, ())

    def rows(self, store: Store) -> str:
        """The numbers of their rows, as a JSON list; looked for once, where a query needs them."""
        if self._rows is None:
            found = [
                number
                for user in self._items
                for number, item in store.rows("SELECT n, item FROM review WHERE user = ?", (user,))
                if (user, item) in self
            ]
            self._rows = json.dumps(found)
        return self._rows


NOTHING_HIDDEN = HiddenReviews({})
