"""Making a data set of a review corpus.

Of synthetic JSON Lines in the shape of Amazon Reviews 2023, by `agentbench make-dataset`, with texts of about 500
characters (12 reviews a person, 40 an item, popularity as 1 / rank), in a process of its own: 200 tasks of
20 candidates. µs: of the processor. MB: the whole process; what it needs beside that is on disk.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from measure import Cell, agentbench, show

HEAD = ("reviews", "source file MB", "s", "processor s", "µs a review", "MB", "reviews in the store",
        "largest rate above chance")  # fmt: skip
WORDS = (
    "the tea was warm and the staff kind but slow with plenty of good cake to share " * 6
).strip()
BATCH = 100_000


def rows(quick: bool) -> Iterator[list[Cell]]:
    # AGENTBENCH_PERF_REVIEWS: other sizes, such as 10000000 (14 GB of disk for a while).
    asked = os.environ.get("AGENTBENCH_PERF_REVIEWS")
    sizes = (20_000, 40_000) if quick else (100_000, 300_000, 1_000_000)
    for reviews in [int(size) for size in asked.split(",")] if asked else sizes:
        with tempfile.TemporaryDirectory() as name:
            yield measured(Path(name), reviews)


def measured(folder: Path, reviews: int) -> list[Cell]:
    write_corpus(folder, reviews)
    size = (folder / "reviews.jsonl").stat().st_size / 1e6
    made = agentbench(
        ["make-dataset", "BehaviorModeling", "--reviews", "reviews.jsonl", "--items", "items.jsonl",
         "--out", "made", "--tasks", "200", "--candidates", "20", "--seed", "7"],
        folder, AGENTBENCH_CACHE=str(folder / "cache"), HF_HUB_OFFLINE="1",
    )  # fmt: skip
    lines = made.output.splitlines()
    kept = next(line for line in lines if "reviews in the store" in line).split(": ")[1]
    held = [float(line.split("|")[3]) for line in lines if line.startswith(("| unch", "| by pop"))]
    shutil.rmtree(folder / "made")
    return [
        reviews, size, made.seconds, made.cpu, 1e6 * made.cpu / reviews, made.mb,
        int(kept.replace(",", "")), max(held) + 0.0,
    ]  # fmt: skip


def write_corpus(folder: Path, reviews: int) -> None:
    rng = np.random.default_rng(7)
    people, items = reviews // 12, reviews // 40
    odds = np.cumsum(1 / np.arange(1, items + 1))
    with (folder / "items.jsonl").open("w") as file:
        for n in range(items):
            item = {"parent_asin": f"B{n:08}", "title": f"Item {n}", "main_category": "Books",
                    "categories": ["Books", f"Shelf {n % 50}"], "average_rating": 4.1,
                    "rating_number": 40, "details": {"Pages": "300"}}  # fmt: skip
            file.write(json.dumps(item) + "\n")
    with (folder / "reviews.jsonl").open("w") as file:
        for start in range(0, reviews, BATCH):
            count = min(BATCH, reviews - start)
            chosen = np.searchsorted(odds, rng.random(count) * odds[-1])
            columns = (chosen, rng.integers(people, size=count), rng.integers(1, 6, count),
                       rng.integers(10**11, size=count))  # fmt: skip
            file.writelines(
                f'{{"rating": {stars}.0, "title": "Title", "text": "Number {n}: {WORDS}", '
                f'"asin": "B{item:08}", "parent_asin": "B{item:08}", "user_id": "A{person:09}", '
                f'"timestamp": {1_500_000_000_000 + time}, "helpful_vote": 0}}\n'
                for n, (item, person, stars, time) in enumerate(
                    zip(*(column.tolist() for column in columns), strict=True), start
                )
            )


if __name__ == "__main__":
    show(__doc__, HEAD, rows)
