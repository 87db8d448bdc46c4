"""The user-item-review store that agents query: a read-only database, microseconds to a lookup.

``user.json``, ``item.json`` and ``review.json`` (JSON Lines) are built once into one SQLite file in the
cache, named after the digest of the three: when one of them changes, another file is built. It is
written under another name and renamed, so a reader sees a whole store or none. Its own digest lies
beside it: one that was damaged is built anew.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import json
import os
import sqlite3
import threading
import weakref
import zlib
from collections.abc import Collection, Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import IO, Any, ClassVar, cast

from pytest_agentbench.base import compressed, files
from pytest_agentbench.base.errors import BenchmarkError, shown
from pytest_agentbench.base.progress import Progress
from pytest_agentbench.benchmarks.behavior_modeling.hidden_reviews import (
    NOTHING_HIDDEN,
    HiddenReviews,
)
from pytest_agentbench.benchmarks.behavior_modeling.layouts import existing, store_files
from pytest_agentbench.benchmarks.behavior_modeling.review_dates import moment_of, review_time

FORMAT = 1  # part of the file's name: raise it when the tables change
TABLES = ("user", "item", "review")
UNUSED_DAYS = 60  # older stores are removed when a new one is built

_BATCH = 20_000
_SCHEMA = """
CREATE TABLE user (n INTEGER PRIMARY KEY, id TEXT NOT NULL, json TEXT NOT NULL);
CREATE TABLE item (n INTEGER PRIMARY KEY, id TEXT NOT NULL, json TEXT NOT NULL);
CREATE TABLE review (
    n INTEGER PRIMARY KEY, id TEXT, user TEXT NOT NULL, item TEXT NOT NULL, time REAL,
    json TEXT NOT NULL
);
"""
# After the rows: sorting once is faster than keeping four trees in order, and bounded in memory.
_INDICES = """
CREATE INDEX user_by_id ON user (id);
CREATE INDEX item_by_id ON item (id);
CREATE INDEX review_by_id ON review (id) WHERE id IS NOT NULL;
CREATE INDEX review_by_user ON review (user);
CREATE INDEX review_by_item ON review (item);
"""
_INSERT = {
    "user": "INSERT INTO user (id, json) VALUES (?, ?)",
    "item": "INSERT INTO item (id, json) VALUES (?, ?)",
    "review": "INSERT INTO review (id, user, item, time, json) VALUES (?, ?, ?, ?, ?)",
}
# What ``ids`` lists: a table and its column.
_IDS = {
    "user": ("user", "id"),
    "item": ("item", "id"),
    "review": ("review", "id"),
    "reviewed": ("review", "item"),
    "reviewer": ("review", "user"),
}


class Store:
    """An open store. One connection serves all threads of a process; a fork opens its own."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._open()

    def __reduce__(self) -> tuple[type[Store], tuple[Path]]:
        return Store, (self.path,)

    def _open(self) -> None:
        uri = f"{self.path.resolve().as_uri()}?mode=ro&immutable=1"
        self._database = sqlite3.connect(uri, uri=True, check_same_thread=False)
        self._database.execute("PRAGMA mmap_size = 1073741824")
        self._process = os.getpid()
        self.close = weakref.finalize(self, self._database.close)

    def rows(
        self, sql: str, parameters: Collection[Any], at_a_time: int = 64
    ) -> Iterator[tuple[Any, ...]]:
        """The rows of a query, fetched in batches: taking a few does not cost all."""
        if self._process != os.getpid():
            # After a fork: the lock may be held by a thread that is not here, and the connection is
            # the parent's to close.
            self._lock = threading.Lock()
            self._inherited = self._database
            self.close.detach()
            self._open()
        with self._lock:
            cursor = self._database.execute(sql, tuple(parameters))
        while True:
            with self._lock:
                fetched = cursor.fetchmany(at_a_time)
            if not fetched:
                return
            yield from fetched

    def get(self, table: str, identifier: str) -> dict[str, Any] | None:
        sql = f"SELECT json FROM {table} WHERE id = ? ORDER BY n DESC LIMIT 1"  # noqa: S608 -- ours
        for (text,) in self.rows(sql, (str(identifier),)):
            found: dict[str, Any] = json.loads(text)
            return found
        return None


class UserItemReviews:
    """What an agent may ask about users, items and reviews.

    The ``hidden`` reviews are in no answer, and in no count or average. Every call gives fresh objects,
    which the agent may change.
    """

    agentbench_methods: ClassVar[tuple[str, ...]] = (
        "get_user", "get_item", "get_reviews", "count_reviews", "ids", "count_ids",
    )  # fmt: skip

    def __init__(self, store: Store, hidden: HiddenReviews = NOTHING_HIDDEN) -> None:
        self._store = store
        self._hidden = hidden

    def get_user(self, user_id: str) -> dict[str, Any] | None:
        """The user's record, or None."""
        return self._record("user", user_id)

    def get_item(self, item_id: str) -> dict[str, Any] | None:
        """The item's record (``name`` or ``title``, ``categories`` …), or None."""
        return self._record("item", item_id)

    def _record(self, table: str, identifier: str) -> dict[str, Any] | None:
        found = self._store.get(table, identifier)
        return None if found is None else self._hidden.without(found, table, self._store)

    def get_reviews(
        self,
        item_id: str | None = None,
        user_id: str | None = None,
        review_id: str | None = None,
        *,
        limit: int | None = None,
        after: Any = None,
        before: Any = None,
        newest_first: bool = False,
    ) -> list[dict[str, Any]]:
        """Reviews of an item, by a user, or with an id; those of both if both are given.

        They come in the order of the file. ``after`` and ``before`` are dates (ISO text, a datetime, or
        seconds since 1970): ``after`` is included, ``before`` is not, and reviews without a date are in
        neither. ``limit`` is the most that are returned.
        """
        found: list[dict[str, Any]] = []
        if limit is not None and limit < 1:
            return found
        order = "time DESC, n" if newest_first else "n"
        few = 64 if limit is None else max(1, min(limit, 64))
        for row in self._select("json", item_id, user_id, review_id, after, before, order, few):
            found.append(_with_both_names(json.loads(row)))
            if limit is not None and len(found) >= limit:
                break
        return found

    def count_reviews(self, item_id: str | None = None, user_id: str | None = None) -> int:
        """How many reviews :meth:`get_reviews` would return."""
        return sum(1 for _ in self._select("n", item_id, user_id, None, None, None, "n"))

    def ids(self, kind: str, after: str | None = None, limit: int = 5000) -> list[str]:
        """Ids in ascending order, the first that come after one: of every ``user``, ``item`` or
        ``review``, of items with reviews (``reviewed``) or of users with some (``reviewer``).
        """
        column, rest, parameters = self._known(kind, after)
        sql = f"SELECT DISTINCT {column} {rest} ORDER BY {column} LIMIT {int(limit)}"
        return [found for (found,) in self._store.rows(sql, parameters)]

    def count_ids(self, kind: str) -> int:
        """How many ids of a kind there are; see :meth:`ids`."""
        column, rest, parameters = self._known(kind, None)
        sql = f"SELECT COUNT(DISTINCT {column}) {rest}"
        return next(int(count) for (count,) in self._store.rows(sql, parameters))

    def _known(self, kind: str, after: str | None) -> tuple[str, str, list[str]]:
        """The column of a kind of id, the rest of the query, and its parameters."""
        if kind not in _IDS:
            raise ValueError(f"kind: expected {', '.join(_IDS)}, got {kind!r}")
        table, column = _IDS[kind]
        conditions, parameters = [f"{column} > ?"], ["" if after is None else str(after)]
        if table == "review":
            conditions.append("n NOT IN (SELECT value FROM json_each(?))")
            parameters.append(self._hidden.rows(self._store))
        return column, f"FROM {table} WHERE {' AND '.join(conditions)}", parameters

    def _select(
        self, column: str, item_id: Any, user_id: Any, review_id: Any, after: Any, before: Any,
        order: str, at_a_time: int = 64,
    ) -> Iterator[Any]:  # fmt: skip
        conditions: list[str] = []
        parameters: list[str | float] = []
        for name, value in (("id", review_id), ("user", user_id), ("item", item_id)):
            if value is not None:
                conditions.append(f"{name} = ?")
                parameters.append(str(value))
        if not conditions:
            return
        for sign, moment in ((">=", after), ("<", before)):
            if moment is not None:
                conditions.append(f"time {sign} ?")
                parameters.append(moment_of(moment))
        sql = (
            f"SELECT user, item, {column} FROM review WHERE {' AND '.join(conditions)} "  # noqa: S608 -- ours
            f"ORDER BY {order}"
        )
        for user, item, value in self._store.rows(sql, parameters, at_a_time):
            if (user, item) not in self._hidden:
                yield value


def _with_both_names(review: dict[str, Any]) -> dict[str, Any]:
    """A review with its text under ``text``, as in the files, and ``review``, as asbench documents it."""
    for name, other in (("text", "review"), ("review", "text")):
        if name in review:
            review.setdefault(other, review[name])
    return review


def open_store(folder: Path | None) -> tuple[Store, str]:
    """The store of a data set folder, built if there is none yet, and the digest of its sources.

    Without a folder it is empty: it answers every question with nothing.
    """
    sources = {} if folder is None else {table: _source(folder, table) for table in TABLES}
    parts = [[table, files.file_digest(path)] for table, path in sources.items()]
    digest = hashlib.sha256(json.dumps(parts).encode()).hexdigest()
    place = files.cache_folder() / "behavior_modeling"
    path = place / f"{digest[:32]}-{FORMAT}.sqlite"
    if not _whole(path):
        _require_writable(place)
        with files.one_at_a_time(path):
            if not _whole(path):  # another worker may have built it meanwhile
                _make_room(place)
                build(sources, path)
    with contextlib.suppress(OSError):
        os.utime(_seal(path))  # in use: see _make_room
    return Store(path), digest


def _whole(path: Path) -> bool:
    """Whether a store is there, unchanged since it was written."""
    try:
        return _seal(path).read_text(encoding="ascii") == files.file_digest(path)
    except (OSError, ValueError):
        return False


def _seal(path: Path) -> Path:
    """The file with the digest of a store."""
    return path.with_suffix(".sha256")


def build(sources: dict[str, Path], path: Path) -> None:
    """Writes the store of three files, in one pass over each."""
    try:
        with files.replacing(path) as half:
            _fill(half, sources)
            digest = files.file_digest(half)
        files.write_whole(_seal(path), digest)
    except OSError:
        if not _whole(path):  # somebody else was first and has it open: theirs is as good
            raise
    except sqlite3.Error as error:
        raise BenchmarkError(
            f"{path}: the review store could not be built ({error}); is the disk full? "
            f"AGENTBENCH_CACHE names another place"
        ) from None


def _fill(path: Path, sources: dict[str, Path]) -> None:
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
        # Nothing is lost in a crash: the file is not in its place before it is whole.
        for setting in ("journal_mode = OFF", "synchronous = OFF", "cache_size = -16384"):
            database.execute(f"PRAGMA {setting}")
        database.executescript(_SCHEMA)
        for table, source in sources.items():
            database.execute("BEGIN")
            progress = Progress(f"building the review store from {source.name}", "lines")
            database.executemany(_INSERT[table], _rows(table, source, progress))
            database.execute("COMMIT")
        database.executescript(_INDICES)


def _rows(table: str, source: Path, progress: Progress) -> Iterator[tuple[Any, ...]]:
    try:
        zipped = source.suffix == ".gz"
        with cast(IO[bytes], gzip.open(source) if zipped else source.open("rb")) as stream:
            for number, line in enumerate(compressed.lines(source, stream), 1):
                if number % _BATCH == 0:
                    progress.add(_BATCH)
                text = line.strip()
                if text:
                    yield _row(table, text, source, number)
    except (OSError, EOFError, zlib.error) as error:
        raise BenchmarkError(
            f"{source}: cannot be read to its end ({error}); is it cut off or damaged? fetch it again"
        ) from None


def _row(table: str, line: bytes, source: Path, number: int) -> tuple[Any, ...]:
    where = f"{source}, line {number}"
    try:
        text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        record = files.parsed_json(text)
    except ValueError as error:
        raise BenchmarkError(f"{where}: expected one JSON object a line, but {error}") from None
    if not isinstance(record, dict):
        raise BenchmarkError(
            f"{where}: expected one JSON object a line (JSON Lines), got {type(record).__name__}"
        )
    needed = ("user_id", "item_id") if table == "review" else (f"{table}_id",)
    values = [record.get(name) for name in needed]
    for name, value in zip(needed, values, strict=True):
        if not isinstance(value, (str, int)) or isinstance(value, bool):
            raise BenchmarkError(
                f"{where}: expected the key {name!r} with an id, got {shown(value)}"
            )
    if table != "review":
        return str(values[0]), text
    review_id = record.get("review_id")
    return (
        None if review_id is None else str(review_id), str(values[0]), str(values[1]),
        review_time(record), text,
    )  # fmt: skip


def _source(folder: Path, table: str) -> Path:
    found = existing(folder / f"{table}.json")
    if found is None:
        raise BenchmarkError(
            f"dataset {folder}: expected {table}.json (JSON Lines) beside "
            f"{', '.join(path.name for path in store_files(folder))}, got no such file"
        )
    return found


def _require_writable(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK):
            raise PermissionError(f"{folder} cannot be written")
    except OSError as error:
        raise BenchmarkError(
            f"the review store needs a place in the cache, but {error}; AGENTBENCH_CACHE names another"
        ) from None


def _make_room(folder: Path) -> None:
    oldest = datetime.now(timezone.utc).timestamp() - UNUSED_DAYS * 86400
    for path in folder.glob("*.sqlite"):
        with contextlib.suppress(OSError):  # somebody else's, or gone already
            used = _seal(path) if _seal(path).exists() else path
            if used.stat().st_mtime < oldest:
                path.unlink()
                used.unlink(missing_ok=True)
