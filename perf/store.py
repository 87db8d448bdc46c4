"""The user-item-review store: building it, looking things up.

Built from JSON Lines files with texts of about 600 characters (20 reviews a user, 50 an item), in a process
of its own, and opened again in another; "JSON" is a process that only parses the lines. Lookups are
microseconds a call, of 3,000 calls at random places in a store just opened: a user, an item, a review by
its id, the reviews of a user (about 20), five reviews of an item. MB: the whole process that builds.
"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from measure import Cell, run, seconds, show

HEAD = ("reviews", "files MB", "build s", "µs a review", "JSON s", "build / JSON", "open s", "MB",
        "user µs", "item µs", "review µs", "user's reviews µs", "item's five µs")  # fmt: skip
OPEN = """
import pathlib, sys
from pytest_agentbench.benchmarks.behavior_modeling.store import open_store
store, _ = open_store(pathlib.Path(sys.argv[1]))
print(store.path)
"""
PARSE = """
import json, pathlib, sys
for path in pathlib.Path(sys.argv[1]).iterdir():
    with path.open(encoding="utf-8") as file:
        for line in file:
            json.loads(line)
"""


def rows(quick: bool) -> Iterator[list[Cell]]:
    with tempfile.TemporaryDirectory() as name:
        for reviews in (100, 200, 400) if quick else (50_000, 100_000, 200_000):
            folder = Path(name) / str(reviews)
            write_files(folder, reviews)
            size = sum(path.stat().st_size for path in folder.iterdir()) / 1e6
            parsed, built, opened = (
                run([sys.executable, "-c", code, str(folder)], AGENTBENCH_CACHE=f"{name}/cache")
                for code in (PARSE, OPEN, OPEN)
            )
            yield [
                reviews, size, built.seconds, 1e6 * built.seconds / reviews,
                parsed.seconds, built.seconds / parsed.seconds, opened.seconds, built.mb,
                *look_up(Path(built.output.splitlines()[-1]), reviews, calls=100 if quick else 3000),
            ]  # fmt: skip


def look_up(path: Path, reviews: int, calls: int) -> list[float]:
    from pytest_agentbench.benchmarks.behavior_modeling.hidden_reviews import HiddenReviews
    from pytest_agentbench.benchmarks.behavior_modeling.store import (
        Store,
        UserItemReviews,
    )

    store = Store(path)
    uir = UserItemReviews(store, HiddenReviews({"u1": ["i1"]}))
    rng = random.Random(1)
    users, items = max(1, reviews // 20), max(1, reviews // 50)
    lookups = (
        lambda: uir.get_user(f"u{rng.randrange(users)}"),
        lambda: uir.get_item(f"i{rng.randrange(items)}"),
        lambda: uir.get_reviews(review_id=f"r{rng.randrange(reviews)}"),
        lambda: uir.get_reviews(user_id=f"u{rng.randrange(users)}"),
        lambda: uir.get_reviews(item_id=f"i{rng.randrange(items)}", limit=5),
    )
    taken = []
    for look in lookups:
        for count in (calls // 10, calls):  # once to warm up
            took = seconds(lambda: [look() for _ in range(count)])  # noqa: B023 -- called here
        taken.append(1e6 * took / calls)
    store.close()
    return taken


def write_files(folder: Path, reviews: int) -> None:
    folder.mkdir()
    rng = random.Random(7)
    users, items = max(1, reviews // 20), max(1, reviews // 50)
    words = [
        "the",
        "tea",
        "was",
        "warm",
        "and",
        "the",
        "staff",
        "kind",
        "but",
        "slow",
        "with",
        "plenty",
        "of",
        "good",
        "cake",
        "to",
        "share",
    ]
    with (folder / "user.json").open("w") as file:
        for n in range(users):
            file.write(json.dumps({"user_id": f"u{n}", "name": f"Name {n}"}) + "\n")
    with (folder / "item.json").open("w") as file:
        for n in range(items):
            file.write(
                json.dumps({"item_id": f"i{n}", "title": f"Item {n}", "categories": ["x"]}) + "\n"
            )
    with (folder / "review.json").open("w") as file:
        for n in range(reviews):
            text = " ".join(words[rng.randrange(16)] for _ in range(130))
            review = {"review_id": f"r{n}", "user_id": f"u{rng.randrange(users)}", "stars": 4.0,
                      "item_id": f"i{rng.randrange(items)}", "text": text,
                      "timestamp": 1_500_000_000_000 + n}  # fmt: skip
            file.write(json.dumps(review) + "\n")
    for path in folder.iterdir():  # old enough for its digest to be remembered
        os.utime(path, (1_700_000_000, 1_700_000_000))


if __name__ == "__main__":
    show(__doc__, HEAD, rows)
