"""Makes the demo data: a synthetic city and its people, the same on every machine.

``python tests/demo_data/make_daily_mobility.py`` writes the benchmark's folder ``demo``. No row
describes a real person or place. It draws from ``Random.random()`` alone, whose sequence Python promises
to keep, and rounds what passes through a logarithm.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).parents[1]))  # where it is run as a command
from demo_data.demo_city import any_of, below, city_files, pick

from pytest_agentbench.benchmarks.daily_mobility.answers import gyration_radius
from pytest_agentbench.benchmarks.daily_mobility.data import DEMO_FOLDER
from pytest_agentbench.benchmarks.daily_mobility.intentions import (
    CODES,
    LABELS,
    SLOT_MINUTES,
    SLOTS,
)
from pytest_agentbench.benchmarks.daily_mobility.population import TRUTH_FILES
from pytest_agentbench.city.map import City, Place
from pytest_agentbench.city.map_files import load_city
from pytest_agentbench.city.profiles import PROFILES

SEED = 20250607
PEOPLE = 100  # with a profile
TRUE_PEOPLE = 400  # in the truth: others, of the same city
DAYS = 7
REFERENCE_PEOPLE = 200  # whose whole days are known: others again
LABEL = "Synthetic demo data of pytest-agentbench: no row describes a real person or place.\n"

SLEEP, AT_HOME, OTHER, WORK, SHOPPING, EATING_OUT, LEISURE = LABELS
OUTINGS = {
    SHOPPING: "shop",
    EATING_OUT: "restaurant",
    LEISURE: "park",
    OTHER: "hospital",
}
OCCUPATIONS = (
    ("office worker", 0.42, "office"),
    ("factory worker", 0.16, "factory"),
    ("student", 0.16, "school"),
    ("shop assistant", 0.12, "shop"),
    ("retired", 0.14, None),
)
CONSUMPTION = (("low", 0.2), ("medium", 0.55), ("high", 0.25))
EDUCATION = (("primary", 0.1), ("secondary", 0.45), ("university", 0.45))

Visit = tuple[int, Place, str]  # slot, where, what


@dataclass(frozen=True)
class Person:
    """Somebody's habits: drawn once, then every day is drawn from them."""

    profile: dict[str, Any]
    home: Place
    work: Place | None
    wakes: int
    sleeps: int
    starts: int
    hours: int
    outgoing: float  # chance of each outing in the free hours
    outings: int  # how many there are time for on a working day
    lunches: float  # chance of eating out at noon


def main() -> None:
    for name, content in demo_files().items():
        path = DEMO_FOLDER / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            path.write_text(content, encoding="utf-8")
        else:
            np.save(path, content)
        print(f"{path}: {path.stat().st_size:,} bytes, synthetic")  # noqa: T201 -- a command


def demo_files() -> dict[str, Any]:
    """The files of the demo folder: text, or arrays."""
    texts = city_files(str(SEED))
    city = made_city(texts)
    people = [
        draw_person(Random(f"{SEED} profile {number}"), city, number) for number in range(PEOPLE)
    ]
    profiles = [json.dumps(person.profile) for person in people]
    return {
        "README.txt": LABEL,
        PROFILES: "[\n" + ",\n".join(profiles) + "\n]\n",
        **texts,
        "reference_days.json": draw_reference(city),
        **{f"groundtruth/{name}": array for name, array in draw_truth(city).items()},
    }


def draw_truth(city: City) -> dict[str, Any]:
    """The four arrays of other people, each in an order of its own."""
    rows: list[tuple[float, float, list[int], list[float]]] = []
    for number in range(TRUE_PEOPLE):
        rng = Random(f"{SEED} truth {number}")
        person = draw_person(rng, city, number)
        days = [draw_day(rng, person, city, day) for day in range(DAYS)]
        sequences = [half_hours(day) for day in days]
        shares = [
            sum(sequence.count(code) for sequence in sequences) / (SLOTS * DAYS)
            for code in range(1, len(LABELS) + 1)
        ]
        visited = [{place.id: (place.x, place.y) for _, place, _ in day} for day in days]
        radius = sum(gyration_radius(list(places.values())) for places in visited) / DAYS
        count = sum(map(len, visited)) / DAYS
        rows.append((round(radius, 3), round(count, 2), sequences[number % 5], shares))
    arrays = {
        name: np.array([row[column] for row in _shuffled(rows, column)])
        for column, name in enumerate(TRUTH_FILES.values())
    }
    sequences_file = TRUTH_FILES["intention_sequences"]
    arrays[sequences_file] = arrays[sequences_file].astype(np.int8)
    return arrays


def draw_reference(city: City) -> str:
    """Whole days of further people, with what is known of them: what a realistic day looks like."""
    people = []
    for number in range(REFERENCE_PEOPLE):
        rng = Random(f"{SEED} reference {number}")
        person = draw_person(rng, city, number)
        day = draw_day(rng, person, city, number % 5)
        visits = [[slot * SLOT_MINUTES * 60, place.id, CODES[what]] for slot, place, what in day]
        profile = {key: value for key, value in person.profile.items() if key != "id"}
        people.append(json.dumps({"profile": profile, "visits": visits}))
    return f'{{"note": {json.dumps(LABEL.strip())}, "people": [\n' + ",\n".join(people) + "\n]}\n"


def made_city(texts: dict[str, str]) -> City:
    """The city of these files, as the benchmark reads it."""
    with TemporaryDirectory() as folder:
        for name, text in texts.items():
            (Path(folder) / name).write_text(text, encoding="utf-8")
        city, _ = load_city(Path(folder))
    assert city is not None
    return city


def draw_person(rng: Random, city: City, number: int) -> Person:
    occupation, where = pick(rng, [((name, kind), share) for name, share, kind in OCCUPATIONS])
    home = any_of(rng, city.by_category("residential"))
    work = None
    if where is not None:
        # Most people work some way off: the length of the way is gamma-like.
        way = 600.0 - 4200.0 * math.log((1 - rng.random()) * (1 - rng.random()))
        away = distance_from(home)
        near = sorted(city.by_category(where), key=lambda place: abs(away(place) - way))
        work = any_of(rng, near[:3])
    consumption = pick(rng, CONSUMPTION)
    age = {"student": 16, "retired": 62}.get(occupation, 22)
    wakes = 12 + below(rng, 4) + (0 if work else 1)
    profile = {
        "id": number,
        "age": age + below(rng, {"student": 8, "retired": 22}.get(occupation, 38)),
        "education": pick(rng, EDUCATION),
        "gender": pick(rng, (("female", 0.5), ("male", 0.5))),
        "consumption": consumption,
        "occupation": occupation,
        "home": home.id,
        # As in the published profiles, nobody is without: who does not work has the home there.
        "work": home.id if work is None else work.id,
    }
    return Person(
        profile=profile,
        home=home,
        work=work,
        wakes=wakes,
        sleeps=43 + below(rng, 4),
        starts=wakes + 2 + below(rng, 3),
        hours=15 + below(rng, 5),
        outgoing={"low": 0.0, "medium": 0.15, "high": 0.3}[consumption] + 0.6 * rng.random(),
        outings=1 + pick(rng, ((0, 0.55), (1, 0.3), (3, 0.15))),
        lunches={"low": 0.05, "medium": 0.2, "high": 0.45}[consumption],
    )


def draw_day(rng: Random, person: Person, city: City, day: int) -> list[Visit]:
    """A day as visits, in the order of time; the last two days of the week are the weekend."""
    wakes = person.wakes + below(rng, 2) + (2 if day >= 5 else 0)
    sleeps = person.sleeps + below(rng, 2)
    visits: list[Visit] = [(0, person.home, SLEEP), (wakes, person.home, AT_HOME)]
    free = wakes + 3 + below(rng, 6)
    if person.work is not None and day < 5 and rng.random() < 0.93:
        starts = max(wakes + 1, person.starts + below(rng, 3) - 1)
        ends = starts + person.hours + below(rng, 3)
        visits.append((starts, person.work, WORK))
        if rng.random() < person.lunches:
            lunch = starts + 6 + below(rng, 3)
            visits.append((lunch, near(rng, city, person.work, "restaurant"), EATING_OUT))
            visits.append((lunch + 2, person.work, WORK))
        visits.append((ends, person.home, AT_HOME))
        free = ends + 1
    for _ in range(person.outings + (day >= 5) + (person.work is None)):
        leaves = free + below(rng, 3)
        back = leaves + 1 + below(rng, 5)
        if rng.random() < person.outgoing and back < sleeps:
            what = pick(rng, ((SHOPPING, 0.35), (EATING_OUT, 0.2), (LEISURE, 0.3), (OTHER, 0.15)))
            visits.append((leaves, near(rng, city, person.home, OUTINGS[what]), what))
            visits.append((back, person.home, AT_HOME))
            free = back + 1
    visits.append((sleeps, person.home, SLEEP))
    return visits


def half_hours(day: list[Visit]) -> list[int]:
    """The codes of a day, slot by slot."""
    ends = [*(slot for slot, _, _ in day[1:]), SLOTS]
    codes: list[int] = []
    for (slot, _, what), end in zip(day, ends, strict=True):
        codes += [CODES[what]] * (end - slot)
    return codes


def near(rng: Random, city: City, place: Place, category: str) -> Place:
    """Mostly a place close by, now and then one across the city."""
    count = 6 if rng.random() < 0.8 else 30
    return any_of(rng, city.nearby((place.x, place.y), category=category, limit=count))


def distance_from(place: Place) -> Callable[[Place], float]:
    return lambda other: math.hypot(other.x - place.x, other.y - place.y)


def _shuffled(rows: list[Any], column: int) -> list[Any]:
    """Fisher-Yates, with the seed of the column."""
    rng = Random(f"{SEED} order {column}")
    shuffled = list(rows)
    for last in range(len(shuffled) - 1, 0, -1):
        other = below(rng, last + 1)
        shuffled[last], shuffled[other] = shuffled[other], shuffled[last]
    return shuffled


if __name__ == "__main__":
    main()
