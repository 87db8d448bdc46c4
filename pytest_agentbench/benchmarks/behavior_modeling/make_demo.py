"""Makes the demo data: synthetic people with tastes, the same records on every machine.

Run as ``python -m pytest_agentbench.benchmarks.behavior_modeling.make_demo``; it writes the folder
``demo`` beside this file, in the published layout, gzipped. No record describes a real person, product
or business. Only ``Random.random()`` is drawn from, whose sequence Python promises to keep.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from pytest_agentbench.benchmarks.behavior_modeling import demo_phrases as words

DEMO_FOLDER = Path(__file__).with_name("demo")
SEED = 20250611
USERS = 90
ITEMS_A_CATEGORY = 12
REVIEWS_A_USER = 22
TASKS_A_KIND = 60
CANDIDATES = 20
DAY = 86_400
FIRST_DAY = 1_546_300_800  # 2019-01-01

Record = dict[str, Any]


@dataclass(frozen=True)
class Person:
    """Somebody's taste: drawn once, then choices and reviews follow from it."""

    user_id: str
    home: Mapping[str, float]  # how much of their reviewing goes to each source
    liked: Mapping[str, float]  # by category, from -1 to 1
    cares: Mapping[str, float]  # by aspect, from 0 to 1
    generous: float  # stars above or below others
    talkative: float  # chance of one more sentence


@dataclass(frozen=True)
class Thing:
    """An item with its strengths, which reviewers notice."""

    item_id: str
    source: str
    category: str
    name: str
    known: float  # how often people meet it
    strength: Mapping[str, float]  # by aspect, from -1 to 1


def main() -> None:
    DEMO_FOLDER.mkdir(exist_ok=True)
    total = 0
    for name, text in demo_files().items():
        path = DEMO_FOLDER / f"{name}.gz"
        path.write_bytes(gzip.compress(text.encode("utf-8"), compresslevel=9, mtime=0))
        total += path.stat().st_size
    print(f"{DEMO_FOLDER}: {total:,} bytes, synthetic")  # noqa: T201 -- a command


def demo_files() -> dict[str, str]:
    """The text of every file of the demo folder, by name."""
    rng = Random(SEED)
    things = [
        _thing(rng, source, category, number)
        for source in words.SOURCES
        for category in words.CATEGORIES[source]
        for number in range(ITEMS_A_CATEGORY)
    ]
    people = [_person(rng, number) for number in range(USERS)]
    reviews: list[Record] = []
    for person in people:
        reviews += _reviews(rng, person, things, len(reviews))
    tasks = _tasks(rng, reviews, things)
    truths = [
        {"task_id": t["task_id"], "ground_truth": t["ground_truth"]} for t in tasks["inference"]
    ]
    asked = [{k: v for k, v in task.items() if k != "ground_truth"} for task in tasks["inference"]]
    return {
        "user.json": _lines(_user(person, reviews) for person in people),
        "item.json": _lines(_item(thing, reviews) for thing in things),
        "review.json": _lines(reviews),
        "test_tasks.json": json.dumps(tasks["test"], indent=1),
        "inference_tasks.json": json.dumps(asked, indent=1),
        "inference_tasks_groundtruth.json": json.dumps(truths, indent=1),
    }


def _thing(rng: Random, source: str, category: str, number: int) -> Thing:
    first = words.NAMES[category][number % len(words.NAMES[category])]
    second = words.SECOND[source][_below(rng, len(words.SECOND[source]))]
    return Thing(
        item_id=f"{source[:2]}-{category.lower().replace(' ', '')}-{number:02d}",
        source=source,
        category=category,
        name=f"{first} {second}",
        known=0.2 + rng.random() ** 3,
        strength={aspect: 2 * rng.random() - 1 for aspect, *_ in words.ASPECTS[source]},
    )


def _person(rng: Random, number: int) -> Person:
    main = words.SOURCES[number % len(words.SOURCES)]
    liked = {}
    for categories in words.CATEGORIES.values():
        favourites = {_below(rng, len(categories)), _below(rng, len(categories))}
        for place, category in enumerate(categories):
            liked[category] = 0.9 if place in favourites else 0.8 * rng.random() - 0.7
    return Person(
        user_id=f"demo-user-{number:03d}",
        home={source: 0.6 if source == main else 0.2 for source in words.SOURCES},
        liked=liked,
        cares={a: rng.random() for aspects in words.ASPECTS.values() for a, *_ in aspects},
        generous=1.4 * rng.random() - 0.7,
        talkative=0.3 + 0.6 * rng.random(),
    )


def _reviews(rng: Random, person: Person, things: Sequence[Thing], first: int) -> list[Record]:
    """The things somebody tried, mostly of the kinds they like, and what they wrote."""
    left = list(things)
    written: list[Record] = []
    for number in range(REVIEWS_A_USER):
        weights = [
            person.home[thing.source]
            * thing.known
            * (3.0 if person.liked[thing.category] > 0 else 0.3)
            for thing in left
        ]
        thing = left.pop(_weighted(rng, weights))
        stars = _stars(rng, person, thing)
        day = FIRST_DAY + int(rng.random() * 1800) * DAY
        written.append(
            {
                "review_id": f"demo-review-{first + number:05d}",
                "user_id": person.user_id,
                "item_id": thing.item_id,
                "stars": float(stars),
                "text": _text(rng, person, thing, stars),
                "timestamp": (day + int(rng.random() * DAY)) * 1000,
                "source": words.PLATFORMS[thing.source],
                "type": thing.source,
            }
        )
    return written


def _stars(rng: Random, person: Person, thing: Thing) -> int:
    noticed = sum(person.cares[aspect] * value for aspect, value in thing.strength.items())
    noise = rng.random() + rng.random() + rng.random() - 1.5
    value = 3.3 + person.generous + 0.7 * person.liked[thing.category] + 1.1 * noticed + noise
    return min(5, max(1, round(value)))


def _text(rng: Random, person: Person, thing: Thing, stars: int) -> str:
    sentences = [_one(rng, words.OPENINGS[stars])]
    if rng.random() < 0.5:
        sentences.append(f"{thing.name} is my kind of {thing.category.lower()}."
                         if person.liked[thing.category] > 0
                         else f"I do not often go for {thing.category.lower()}.")  # fmt: skip
    # What matters most to the reviewer comes first.
    aspects = sorted(words.ASPECTS[thing.source], key=lambda a: -person.cares[a[0]])
    for place, (aspect, good, middling, bad) in enumerate(aspects):
        if place == 0 or rng.random() < person.talkative:
            felt = 0.5 * thing.strength[aspect] + (stars - 3) / 2
            sentences.append(good if felt > 0.4 else bad if felt < -0.4 else middling)
    if rng.random() < person.talkative:
        sentences.append(_one(rng, words.CLOSINGS[stars]))
    return " ".join(sentences)


def _tasks(
    rng: Random, reviews: Sequence[Record], things: Sequence[Thing]
) -> dict[str, list[Record]]:
    """For each mode as many tasks of either kind, about different reviews, evenly over sources."""
    by_source = {
        source: [r for r in _shuffled(rng, reviews) if r["type"] == source]
        for source in words.SOURCES
    }
    tasks: dict[str, list[Record]] = {"test": [], "inference": []}
    number = 0
    for mode in tasks:
        for target in ("recommendation", "review_writing"):
            for place in range(TASKS_A_KIND):
                source = words.SOURCES[place % len(words.SOURCES)]
                pool = by_source[source]
                review = pool.pop()
                while target == "recommendation" and review["stars"] < 4:
                    pool.insert(0, review)  # recommended is what was liked
                    review = pool.pop()
                number += 1
                task: Record = {"task_id": number, "target": target, "user_id": review["user_id"]}
                tasks[mode].append(task | _question(rng, target, review, things))
    return tasks


def _question(rng: Random, target: str, review: Record, things: Sequence[Thing]) -> Record:
    if target == "review_writing":
        return {
            "candidate_category": None,
            "candidate_list": None,
            "item_id": review["item_id"],
            "ground_truth": {"stars": review["stars"], "review": review["text"]},
        }
    others = [t.item_id for t in things if t.source == review["type"]]
    others = [item for item in _shuffled(rng, others) if item != review["item_id"]]
    return {
        "candidate_category": review["type"],
        "candidate_list": _shuffled(rng, [review["item_id"], *others[: CANDIDATES - 1]]),
        "item_id": None,
        "ground_truth": review["item_id"],
    }


def _user(person: Person, reviews: Sequence[Record]) -> Record:
    own = [review for review in reviews if review["user_id"] == person.user_id]
    name = words.FIRST_NAMES[int(person.user_id[-3:]) % len(words.FIRST_NAMES)]
    return {"user_id": person.user_id, "name": name, "review_count": len(own), "synthetic": True}


def _item(thing: Thing, reviews: Sequence[Record]) -> Record:
    about = [review for review in reviews if review["item_id"] == thing.item_id]
    title = "name" if thing.source == "business" else "title"
    return {
        "item_id": thing.item_id,
        title: thing.name,
        "categories": [thing.category],
        "review_count": len(about),
        "source": words.PLATFORMS[thing.source],
        "type": thing.source,
        "synthetic": True,
    }


def _lines(records: Any) -> str:
    return "".join(f"{json.dumps(record)}\n" for record in records)


def _below(rng: Random, limit: int) -> int:
    return int(rng.random() * limit)


def _one(rng: Random, choices: Sequence[str]) -> str:
    return choices[_below(rng, len(choices))]


def _weighted(rng: Random, weights: Sequence[float]) -> int:
    left = rng.random() * sum(weights)
    for index, weight in enumerate(weights):
        left -= weight
        if left < 0:
            return index
    return len(weights) - 1


def _shuffled(rng: Random, values: Sequence[Any]) -> list[Any]:
    drawn = [(rng.random(), place) for place in range(len(values))]
    return [values[place] for _, place in sorted(drawn)]


if __name__ == "__main__":
    main()
