"""Makes the folder of a data set: reads the corpus, cuts it in time, draws the tasks, writes the files."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from pytest_agentbench.base import files
from pytest_agentbench.base.errors import BenchmarkError, shown
from pytest_agentbench.base.progress import Progress
from pytest_agentbench.benchmarks.behavior_modeling.corpus import card, leak, row_sources, split
from pytest_agentbench.benchmarks.behavior_modeling.corpus import normal_records as normal
from pytest_agentbench.benchmarks.behavior_modeling.corpus.columns import Columns, choose
from pytest_agentbench.benchmarks.behavior_modeling.corpus.row_sources import Row, RowSource
from pytest_agentbench.benchmarks.behavior_modeling.corpus.scratch import Review, Scratch
from pytest_agentbench.benchmarks.behavior_modeling.corpus.tasks_drawn import (
    TasksDrawn,
    draw_tasks,
)

PEOPLE_FOR_A_TASK = 4  # at first; more where too few of them can be asked about


@dataclass(frozen=True)
class Wishes:
    """What the command line asks for."""

    out: Path
    reviews: str
    items: str
    users: str | None = None
    mapping: Mapping[str, str] = field(default_factory=dict)
    tasks: int = 200
    candidates: int = 20
    history: int = 5  # the least number of reviews of a person in the store
    seed: int = 0


def make(wishes: Wishes) -> Iterator[str]:
    """Writes the data set; yields what there is to say. The folder appears whole, or not at all."""
    _require_free(wishes.out)
    tables = {"reviews": wishes.reviews, "items": wishes.items}
    if wishes.users is not None:
        tables["users"] = wishes.users
    sources = {
        table: row_sources.find_source(given, f"--{table}") for table, given in tables.items()
    }
    found = {table: _first_columns(source, table) for table, source in sources.items()}
    columns = choose(found, wishes.mapping)
    yield f"columns ({'as in ' + columns.source if columns.source else 'by their names'}):"
    yield from (f"  {line}" for line in columns.lines())
    with files.replacing(wishes.out) as half, _errors_of_the_disk(wishes.out):
        work = half / "work"
        work.mkdir(parents=True)
        scratch = Scratch(work)
        try:
            lines = _make(half, scratch, sources, columns, wishes)
        finally:
            scratch.close()
        shutil.rmtree(work)
    yield from lines


def _make(
    half: Path, scratch: Scratch, sources: dict[str, RowSource], columns: Columns, wishes: Wishes
) -> list[str]:
    counts: Counter[str] = Counter()
    scratch.add_items(_items(sources["items"], columns, counts))
    counts["repeated rows of items, left out"] = _repeated_items(scratch, columns)
    scratch.add_reviews(_reviews(sources["reviews"], columns, counts))
    _require_stars(counts, columns)
    counts["repeated reviews, left out"] = scratch.drop_repeated()
    scratch.index(wishes.history)
    cut, drawn = _drawn(scratch, wishes)
    counts["reviews in the store"] = _write(half / "review.json", scratch.lines_before(cut))
    counts["items in the store"] = _write(half / "item.json", _item_lines(scratch))
    scratch.learn_users(cut)
    users = _user_lines(scratch, sources.get("users"), columns)
    counts["people in the store"] = _write(half / "user.json", users)
    entries = drawn.entries()
    (half / "test_tasks.json").write_text(json.dumps(entries, indent=1) + "\n", encoding="ascii")
    rates, margin = leak.measure(drawn.recommendations, scratch.database)
    counts["reviews at or after the cut, left out"] = (
        scratch.reviews - counts["reviews in the store"]
    )
    made = card.Made(
        sources, columns, counts, cut, drawn.left_out, rates, margin,
        (len(drawn.recommendations), len(drawn.reviews)), wishes.candidates, wishes.history,
        wishes.seed,
    )  # fmt: skip
    (half / "README.md").write_text(card.text(made), encoding="utf-8")
    return card.summary(made)


def _require_free(out: Path) -> None:
    if out.exists() and not (out.is_dir() and not any(out.iterdir())):
        raise BenchmarkError(
            f"--out {out}: expected a new or an empty folder, got one with content"
        )


@contextlib.contextmanager
def _errors_of_the_disk(out: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        raise BenchmarkError(
            f"--out {out}: could not be written ({error}); is the disk full? The corpus lies beside it "
            f"while the data set is made"
        ) from None


def _first_columns(source: RowSource, table: str) -> list[str]:
    """The columns of the first rows; rows of JSON Lines need not have the same."""
    for rows in row_sources.batches(source, f"--{table}"):
        names = dict.fromkeys(name for row in rows for name in row)
        if names:
            return list(names)
    raise BenchmarkError(f"--{table} {source.given}: expected rows, got none")


def _rows(source: RowSource, table: str) -> Iterator[Row]:
    progress = Progress(f"make-dataset: reading {table}", "rows")
    for rows in row_sources.batches(source, f"--{table}"):
        yield from rows
        progress.add(len(rows))


def _items(source: RowSource, columns: Columns, counts: Counter[str]) -> Iterator[dict[str, Any]]:
    for row in _rows(source, "items"):
        record = normal.item_record(row, columns)
        counts["items read" if record else "items without an id, left out"] += 1
        if record:
            yield record


def _repeated_items(scratch: Scratch, columns: Columns) -> int:
    """How many rows say again what another one says of the same item; others are an error."""
    copies, others = scratch.database.execute(
        "SELECT SUM(copies), SUM(others) FROM item"
    ).fetchone()
    if others:
        (item,) = scratch.database.execute("SELECT id FROM item WHERE others LIMIT 1").fetchone()
        raise BenchmarkError(
            f"--items: expected one row an item, got {others:,} further rows with other content, as of "
            f"{columns.tables['items']['item_id']} {shown(item)}; name a table of items, keep one row of "
            f"each, or name another column with --map items.item_id=COLUMN"
        )
    return copies or 0


def _reviews(source: RowSource, columns: Columns, counts: Counter[str]) -> Iterator[Review]:
    number = nobody = undated = unrated = 0
    id_column = columns.tables["reviews"].get("review_id")
    for number, row in enumerate(_rows(source, "reviews"), 1):
        record = normal.review_record(row, columns, number)
        if record is None:
            nobody += 1
            continue
        time = normal.time_of(record)
        if time is None:
            undated += 1
            continue
        stars = record["stars"]
        unrated += stars is None
        fit = stars is not None and bool(record["text"].strip())
        line = f"{json.dumps(record)}\n".encode("ascii")
        user, item = record["user_id"], record["item_id"]
        given = normal.identifier(row.get(id_column)) if id_column else None
        yield Review(
            user, item, time, stars, fit, line, None if given is None else _digest(given),
            _digest(user, item, time, record["text"]),
        )  # fmt: skip
    counts["reviews read"] = number
    counts["reviews without a person or an item, left out"] = nobody
    counts["reviews without a date, left out"] = undated
    counts["reviews without stars from 1 to 5"] = unrated


def _digest(*values: Any) -> bytes:
    return hashlib.blake2b(repr(values).encode(), digest_size=16).digest()


def _require_stars(counts: Counter[str], columns: Columns) -> None:
    names = columns.tables["reviews"]
    undated = counts["reviews without a date, left out"]
    without = counts["reviews without stars from 1 to 5"]
    if undated == counts["reviews read"]:
        raise BenchmarkError(
            f"--reviews: expected dates in the column {names['date']!r} (2019-05-31, or seconds or "
            f"milliseconds since 1970), got none in {undated:,} rows; --map date=COLUMN names another"
        )
    if without * 2 > counts["reviews read"]:
        raise BenchmarkError(
            f"--reviews: expected stars from 1 to 5 in the column {names['stars']!r}, got others in "
            f"{without:,} of {counts['reviews read']:,} rows; --map stars=COLUMN names another"
        )


def _drawn(scratch: Scratch, wishes: Wishes) -> tuple[float, TasksDrawn]:
    """The tasks, from the latest cut that gives them all."""
    people = scratch.count("person")
    rows = scratch.database.execute("SELECT enough, last FROM person")
    flat = np.fromiter(itertools.chain.from_iterable(rows), np.float64, 2 * people)
    enough, last = flat[0::2], flat[1::2]
    wanted = PEOPLE_FOR_A_TASK * wishes.tasks
    while people:
        cut, left = split.choose_cut(enough, last, wanted)
        scratch.learn(cut)
        drawn = draw_tasks(scratch, cut, wishes.tasks, wishes.candidates, wishes.seed)
        if len(drawn) == wishes.tasks:
            return cut, drawn
        if left < wanted:
            reasons = "; ".join(f"{n} left out: {why}" for why, n in sorted(drawn.left_out.items()))
            raise BenchmarkError(
                f"--tasks {wishes.tasks}: the corpus gives {len(drawn)} tasks: {left} people have their last "
                f"review after one moment and at least {wishes.history} before it ({reasons or 'none left out'}); "
                f"ask for fewer tasks, --history or --candidates"
            )
        wanted *= PEOPLE_FOR_A_TASK
    raise BenchmarkError(
        f"--reviews: expected people with more than {wishes.history} reviews, got none; --history asks for fewer"
    )


def _write(path: Path, lines: Iterator[bytes]) -> int:
    count = 0
    with path.open("wb", buffering=1 << 20) as file:
        for line in lines:
            file.write(line)
            count += 1
    return count


def _item_lines(scratch: Scratch) -> Iterator[bytes]:
    rows = scratch.database.execute(
        "SELECT json, count, mean FROM item JOIN known_item USING (id) ORDER BY item.n"
    )
    for record, count, mean in rows:
        yield _line(normal.recount(json.loads(record), count, mean))


def _user_lines(scratch: Scratch, source: RowSource | None, columns: Columns) -> Iterator[bytes]:
    """People of the store: as their source has them, then those that it lacks."""
    database = scratch.database
    for row in _rows(source, "users") if source is not None else ():
        record = normal.user_record(row, columns)
        if record is None:
            continue
        known = database.execute(
            "SELECT count, mean FROM known_user WHERE id = ? AND NOT seen", (record["user_id"],)
        ).fetchone()
        if known is not None:
            database.execute("UPDATE known_user SET seen = 1 WHERE id = ?", (record["user_id"],))
            yield _line(normal.recount(record, *known))
    rest = database.execute("SELECT id, count, mean FROM known_user WHERE NOT seen ORDER BY id")
    for user, count, mean in rest:
        yield _line(normal.recount({"user_id": user, "average_stars": None}, count, mean))


def _line(record: Mapping[str, Any]) -> bytes:
    return f"{json.dumps(record)}\n".encode("ascii")
