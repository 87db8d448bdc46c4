"""The candidates of a recommendation, drawn so that neither their order nor their popularity tells the truth.

The true item's place among its candidates by popularity is drawn first, evenly over all tasks, and
independently of the item. Then as many more popular items as that place asks for are drawn among the
item's nearest neighbours in popularity, and the rest among the less popular ones. All are of the
narrowest category of the item that has enough items on both sides. So a candidate's popularity, or its
place in the order of popularity, says nothing about whether it is the true one.
"""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_agentbench.benchmarks.behavior_modeling.items import categories, kind

WINDOW = 2  # neighbours looked at for each one that is drawn

_SCHEMA = """
DROP TABLE IF EXISTS member;
CREATE TABLE member (category TEXT NOT NULL, minus INTEGER NOT NULL, item TEXT NOT NULL);
"""


def even_places(tasks: int, candidates: int, rng: random.Random) -> list[int]:
    """A place from 0 to ``candidates - 1`` for each task, spread as evenly as whole numbers allow.

    Of any number of first places n, the tasks have ``tasks * n / candidates``, rounded up or down. So no
    hit rate differs from chance by as much as one task.

    >>> sorted(even_places(4, 4, random.Random(1)))
    [0, 1, 2, 3]
    """
    offset = rng.random()
    places = [min(candidates - 1, int((i + offset) * candidates / tasks)) for i in range(tasks)]
    rng.shuffle(places)
    return places


def category_tiers(item: Mapping[str, Any]) -> list[list[str]]:
    """The categories in which an item may be compared: within its city first, and never beyond its kind.

    >>> category_tiers({"type": "book", "categories": ["Poetry"]})
    [['book//Poetry'], ['book']]
    """
    sort, names, place = kind(item), categories(item), item.get("city")
    tiers = [[f"{sort}//{name}" for name in names], [sort]]
    if place:
        tiers = [[f"{sort}/{place}/{name}" for name in names], [f"{sort}/{place}"], *tiers]
    return tiers


@dataclass(frozen=True)
class Drawn:
    """The candidates of one task, as they will be listed."""

    listed: tuple[str, ...]
    category: str


class CandidatePool:
    """The items of the store by category and popularity."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        self._sizes: dict[str, int] = {}
        database.executescript(_SCHEMA)
        items = database.execute(
            "SELECT item.id, known_item.count, json FROM item JOIN known_item USING (id)"
        )
        database.execute("BEGIN")
        database.executemany("INSERT INTO member VALUES (?, ?, ?)", _members(items))
        database.execute("COMMIT")
        database.execute("CREATE INDEX member_by_category ON member (category, minus, item)")

    def draw(
        self, item: str, reviewed: frozenset[str], place: int, listed_at: int, count: int,
        rng: random.Random,
    ) -> Drawn | None:  # fmt: skip
        """``count`` candidates, the true item at ``listed_at``; ``place`` of them are more popular.

        None where no category has ``count - 1`` items on either side: then not every place were
        possible, and the place would tell something about the item.
        """
        record, popularity = self._database.execute(
            "SELECT json, known_item.count FROM item JOIN known_item USING (id) WHERE id = ?",
            (item,),
        ).fetchone()
        key = (-popularity, item)
        for tier in category_tiers(json.loads(record)):
            for category in sorted(set(tier), key=lambda name: (self._size(name), name)):
                if self._size(category) < 2 * count - 1:
                    continue
                above = self._nearest(category, key, "<", max(count - 1, WINDOW * place), reviewed)
                rest = count - 1 - place
                below = self._nearest(category, key, ">", max(count - 1, WINDOW * rest), reviewed)
                if min(len(above), len(below)) < count - 1:
                    continue
                others = [
                    *rng.sample(above[: WINDOW * place], place),
                    *rng.sample(below[: WINDOW * rest], rest),
                ]
                rng.shuffle(others)
                return Drawn((*others[:listed_at], item, *others[listed_at:]), category)
        return None

    def _size(self, category: str) -> int:
        if category not in self._sizes:
            sql = "SELECT COUNT(*) FROM member WHERE category = ?"
            self._sizes[category] = self._database.execute(sql, (category,)).fetchone()[0]
        return self._sizes[category]

    def _nearest(
        self, category: str, key: tuple[int, str], side: str, wanted: int, reviewed: frozenset[str]
    ) -> list[str]:
        """The nearest items on one side, without those that the person has reviewed."""
        order = "DESC" if side == "<" else "ASC"
        rows = self._database.execute(
            f"SELECT item FROM member WHERE category = ? AND (minus, item) {side} (?, ?) "  # noqa: S608 -- ours
            f"ORDER BY minus {order}, item {order}",
            (category, *key),
        )
        found: list[str] = []
        for (item,) in rows:
            if len(found) == wanted:
                break
            if item not in reviewed:
                found.append(item)
        return found


def _members(rows: Iterator[tuple[str, int, str]]) -> Iterator[tuple[str, int, str]]:
    for item, count, record in rows:
        names = {name for tier in category_tiers(json.loads(record)) for name in tier}
        for name in sorted(names):
            yield name, -count, item
