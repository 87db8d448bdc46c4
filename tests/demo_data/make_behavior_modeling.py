"""Makes the demo data: synthetic people with tastes, the same records on every machine.

``python tests/demo_data/make_behavior_modeling.py`` writes the benchmark's folder ``demo``, in the
published layout, gzipped. No record describes a real person, product or business. Users, items and
reviews have the keys and kinds of values of their sources (Goodreads, Amazon, Yelp). It draws from
``Random.random()`` alone, whose sequence Python promises to keep.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from random import Random
from typing import Any

from pytest_agentbench.benchmarks.behavior_modeling.data import DEMO_FOLDER

# The words of the demo data: names, categories and sentences. All of it is made up.
SOURCES = ("book", "product", "business")
PLATFORMS = {"book": "goodreads", "product": "amazon", "business": "yelp"}

CATEGORIES = {
    "book": ("Mystery", "Science Fiction", "Romance", "History", "Cooking", "Travel"),
    "product": ("Kitchen", "Electronics", "Garden", "Toys", "Sports", "Music"),
    "business": ("Coffee", "Italian", "Bakery", "Barber", "Bicycle Repair", "Ramen"),
}

# First and second halves of names, by source and category.
NAMES = {
    "Mystery": ("The Locked", "Nine Silent", "A Borrowed", "The Last"),
    "Science Fiction": ("Orbit of", "Beyond the", "The Glass", "Seven Tides of"),
    "Romance": ("Letters to", "A Summer in", "Waiting for", "The Baker and"),
    "History": ("A Short History of", "The Roads of", "Merchants of", "The Fall of"),
    "Cooking": ("Slow Food of", "Bread and", "The Spices of", "One Pot in"),
    "Travel": ("On Foot to", "Trains across", "A Year in", "Maps of"),
    "Kitchen": ("Steel", "Copper", "Everyday", "Little"),
    "Electronics": ("Volt", "Nimbus", "Quartz", "Pico"),
    "Garden": ("Green", "Robin", "Meadow", "Oak"),
    "Toys": ("Happy", "Puzzle", "Wonder", "Tiny"),
    "Sports": ("Trail", "Swift", "Summit", "Base"),
    "Music": ("Cedar", "Blue Note", "Echo", "Studio"),
    "Coffee": ("Corner", "Black Cat", "Harbour", "Morning"),
    "Italian": ("Trattoria", "Osteria", "Da Nino", "La Piazza"),
    "Bakery": ("Golden Crust", "Flour Street", "Old Mill", "Sunrise"),
    "Barber": ("Sharp", "Uncle Theo's", "Main Street", "Second"),
    "Bicycle Repair": ("Spoke", "Chain Gang", "Two Wheels", "Freewheel"),
    "Ramen": ("Lucky Bowl", "Shio", "Red Lantern", "Noodle"),
}
SECOND = {
    "book": ("Harbour", "Winter", "Sparrows", "the North", "Marble", "Lisbon", "Ashes", "Clara"),
    "product": ("Kettle", "Set", "Lamp", "Kit", "Pro", "Box", "Stand", "Mini"),
    "business": ("House", "Corner", "Works", "Room", "Garden", "Station", "Annex", "Yard"),
}

# What people judge, by source: (aspect, praised, so-so, complained about).
ASPECTS = {
    "book": (
        ("plot", "The plot kept me up until two in the morning.",
         "The plot takes its time.", "The plot falls apart halfway through."),
        ("characters", "The characters felt like people I know.",
         "Some characters are better drawn than others.", "I could not care about any of the characters."),
        ("writing", "The writing is beautiful without showing off.",
         "The writing does its job.", "The writing is clumsy and full of cliches."),
    ),
    "product": (
        ("quality", "It is solid and well made.",
         "The material is what you would expect.", "It feels cheap and broke within weeks."),
        ("price", "Great value for the money.",
         "The price is about right.", "Far too expensive for what it is."),
        ("use", "It was easy to set up and works every day.",
         "It took a while to get used to it.", "The instructions are useless and it hardly works."),
    ),
    "business": (
        ("service", "The staff were friendly and remembered us.",
         "Service was a little slow.", "The staff were rude and ignored us."),
        ("place", "A cosy place with a lovely atmosphere.",
         "The room is plain but clean.", "It was loud and dirty."),
        ("result", "What we got was excellent, we will be back.",
         "What we got was decent.", "What we got was awful, a waste of an evening."),
    ),
}  # fmt: skip

OPENINGS = {
    1: ("Terrible.", "I want my money back.", "What a disappointment."),
    2: ("Not good.", "I expected more.", "Sadly a letdown."),
    3: ("It is okay.", "Neither good nor bad.", "A mixed bag."),
    4: ("Really good.", "I liked this a lot.", "A pleasant surprise."),
    5: ("Absolutely wonderful!", "I love it!", "One of the best!"),
}
CLOSINGS = {
    1: ("Stay away.", "Never again."),
    2: ("I would not choose it again.", "There are better ones."),
    3: ("Fine if you have no choice.", "Maybe it suits you more than me."),
    4: ("I would recommend it.", "Glad I tried it."),
    5: ("Highly recommended!", "I tell everybody about it."),
}
FIRST_NAMES = (
    "Ada", "Bela", "Chidi", "Dora", "Emre", "Fay", "Goran", "Hana", "Ines", "Jonas", "Kaia", "Luis",
    "Mina", "Noor", "Otto", "Pia", "Quinn", "Rosa", "Sven", "Tara", "Uri", "Vera", "Wim", "Yuki",
)  # fmt: skip

# The wider category of each, as Amazon and Yelp have it.
PARENTS = {
    "Kitchen": "Home & Kitchen", "Electronics": "Electronics & Photo", "Garden": "Patio & Lawn",
    "Toys": "Toys & Games", "Sports": "Sports & Outdoors", "Music": "Musical Instruments",
    "Coffee": "Food", "Italian": "Restaurants", "Bakery": "Food", "Barber": "Beauty & Spas",
    "Bicycle Repair": "Local Services", "Ramen": "Restaurants",
}  # fmt: skip
MAKERS = ("Larkfield", "Norrun", "Tessel", "Ovando")
STREETS = ("Mill Street", "Quay Road", "Linden Lane", "Station Square")
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
GOODREADS_DATE = "%a %b %d %H:%M:%S %z %Y"
YELP_DATE = "%Y-%m-%d %H:%M:%S"

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
        for source in SOURCES
        for category in CATEGORIES[source]
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
    known = _not_asked(reviews, [*tasks["test"], *tasks["inference"]])
    look = Random(SEED + 1)  # how records look; who likes and writes what is drawn above
    return {
        "user.json": _lines(_user(person, known) for person in people),
        "item.json": _lines(ITEMS[thing.source](look, thing, known) for thing in things),
        "review.json": _lines(reviews),
        "test_tasks.json": json.dumps(tasks["test"], indent=1),
        "inference_tasks.json": json.dumps(asked, indent=1),
        "inference_tasks_groundtruth.json": json.dumps(truths, indent=1),
    }


def _thing(rng: Random, source: str, category: str, number: int) -> Thing:
    first = NAMES[category][number % len(NAMES[category])]
    second = SECOND[source][_below(rng, len(SECOND[source]))]
    return Thing(
        item_id=f"{source[:2]}-{category.lower().replace(' ', '')}-{number:02d}",
        source=source,
        category=category,
        name=f"{first} {second}",
        known=0.2 + rng.random() ** 3,
        strength={aspect: 2 * rng.random() - 1 for aspect, *_ in ASPECTS[source]},
    )


def _person(rng: Random, number: int) -> Person:
    main = SOURCES[number % len(SOURCES)]
    liked = {}
    for categories in CATEGORIES.values():
        favourites = {_below(rng, len(categories)), _below(rng, len(categories))}
        for place, category in enumerate(categories):
            liked[category] = 0.9 if place in favourites else 0.8 * rng.random() - 0.7
    return Person(
        user_id=f"demo-user-{number:03d}",
        home={source: 0.6 if source == main else 0.2 for source in SOURCES},
        liked=liked,
        cares={a: rng.random() for aspects in ASPECTS.values() for a, *_ in aspects},
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
        record = {
            "review_id": f"demo-review-{first + number:05d}",
            "user_id": person.user_id,
            "item_id": thing.item_id,
            "stars": float(stars),
            "text": _text(rng, person, thing, stars),
        }
        when = day + int(rng.random() * DAY)
        record |= _of_source(thing.source, stars, when, first + number)
        written.append(record | {"source": PLATFORMS[thing.source], "type": thing.source})
    return written


def _of_source(source: str, stars: int, when: int, number: int) -> Record:
    """What only reviews of one source have; among it the date, which each writes in its own way."""
    votes = (number * 7) % 5
    if source == "product":
        title = OPENINGS[stars][number % 3].rstrip(".!")
        return {
            "title": title, "timestamp": when * 1000, "helpful_vote": votes,
            "verified_purchase": number % 4 != 0, "images": [],
        }  # fmt: skip
    moment = datetime.fromtimestamp(when, timezone.utc)
    if source == "book":
        date = moment.strftime(GOODREADS_DATE)
        return {
            "date_added": date, "date_updated": date, "read_at": "", "started_at": "",
            "n_votes": votes, "n_comments": 0,
        }  # fmt: skip
    return {"date": moment.strftime(YELP_DATE), "useful": votes, "funny": 0, "cool": votes // 2}


def _stars(rng: Random, person: Person, thing: Thing) -> int:
    noticed = sum(person.cares[aspect] * value for aspect, value in thing.strength.items())
    noise = rng.random() + rng.random() + rng.random() - 1.5
    value = 3.3 + person.generous + 0.7 * person.liked[thing.category] + 1.1 * noticed + noise
    return min(5, max(1, round(value)))


def _text(rng: Random, person: Person, thing: Thing, stars: int) -> str:
    sentences = [_one(rng, OPENINGS[stars])]
    if rng.random() < 0.5:
        sentences.append(f"{thing.name} is my kind of {thing.category.lower()}."
                         if person.liked[thing.category] > 0
                         else f"I do not often go for {thing.category.lower()}.")  # fmt: skip
    # What matters most to the reviewer comes first.
    aspects = sorted(ASPECTS[thing.source], key=lambda a: -person.cares[a[0]])
    for place, (aspect, good, middling, bad) in enumerate(aspects):
        if place == 0 or rng.random() < person.talkative:
            felt = 0.5 * thing.strength[aspect] + (stars - 3) / 2
            sentences.append(good if felt > 0.4 else bad if felt < -0.4 else middling)
    if rng.random() < person.talkative:
        sentences.append(_one(rng, CLOSINGS[stars]))
    return " ".join(sentences)


def _tasks(
    rng: Random, reviews: Sequence[Record], things: Sequence[Thing]
) -> dict[str, list[Record]]:
    """For each mode as many tasks of either kind, about different reviews, evenly over sources."""
    by_source = {
        source: [r for r in _shuffled(rng, reviews) if r["type"] == source] for source in SOURCES
    }
    tasks: dict[str, list[Record]] = {"test": [], "inference": []}
    number = 0
    for mode in tasks:
        for target in ("recommendation", "review_writing"):
            for place in range(TASKS_A_KIND):
                source = SOURCES[place % len(SOURCES)]
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
        "ground_truth": {"item_id": review["item_id"]},
    }


def _not_asked(reviews: Sequence[Record], tasks: Sequence[Record]) -> list[Record]:
    """The reviews that no task asks about: statistics of the others would tell something of them."""
    asked = {(t["user_id"], t["item_id"] or t["ground_truth"]["item_id"]) for t in tasks}
    return [review for review in reviews if (review["user_id"], review["item_id"]) not in asked]


def _user(person: Person, reviews: Sequence[Record]) -> Record:
    """Yelp tells much of its users, Amazon and Goodreads tell nothing."""
    main = max(person.home, key=lambda source: person.home[source])
    record: Record = {"user_id": person.user_id}
    if main == "business":
        own = [review for review in reviews if review["user_id"] == person.user_id]
        record |= {
            "name": FIRST_NAMES[int(person.user_id[-3:]) % len(FIRST_NAMES)],
            "review_count": len(own),
            "yelping_since": "2018-03-01 09:30:00",
            "average_stars": _mean(own),
            "useful": len(own) // 2,
            "funny": 0,
            "cool": len(own) // 4,
            "elite": "",
            "friends": "None",
            "fans": 0,
        }
    return record | {"source": PLATFORMS[main], "synthetic": True}


def _book(look: Random, thing: Thing, reviews: Sequence[Record]) -> Record:
    """As in Goodreads: numbers and truth values are texts, and there are shelves, no categories."""
    about = _about(thing, reviews)
    shelf = thing.category.lower().replace(" ", "-")
    readers = 20 + _below(look, 80)
    return {
        "item_id": thing.item_id,
        "title": thing.name,
        "title_without_series": thing.name,
        "description": f"A book for everybody who likes {thing.category.lower()}.",
        "average_rating": f"{_mean(about):.2f}",
        "ratings_count": str(len(about)),
        "text_reviews_count": str(len(about)),
        "num_pages": str(120 + _below(look, 400)),
        "publication_year": str(1990 + _below(look, 29)),
        "publication_month": str(1 + _below(look, 12)),
        "publisher": _one(look, MAKERS),
        "format": _one(look, ("Paperback", "Hardcover")),
        "language_code": "eng",
        "country_code": "US",
        "is_ebook": "false",
        "isbn": "",
        "authors": [{"author_id": str(1000 + _below(look, 9000)), "role": ""}],
        "popular_shelves": [
            {"count": str(readers), "name": "to-read"},
            {"count": str(readers // 3), "name": shelf},
        ],
        "series": [],
        "similar_books": [],
        "link": "",
        "url": "",
        "image_url": "",
        "source": "goodreads",
        "type": "book",
        "synthetic": True,
    }


def _product(look: Random, thing: Thing, reviews: Sequence[Record]) -> Record:
    """As in Amazon's reviews of 2023: categories from wide to narrow, and details of any kind."""
    about = _about(thing, reviews)
    maker = _one(look, MAKERS)
    return {
        "item_id": thing.item_id,
        "title": thing.name,
        "main_category": PARENTS[thing.category],
        "average_rating": round(_mean(about), 1),
        "rating_number": len(about),
        "features": [f"Made for {thing.category.lower()}"],
        "description": [],
        "price": round(5 + 95 * look.random(), 2) if look.random() < 0.8 else None,
        "images": [],
        "videos": [],
        "store": maker,
        "categories": [PARENTS[thing.category], thing.category],
        "details": {
            "Brand": maker,
            "Item Weight": f"{1 + _below(look, 40) / 10:.1f} pounds",
            "Date First Available": f"March {1 + _below(look, 28)}, 2018",
        },
        "bought_together": None,
        "source": "amazon",
        "type": "product",
        "synthetic": True,
    }


def _business(look: Random, thing: Thing, reviews: Sequence[Record]) -> Record:
    """As in Yelp: categories in one text, attributes as texts of Python values."""
    about = _about(thing, reviews)
    opens = 7 + _below(look, 5)
    return {
        "item_id": thing.item_id,
        "name": thing.name,
        "address": f"{1 + _below(look, 90)} {_one(look, STREETS)}",
        "city": "Harbourton",
        "state": "HA",
        "postal_code": f"{10000 + _below(look, 90)}",
        "latitude": round(40 + look.random(), 6),
        "longitude": round(-75 + look.random(), 6),
        "stars": round(2 * _mean(about)) / 2,
        "review_count": len(about),
        "is_open": 1,
        "attributes": {
            "BusinessAcceptsCreditCards": str(look.random() < 0.9),
            "WiFi": _one(look, ("u'free'", "u'no'")),
            "RestaurantsPriceRange2": str(1 + _below(look, 3)),
        },
        "categories": f"{thing.category}, {PARENTS[thing.category]}",
        "hours": dict.fromkeys(DAYS, f"{opens}:0-{opens + 9}:30"),
        "source": "yelp",
        "type": "business",
        "synthetic": True,
    }


ITEMS = {"book": _book, "product": _product, "business": _business}


def _about(thing: Thing, reviews: Sequence[Record]) -> list[Record]:
    return [review for review in reviews if review["item_id"] == thing.item_id]


def _mean(reviews: Sequence[Record]) -> float:
    stars = [review["stars"] for review in reviews]
    return round(sum(stars) / len(stars), 2) if stars else 0.0


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
