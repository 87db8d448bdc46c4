"""Time and memory of building the user-item-review store, and of looking things up in it.

Run as ``python perf/store.py [--reviews N]``. The build is a process of its own, from JSON Lines files
with texts of about 600 characters; lookups are measured in a store just opened.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BUILD = """
import json, pathlib, re, sys, time
from pytest_agentbench.benchmarks.behavior_modeling.store import open_store
start = time.perf_counter()
store, _ = open_store(pathlib.Path(sys.argv[1]))
seconds = time.perf_counter() - start
# Not getrusage: its maximum is inherited from the process that started this one.
peak = int(re.search(r"VmHWM:\\s+(\\d+)", pathlib.Path("/proc/self/status").read_text())[1]) / 1024
print(json.dumps({"seconds": seconds, "peak_mb": peak, "path": str(store.path)}))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reviews", type=int, default=400_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        os.environ["AGENTBENCH_CACHE"] = f"{name}/cache"
        for reviews in (options.reviews // 4, options.reviews):
            folder = Path(name) / str(reviews)
            write_files(folder, reviews)
            size = sum(path.stat().st_size for path in folder.iterdir()) / 1e6
            built, opened = measured(folder), measured(folder)
            print(
                f"{reviews:,} reviews ({size:.0f} MB): built in {built['seconds']:.1f} s "
                f"({1e6 * built['seconds'] / reviews:.1f} us a review), at most "
                f"{built['peak_mb']:.0f} MB; opened again in {1000 * opened['seconds']:.0f} ms"
            )
            look_up(Path(built["path"]), reviews)


def measured(folder: Path) -> dict:
    command = [sys.executable, "-c", BUILD, str(folder)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def look_up(path: Path, reviews: int) -> None:
    from pytest_agentbench.benchmarks.behavior_modeling.store import Store, UserItemReviews

    store = Store(path)
    uir = UserItemReviews(store, "u1", ["i1"])
    rng = random.Random(1)
    users, items = max(1, reviews // 20), max(1, reviews // 50)
    calls = {
        "get_user": lambda: uir.get_user(f"u{rng.randrange(users)}"),
        "get_item": lambda: uir.get_item(f"i{rng.randrange(items)}"),
        "get_reviews(review_id=…)": lambda: uir.get_reviews(review_id=f"r{rng.randrange(reviews)}"),
        "get_reviews(user_id=…), about 20": lambda: uir.get_reviews(user_id=f"u{rng.randrange(users)}"),
        "get_reviews(item_id=…, limit=5)": lambda: uir.get_reviews(item_id=f"i{rng.randrange(items)}", limit=5),
    }  # fmt: skip
    for name, call in calls.items():
        for _ in range(200):
            call()
        start = time.perf_counter()
        for _ in range(3000):
            call()
        print(f"    {name}: {1e6 * (time.perf_counter() - start) / 3000:.0f} us")
    store.close()


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
    main()
