"""The candidates of a recommendation, drawn so that neither their order nor their popularity tells the truth.

The true item's place among its candidates by popularity is drawn first, evenly over all tasks, and
independently of the item. Then as many more popular items as that place asks for are drawn among the
item's nearest neighbours in popularity, and the rest among the less popular ones. So a candidate's
popularity, or its place in the order of popularity, says nothing about whether it is the true one.

All are of one group. Every item belongs to one group only, that of the narrowest of its categories that
has enough items left. So whichever candidate were the true one, the same items could be drawn beside it.
If all items of the true item's category could be drawn, those with many categories would be drawn more
often, and the true item would be the one with few.
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
# Items of a group for each candidate: then three of four have enough others on both sides. In smaller groups
# the items in the middle of the popularity are the truths, and it shows in how often an item is a candidate.
GROUP = 8
WIDEST = 0  # the tier of an item's kind; narrower ones count down from it, with a city or without

_SCHEMA = """
DROP TABLE IF EXISTS member;
DROP TABLE IF EXISTS peer;
CREATE TABLE member (tier INTEGER NOT NULL, category TEXT NOT NULL, minus INTEGER NOT NULL, item TEXT NOT NULL);
CREATE TABLE peer (item TEXT PRIMARY KEY, category TEXT NOT NULL, minus INTEGER NOT NULL) WITHOUT ROWID;
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
    """The items of the store by group and popularity."""

    def __init__(self, database: sqlite3.Connection, count: int) -> None:
        """Groups for tasks of ``count`` candidates each."""
        self._database = database
        self._count = count
        database.executescript(_SCHEMA)
        items = database.execute(
            "SELECT item.id, known_item.count, json FROM item JOIN known_item USING (id)"
        )
        database.execute("BEGIN")
        database.executemany("INSERT INTO member VALUES (?, ?, ?, ?)", _members(items))
        self._group()
        database.execute("COMMIT")
        database.execute("CREATE INDEX peer_by_category ON peer (category, minus, item)")

    def _group(self) -> None:
        """Gives each category, the narrowest first, those of its items that have no group yet."""
        database = self._database
        database.execute("CREATE INDEX member_by_category ON member (category, item)")
        narrowest_first = database.execute(
            "SELECT tier, category FROM member GROUP BY tier, category HAVING COUNT(*) >= ? "
            "ORDER BY tier, COUNT(*), category",
            (2 * self._count - 1,),
        ).fetchall()
        left = (
            "FROM member WHERE category = ? "
            "AND NOT EXISTS (SELECT 1 FROM peer WHERE peer.item = member.item)"
        )
        for tier, category in narrowest_first:
            (size,) = database.execute(f"SELECT COUNT(*) {left}", (category,)).fetchone()
            if tier == WIDEST or size >= GROUP * self._count:
                database.execute(
                    f"INSERT INTO peer SELECT item, category, minus {left}", (category,)
                )

    def draw(
        self, item: str, reviewed: frozenset[str], place: int, listed_at: int, rng: random.Random
    ) -> Drawn | None:
        """The candidates, the true item at ``listed_at``; ``place`` of them are more popular.

        None where the group has too few items on either side: then not every place were possible, and
        the place would tell something about the item.
        """
        found = self._database.execute(
            "SELECT category, minus FROM peer WHERE item = ?", (item,)
        ).fetchone()
        if found is None:
            return None
        category, minus = found
        others = self._count - 1
        rest = others - place
        above = self._nearest(category, (minus, item), "<", max(others, WINDOW * place), reviewed)
        below = self._nearest(category, (minus, item), ">", max(others, WINDOW * rest), reviewed)
        if min(len(above), len(below)) < others:
            return None
        drawn = [
            *rng.sample(above[: WINDOW * place], place),
            *rng.sample(below[: WINDOW * rest], rest),
        ]
        rng.shuffle(drawn)
        return Drawn((*drawn[:listed_at], item, *drawn[listed_at:]), category)

    def _nearest(
        self, category: str, key: tuple[int, str], side: str, wanted: int, reviewed: frozenset[str]
    ) -> list[str]:
        """The nearest items on one side, without those that the person has reviewed."""
        order = "DESC" if side == "<" else "ASC"
        rows = self._database.execute(
            f"SELECT item FROM peer WHERE category = ? AND (minus, item) {side} (?, ?) "  # noqa: S608 -- ours
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


def _members(rows: Iterator[tuple[str, int, str]]) -> Iterator[tuple[int, str, int, str]]:
    for item, count, record in rows:
        tiers = category_tiers(json.loads(record))
        for tier, names in enumerate(tiers, WIDEST + 1 - len(tiers)):
            for name in sorted(set(names)):
                yield tier, name, -count, item
