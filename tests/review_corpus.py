"""A small synthetic review corpus in the shapes of Amazon Reviews 2023, Yelp and Goodreads, in three file formats."""

from __future__ import annotations

import csv
import datetime
import gzip
import io
import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

START = 1_500_000_000  # seconds
DAY = 86_400


@dataclass(frozen=True)
class Review:
    """One review as it was invented; ``number`` is its place in the source."""

    number: int
    user: str
    item: str
    stars: int
    text: str
    time: int


def invent(people: int = 120, items: int = 90, seed: int = 1) -> list[Review]:
    """Four to twelve reviews a person, popular items more often, several at one time."""
    rng = random.Random(seed)
    odds = [1 / (n + 3) for n in range(items)]
    found: list[tuple[str, str, int, int]] = []
    for person in range(people):
        for item in rng.choices(range(items), odds, k=rng.randint(4, 12)):
            time = START + DAY * rng.randrange(400)  # whole days: ties
            found.append((f"p{person:03}", f"{item:04}", rng.randint(1, 5), time))
    rng.shuffle(found)
    return [
        Review(n, user, item, stars, f'Number {n}, "{item}"\nby {user}.', time)
        for n, (user, item, stars, time) in enumerate(found)
    ]


def items_of(reviews: list[Review]) -> list[str]:
    return sorted({review.item for review in reviews})


def amazon(reviews: list[Review]) -> dict[str, list[dict[str, Any]]]:
    return {
        "reviews": [
            {"rating": float(r.stars), "title": "Title", "text": r.text, "images": [], "asin": f"v{r.item}",
             "parent_asin": r.item, "user_id": r.user, "timestamp": r.time * 1000, "helpful_vote": 1}
            for r in reviews
        ],
        "items": [
            {"main_category": "Tea", "title": f"Item {item}", "average_rating": 4.9, "rating_number": 999,
             "categories": ["Food", "Tea"] if n % 2 else [], "price": "None" if n % 3 else 3.5,
             "details": {"Best Sellers Rank": {"Tea": n}, f"Key {n}": n}, "parent_asin": item,
             "bought_together": None}
            for n, item in enumerate(items_of(reviews))
        ],
    }  # fmt: skip


def yelp(reviews: list[Review]) -> dict[str, list[dict[str, Any]]]:
    def written(time: int) -> str:
        moment = datetime.datetime.fromtimestamp(time, datetime.timezone.utc)
        return f"{moment:%Y-%m-%d %H:%M:%S}"

    return {
        "reviews": [
            {"review_id": f"r{r.number}", "user_id": r.user, "business_id": r.item, "stars": float(r.stars),
             "useful": 0, "text": r.text, "date": written(r.time)}
            for r in reviews
        ],
        "items": [
            {"business_id": item, "name": f"Café {item}", "city": "Tampa", "stars": 4.5, "review_count": 77,
             "is_open": 1, "categories": "Food, Tea Rooms"}
            for item in items_of(reviews)
        ],
        "users": [
            {"user_id": user, "name": f"Name {user}", "review_count": 500, "average_stars": 3.3, "fans": 9,
             "compliment_hot": 2, "yelping_since": "2010-01-01"}
            for user in sorted({r.user for r in reviews})[5:]
        ],
    }  # fmt: skip


def goodreads(reviews: list[Review]) -> dict[str, list[dict[str, Any]]]:
    def written(time: int) -> str:
        moment = datetime.datetime.fromtimestamp(time, datetime.timezone.utc)
        return f"{moment:%a %b %d %H:%M:%S +0000 %Y}"

    return {
        "reviews": [
            {"user_id": r.user, "book_id": r.item, "review_id": f"r{r.number}", "rating": r.stars,
             "review_text": r.text, "date_added": written(r.time), "n_votes": 0}
            for r in reviews
        ],
        "items": [
            {"book_id": item, "title": f"Book {item}", "average_rating": "4.00", "ratings_count": "7",
             "similar_books": ["0001"],
             "popular_shelves": [{"count": "90", "name": "to-read"}, {"count": "9", "name": "poetry"}]}
            for item in items_of(reviews)
        ],
    }  # fmt: skip


def write(rows: list[dict[str, Any]], path: Path) -> str:
    """The rows as the file's suffix says; the path as a text."""
    path.parent.mkdir(parents=True, exist_ok=True)
    name = path.name.removesuffix(".gz")
    if name.endswith(".parquet"):
        import pandas

        pandas.DataFrame(rows).to_parquet(path)
    elif name.endswith(".csv"):
        text = io.StringIO()
        writer = csv.DictWriter(text, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
        _write(path, text.getvalue())
    else:
        _write(path, "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows))
    return str(path)


def _write(path: Path, text: str) -> None:
    content = text.encode()
    path.write_bytes(gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)
