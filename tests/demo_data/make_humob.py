"""Makes the demo data: a synthetic city, the same bytes on every machine.

``python tests/demo_data/make_humob.py`` writes the benchmark's ``demo.csv.gz``. No row describes a
real person. It draws from ``Random.random()`` alone, whose sequence Python promises to keep.
"""

from __future__ import annotations

import gzip
import io
import math
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from pytest_agentbench.benchmarks.humob.data import DEMO_FILE

FIRST_UID = 80000
USERS = 300
DAYS = 75
SEED = 20230913

Cell = tuple[int, int]
Row = tuple[int, int, int, int, int]


@dataclass(frozen=True)
class Person:
    """Where somebody lives and how: drawn once, then every day is drawn from it."""

    home: Cell
    work: Cell | None  # somebody without work stays around the home
    leisure: tuple[Cell, ...]  # the favourite first
    leaves: int  # the usual half hour of leaving for work
    hours: int  # half hours at work
    outgoing: float  # chance of an evening out
    errands: float  # chance of a walk to the next cell in any half hour at home
    talkative: float  # how often the phone reports, around 1
    roams: bool  # works somewhere else every day
    moves_on: int  # day from which the person works elsewhere; beyond the data for most
    new_work: Cell


def main() -> None:
    DEMO_FILE.write_bytes(compress(demo_csv()))
    print(f"{DEMO_FILE}: {DEMO_FILE.stat().st_size:,} bytes, synthetic")  # noqa: T201 -- a command


def demo_csv() -> str:
    """The demo data as CSV text with a header, sorted by uid, day and half hour."""
    out = io.StringIO()
    out.write("uid,d,t,x,y\n")
    for uid, d, t, x, y in demo_rows():
        out.write(f"{uid},{d},{t},{x},{y}\n")
    return out.getvalue()


def compress(text: str) -> bytes:
    """Gzip without the time of day in it, so that equal text gives equal bytes."""
    packed = gzip.compress(text.encode("ascii"), compresslevel=9, mtime=0)
    # Byte 9 names the operating system, differently from one Python to the next: 255 is unknown.
    return packed[:9] + b"\xff" + packed[10:]


def demo_rows() -> Iterator[Row]:
    for number in range(USERS):
        rng = Random(SEED * 1000 + number)
        person = draw_person(rng)
        for day in range(DAYS):
            for slot, (x, y) in observed_day(rng, person, day):
                yield FIRST_UID + number, day, slot, x, y


def is_weekend(day: int) -> bool:
    """Day 0 of the demo city is a Sunday."""
    return day % 7 in (0, 6)


def draw_person(rng: Random) -> Person:
    # Three town centres: work is near the large one, homes are spread around all three.
    centres = ((100, 100, 9.0), (60, 132, 6.0), (142, 70, 6.0))
    home = near(rng, *centres[pick(rng, (0.4, 0.3, 0.3))], spread=2.5)
    work = near(rng, *centres[pick(rng, (0.7, 0.15, 0.15))], spread=1.0)
    new_work = near(rng, *centres[0], spread=1.0)
    leisure = tuple(
        near(rng, *home, 3.0, spread=1.0)
        if rng.random() < 0.6
        else near(rng, *centres[0], spread=0.6)
        for _ in range(3)
    )
    return Person(
        home=home,
        work=work if rng.random() < 0.82 else None,
        leisure=leisure,
        leaves=14 + pick(rng, (0.1, 0.2, 0.3, 0.2, 0.1, 0.1)),
        hours=15 + pick(rng, (0.1, 0.2, 0.3, 0.2, 0.2)),
        outgoing=0.1 + 0.4 * rng.random(),
        errands=0.02 + 0.08 * rng.random(),
        talkative=0.75 + 0.5 * rng.random(),
        roams=rng.random() < 0.25,
        moves_on=45 + int(20 * rng.random()) if rng.random() < 0.08 else DAYS,
        new_work=new_work,
    )


def observed_day(rng: Random, person: Person, day: int) -> Iterator[tuple[int, Cell]]:
    """The half hours of a day in which the phone reported, and where it was."""
    if rng.random() < 0.03:  # the phone was off
        return
    places = whole_day(rng, person, day)
    reporting = False
    for slot, place in enumerate(places):
        # Reports come in runs, and hardly ever at night.
        wanted = (0.12 if slot < 12 else 0.56 if slot < 46 else 0.25) * person.talkative
        stay = min(0.95, wanted + 0.28)
        start = min(0.95, wanted * (1 - stay) / (1 - wanted))
        reporting = rng.random() < (stay if reporting else start)
        if reporting:
            yield slot, beside(rng, place) if rng.random() < 0.15 else place  # poor reception


def whole_day(rng: Random, person: Person, day: int) -> list[Cell]:
    """Where the person is in each of the 48 half hours."""
    places = [person.home] * 48
    work = person.new_work if day >= person.moves_on else person.work
    free_from = 20
    if work is not None and not is_weekend(day) and rng.random() < 0.88:
        leaves = person.leaves + pick(rng, (0.2, 0.4, 0.25, 0.15)) - 1
        back = leaves + person.hours + pick(rng, (0.25, 0.5, 0.15, 0.1)) - 1
        if person.roams:
            work = near(rng, *work, 6.0, spread=1.0)
        places[leaves : back + 1] = [work] * (back + 1 - leaves)
        places[leaves] = between(rng, person.home, work)
        places[back] = between(rng, person.home, work)
        if rng.random() < 0.25:  # lunch round the corner
            places[leaves + 8] = beside(rng, work)
        free_from = back + 1
    outing = person.outgoing * (1.6 if is_weekend(day) else 0.7)
    if rng.random() < outing and free_from < 42:
        where = person.leisure[pick(rng, (0.6, 0.25, 0.15))]
        if rng.random() < 0.3:  # somewhere new
            where = near(rng, *person.home, 12.0, spread=1.0)
        starts = free_from + int((42 - free_from) * rng.random() * 0.7)
        ends = min(47, starts + 3 + int(5 * rng.random()))
        places[starts:ends] = [where] * (ends - starts)
    for slot in range(16, 46):
        if places[slot] == person.home and rng.random() < person.errands:
            places[slot] = beside(rng, person.home)
    return places


def near(rng: Random, x: float, y: float, radius: float, spread: float) -> Cell:
    """A cell at a normally distributed offset (Box-Muller, from plain uniform numbers)."""
    length = radius * spread * math.sqrt(-2.0 * math.log(1.0 - rng.random()))
    angle = 2.0 * math.pi * rng.random()
    return clip(x + length * math.cos(angle)), clip(y + length * math.sin(angle))


def between(rng: Random, start: Cell, end: Cell) -> Cell:
    """A cell on the way, seen when the phone reports during a trip."""
    way = rng.random()
    return clip(start[0] + way * (end[0] - start[0])), clip(start[1] + way * (end[1] - start[1]))


def beside(rng: Random, cell: Cell) -> Cell:
    return clip(cell[0] + pick(rng, (0.3, 0.4, 0.3)) - 1), clip(
        cell[1] + pick(rng, (0.3, 0.4, 0.3)) - 1
    )


def clip(value: float) -> int:
    return min(200, max(1, round(value)))


def pick(rng: Random, chances: tuple[float, ...]) -> int:
    """A random index with these probabilities; the last takes what rounding leaves."""
    left = rng.random()
    for index, chance in enumerate(chances[:-1]):
        left -= chance
        if left < 0:
            return index
    return len(chances) - 1


if __name__ == "__main__":
    main()
