"""The corpus on disk while a data set is made of it: one SQLite file and one file of review lines.

Memory does not grow with the number of reviews: SQLite sorts on disk, and texts are read once in and
once out. Only the two times of each person with enough reviews are in memory, 16 bytes a person.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pytest_agentbench.base.progress import Progress, say

_SCHEMA = """
CREATE TABLE item (
    n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, json TEXT NOT NULL,
    copies INTEGER NOT NULL DEFAULT 0, others INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE review (
    n INTEGER PRIMARY KEY, user TEXT NOT NULL, item TEXT NOT NULL, time REAL NOT NULL, stars REAL,
    fit INTEGER NOT NULL, start INTEGER NOT NULL, given BLOB, content BLOB
);
CREATE TABLE repeated (n INTEGER PRIMARY KEY);
CREATE TABLE person (user TEXT, enough REAL, last REAL, n INTEGER);
CREATE TABLE known_item (id TEXT PRIMARY KEY, count INTEGER, mean REAL, newest REAL) WITHOUT ROWID;
CREATE TABLE known_user (id TEXT PRIMARY KEY, count INTEGER, mean REAL, seen INTEGER) WITHOUT ROWID;
"""
_BATCH = 20_000
_MANY = 500_000  # reviews: from here on sorting takes seconds, and is announced


class Review(NamedTuple):
    """One line of the spool, with what the split needs to know of it."""

    user: str
    item: str
    time: float
    stars: float | None
    fit: bool  # has stars and a text: can be a truth
    line: bytes
    given: bytes | None = None  # digest of the id in the source
    content: bytes | None = None  # digest of who wrote what, when and about what


class Scratch:
    """Items and reviews as they came, and what the store will know of them at the time of the cut."""

    def __init__(self, folder: Path) -> None:
        self._spool = folder / "reviews.jsonl"
        self.reviews = 0
        self.database = sqlite3.connect(folder / "corpus.sqlite", isolation_level=None)
        # Nothing is lost in a crash: the whole folder is removed.
        for setting in ("journal_mode = OFF", "synchronous = OFF", "cache_size = -65536"):
            self.database.execute(f"PRAGMA {setting}")
        self.database.executescript(_SCHEMA)

    def close(self) -> None:
        self.database.close()

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self.database.execute("BEGIN")
        yield
        self.database.execute("COMMIT")

    def add_items(self, records: Iterable[dict[str, Any]]) -> None:
        """Keeps one record of each id, and counts further rows: copies of it, and others."""
        rows = ((record["item_id"], json.dumps(record)) for record in records)
        with self._transaction():
            self.database.executemany(
                "INSERT INTO item (id, json) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET "
                "copies = copies + (json = excluded.json), others = others + (json <> excluded.json)",
                rows,
            )

    def add_reviews(self, reviews: Iterable[Review]) -> None:
        with self._transaction(), self._spool.open("wb") as spool:
            self.database.executemany(
                "INSERT INTO review (user, item, time, stars, fit, start, given, content) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                _spooled(reviews, spool),
            )
        self.reviews = self.count("review")

    def drop_repeated(self) -> int:
        """Forgets reviews that the source has again, under the same id or word for word; how many."""
        self._say("looking for reviews that are there twice")
        before = self.reviews
        with self._transaction():
            for key in ("given", "content"):
                rows = self.database.execute(
                    f"SELECT {key}, n FROM review WHERE {key} IS NOT NULL ORDER BY {key}, n"  # noqa: S608 -- ours
                )
                again = ((new[1],) for old, new in itertools.pairwise(rows) if old[0] == new[0])
                self.database.executemany("INSERT INTO repeated VALUES (?)", again)
                self.database.execute("DELETE FROM review WHERE n IN (SELECT n FROM repeated)")
        self.reviews = self.count("review")
        return before - self.reviews

    def index(self, history: int) -> None:
        """Notes for each person when they had enough reviews, and which one is their last."""
        self._say("sorting the reviews by person and time")
        self.database.execute("CREATE INDEX review_by_user ON review (user, time, n, stars)")
        rows = self.database.execute("SELECT user, time, n FROM review ORDER BY user, time, n")
        people = itertools.groupby(rows, key=lambda row: row[0])
        with self._transaction():
            self.database.executemany(
                "INSERT INTO person VALUES (?, ?, ?, ?)",
                filter(None, (_person(user, times, history) for user, times in people)),
            )

    def learn(self, cut: float) -> None:
        """What the store knows: the reviews before the cut, counted for each item and person."""
        self._say("counting the reviews of the store")
        with self._transaction():
            self.database.execute("DELETE FROM known_item")
            self.database.execute(
                "INSERT INTO known_item SELECT item, COUNT(*), AVG(stars), MAX(time) FROM review "
                "WHERE time < ? GROUP BY item ORDER BY item",
                (cut,),
            )

    def learn_users(self, cut: float) -> None:
        with self._transaction():
            self.database.execute(
                "INSERT INTO known_user SELECT user, COUNT(*), AVG(stars), 0 FROM review "
                "WHERE time < ? GROUP BY user ORDER BY user",
                (cut,),
            )

    def people(self, cut: float) -> list[tuple[str, int]]:
        """Those with enough reviews before the cut and their last one after it; that one's number."""
        return self.database.execute(
            "SELECT user, n FROM person WHERE enough < ? AND last >= ? ORDER BY user", (cut, cut)
        ).fetchall()

    def text_at(self, start: int) -> dict[str, Any]:
        """The review whose line begins here."""
        with self._spool.open("rb") as spool:
            spool.seek(start)
            found: dict[str, Any] = json.loads(spool.readline())
        return found

    def _say(self, what: str) -> None:
        if self.reviews >= _MANY:
            say(f"make-dataset: {what}")

    def count(self, table: str, condition: str = "1", *values: Any) -> int:
        sql = f"SELECT COUNT(*) FROM {table} WHERE {condition}"  # noqa: S608 -- ours
        return int(self.database.execute(sql, values).fetchone()[0])

    def lines_before(self, cut: float) -> Iterator[bytes]:
        """The lines of the store, in the order of the corpus."""
        progress = Progress("make-dataset: writing review.json", "reviews", self.reviews)
        # A review's number is that of its line; lines of repeated reviews have none.
        rows = self.database.execute("SELECT n, time FROM review ORDER BY n")
        with self._spool.open("rb") as spool:
            lines = enumerate(spool, 1)
            for done, (wanted, time) in enumerate(rows, 1):
                line = next(line for number, line in lines if number == wanted)
                if time < cut:
                    yield line
                if done % _BATCH == 0:
                    progress.add(_BATCH)


def _spooled(reviews: Iterable[Review], spool: Any) -> Iterator[tuple[Any, ...]]:
    start = 0
    for review in reviews:
        spool.write(review.line)
        yield (
            review.user, review.item, review.time, review.stars, review.fit, start, review.given,
            review.content,
        )  # fmt: skip
        start += len(review.line)


def _person(
    user: str, rows: Iterator[tuple[str, float, int]], history: int
) -> tuple[str, float, float, int] | None:
    reviews = [(time, number) for _, time, number in rows]
    if len(reviews) <= history:
        return None
    return user, reviews[history - 1][0], *reviews[-1]
