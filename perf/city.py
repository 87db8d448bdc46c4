"""The city: loading a map, asking it, living in it.

A made-up map in the published format: a grid of streets with sidewalks and turns, areas along them, points of
interest in them. It is loaded for the first time and from the cache; two processes that have it loaded say
what memory each has for itself. Queries are at random positions. The last rows are the days of agents that cost
nothing, without loading: 101 ticks of 15 minutes a person, with the view that each person's agent gets. CPU s
is the time on a core, which waits for nobody.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from measure import Cell, beyond, show

from pytest_agentbench.city.life import Life
from pytest_agentbench.city.map import City
from pytest_agentbench.city.map_files import load_city
from pytest_agentbench.city.view import CityView

HEAD = ("map", "measured", "times", "each µs", "all s", "CPU s", "MB")
SPACING = 400.0  # metres between two crossings
SIZES = {False: (25, 50_000, 200_000), True: (4, 200, 500)}  # crossings a side, areas, POIs
KINDS = ("amenity|restaurant", "amenity|cafe", "amenity|bank", "amenity|school", "shop|supermarket",
         "shop|clothes", "shop|bakery", "leisure|park", "leisure|sports_centre", "office|company",
         *(f"shop|kind {number}" for number in range(50)))  # fmt: skip
STEPS, STEP = 101, 900
WORKER = """
import sys
from pathlib import Path
sys.path[:0] = [sys.argv[2]]
from measure import ROOT
from city import memory
from pytest_agentbench.city.map_files import load_city
before = memory()
city, _ = load_city(Path(sys.argv[1]))
touched = sum(float(array.sum()) for array in city.data.arrays.values())
print("loaded", flush=True)
sys.stdin.readline()
after = memory()
print(*(after[name] - before[name] for name in ("Rss", "Pss")), flush=True)
"""


def rows(quick: bool) -> Iterator[list[Cell]]:
    side, areas, pois = SIZES[quick]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["AGENTBENCH_CACHE"] = str(folder / "cache")
        lanes = write_map(folder / "made-up.pb", side, areas, pois)
        what = f"{areas:,} areas, {pois:,} POIs, {lanes:,} lanes"
        yield from loading(folder, what)
        city, _ = load_city(folder)
        assert city is not None
        yield from living(city, what, 5 if quick else 100)
        asked = folder / "asked"
        asked.mkdir()
        fewer = pois // 2
        lanes = write_map(asked / "made-up.pb", side, areas, fewer)
        city, _ = load_city(asked)
        assert city is not None
        what = f"{areas:,} areas, {fewer:,} POIs, {lanes:,} lanes"
        yield from asking(city, what, side * SPACING, 20 if quick else 2000)


def loading(folder: Path, what: str) -> Iterator[list[Cell]]:
    for measured in ("loading, first time", "loading from the cache"):
        taken: list[Any] = []
        mb = beyond(lambda: taken.extend(timed(lambda: load_city(folder))))  # noqa: B023 -- called here
        yield [what, measured, 1, None, *taken, mb]
    command = [sys.executable, "-c", WORKER, str(folder), str(Path(__file__).parent)]
    workers = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    for worker in workers:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "loaded\n"
    told = [worker.communicate("\n")[0].split() for worker in workers[:1]]
    workers[1].communicate("\n")
    yield [what, "the map in a process", 1, None, None, None, float(told[0][0])]
    yield [what, "its share, two processes", 1, None, None, None, float(told[0][1])]


def memory() -> dict[str, float]:
    """Rss and Pss of this process in MB (Linux): Pss has each page over the processes that share it."""
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()[1:]
    return {line.split(":")[0]: int(line.split()[1]) / 1024 for line in lines}


def living(city: City, what: str, people: int) -> Iterator[list[Cell]]:
    ids = city.aoi_ids
    for name, act in (
        ("days, idle agent", idle),
        ("days, commuting agent", commute),
        ("days, agent that goes anywhere every tick", wander),
    ):
        rng = random.Random(7)
        anchors = [(rng.choice(ids), rng.choice(ids)) for _ in range(people)]
        trips: list[Any] = []

        def days() -> None:
            for number, (home, work) in enumerate(anchors):  # noqa: B023 -- called here
                trips.extend(live(city, number, home, work, act, rng))  # noqa: B023

        took, cpu = timed(days)
        ticks = people * STEPS
        told = f"{name} ({len(trips):,} trips)"
        yield [what, told, ticks, 1e6 * took / ticks, took, cpu, None]


def live(city: City, number: int, home: Any, work: Any, act: Any, rng: random.Random) -> list[Any]:
    """The trips of one person's day."""
    profile = {"id": number, "home": home, "work": work}
    life = Life(CityView(city, home, work), profile, {"step": STEP, "steps": STEPS})
    for _ in range(STEPS):
        act(life, rng, city.aoi_ids)
        life.end_tick()
    return list(life.told()["trips"])


def timed(run: Callable[[], Any]) -> tuple[float, float]:
    """Seconds on the clock and on a core."""
    start, cpu = time.perf_counter(), time.process_time()
    run()
    return time.perf_counter() - start, time.process_time() - cpu


def idle(life: Life, *_: Any) -> None:
    life.intend("home activity")


def commute(life: Life, *_: Any) -> None:
    hour = life.now.seconds / 3600
    life.intend("work" if 9 <= hour < 18 else "home activity")
    life.go_to(life.work if 9 <= hour < 18 else life.home)


def wander(life: Life, rng: random.Random, ids: list[Any]) -> None:
    life.go_to(rng.choice(ids))


def asking(city: City, what: str, extent: float, times: int) -> Iterator[list[Cell]]:
    rng = random.Random(3)
    ids = city.aoi_ids
    view = CityView(city, ids[0], ids[1])
    spots = [(rng.uniform(0, extent), rng.uniform(0, extent)) for _ in range(times)]
    ways = [(rng.choice(ids), rng.choice(ids)) for _ in range(times)]
    questions: dict[str, Callable[[int], Any]] = {
        "POIs within 100 m": lambda n: view.pois_near(*spots[n], radius=100),
        "the nearest 10 POIs": lambda n: view.pois_near(*spots[n], limit=10),
        "the nearest 10 restaurants and cafes": lambda n: view.pois_near(
            *spots[n], limit=10, categories=["restaurant", "cafe"]
        ),
        "areas within 100 m": lambda n: view.aois_near(*spots[n], 100),
        "one area": lambda n: view.aoi(ways[n][0]),
        "a way by car": lambda n: view.route(*ways[n], "driving"),
        "a way on foot": lambda n: view.route(*ways[n], "walking"),
        "a way by car from the same place": lambda n: view.route(ways[0][0], ways[n][1]),
    }
    for name, ask in questions.items():
        ask(0)  # what is made once
        took, cpu = timed(lambda: [ask(number) for number in range(times)])  # noqa: B023 -- called here
        yield [what, name, times, 1e6 * took / times, took, cpu, None]


def write_map(path: Path, side: int, areas: int, pois: int) -> int:
    """Writes a map and returns how many lanes it has."""
    from pycityproto.city.map.v2 import map_pb2 as pb

    rng = random.Random(1)
    city = pb.Map()
    city.header.projection = "+proj=tmerc +lat_0=39.9 +lon_0=116.4"
    streets = _streets(city, pb, side)
    extent = (side - 1) * SPACING
    for number in range(areas):
        x, y, size = rng.uniform(0, extent), rng.uniform(0, extent), rng.uniform(5, 30)
        area = city.aois.add(id=500_000_000 + number, area=4 * size * size)
        area.urban_land_use = rng.choice(("R", "B1", "B2", "M", "G1", "A3"))
        for dx, dy in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
            area.positions.add(x=x + dx * size, y=y + dy * size)
        driving, walking = streets[_block(x, side), _block(y, side)]
        at = rng.uniform(20, SPACING - 40)
        area.driving_positions.add(lane_id=driving, s=at)
        area.walking_positions.add(lane_id=walking, s=at)
    for number in range(pois):
        inside = city.aois[rng.randrange(areas)]
        corner = inside.positions[0]
        poi = city.pois.add(id=700_000_000 + number, name=f"POI {number}", aoi_id=inside.id)
        poi.category = rng.choice(KINDS)
        poi.position.x, poi.position.y = corner.x + rng.random() * 10, corner.y + rng.random() * 10
        inside.poi_ids.append(poi.id)
    path.write_bytes(city.SerializeToString())
    return len(city.lanes)


def _block(value: float, side: int) -> int:
    return min(side - 2, int(value / SPACING))


def _streets(city: Any, pb: Any, side: int) -> dict[tuple[int, int], tuple[int, int]]:
    """Two driving lanes and a sidewalk each way between neighbours, and every turn.

    Returns a driving and a walking lane at each block.
    """
    lanes: dict[tuple[Any, Any], list[int]] = {}
    walks: dict[tuple[Any, Any], int] = {}
    of_block: dict[tuple[int, int], tuple[int, int]] = {}
    by_id: dict[int, Any] = {}

    def lane(kind: int, line: list[tuple[float, float]], parent: int) -> Any:
        new = city.lanes.add(id=len(city.lanes), type=kind, parent_id=parent, max_speed=16.7)
        (ax, ay), (bx, by) = line
        new.length = ((ax - bx) ** 2 + (ay - by) ** 2) ** 0.5
        for x, y in line:
            new.center_line.nodes.add(x=x, y=y)
        by_id[new.id] = new
        return new

    for i in range(side):
        for j in range(side):
            for other in ((i + 1, j), (i, j + 1), (i - 1, j), (i, j - 1)):
                if not (0 <= other[0] < side and 0 <= other[1] < side):
                    continue
                dx, dy = other[0] - i, other[1] - j
                a = (i * SPACING + 10 * dx + 3 * dy, j * SPACING + 10 * dy - 3 * dx)
                b = (other[0] * SPACING - 10 * dx + 3 * dy, other[1] * SPACING - 10 * dy - 3 * dx)
                road = city.roads.add(id=200_000_000 + len(city.roads))
                cars = [lane(1, [a, b], road.id).id for _ in range(2)]
                walk = lane(2, [a, b], road.id).id
                road.lane_ids.extend([*cars, walk])
                lanes[(i, j), other], walks[(i, j), other] = cars, walk
                if dx + dy == 1:
                    of_block.setdefault((i, j), (cars[-1], walk))
    ends: dict[Any, list[tuple[int, int]]] = {}  # where sidewalks meet: (lane, head or tail)
    for (a, b), walk in walks.items():
        ends.setdefault(a, []).append((walk, pb.LANE_CONNECTION_TYPE_HEAD))
        ends.setdefault(b, []).append((walk, pb.LANE_CONNECTION_TYPE_TAIL))
    for number, (crossing, corners) in enumerate(ends.items()):
        junction = 300_000_000 + number
        for (a, b), cars in list(lanes.items()):
            for (c, d), further in list(lanes.items()) if b == crossing else ():
                if c == crossing and d != a:
                    _connect(lane, by_id, junction, cars[0], further[0])
        for (one, end), (next_one, next_end) in zip(
            corners, corners[1:] + corners[:1], strict=True
        ):
            _crosswalk(lane, by_id, junction, (one, end), (next_one, next_end))
    return of_block


def _connect(lane: Any, by_id: dict[int, Any], junction: int, a: int, b: int) -> None:
    first, second = by_id[a], by_id[b]
    begin, end = first.center_line.nodes[-1], second.center_line.nodes[0]
    turn = lane(1, [(begin.x, begin.y), (end.x, end.y)], junction)
    turn.predecessors.add(id=a, type=2)
    turn.successors.add(id=b, type=1)
    first.successors.add(id=turn.id, type=1)
    second.predecessors.add(id=turn.id, type=2)


def _crosswalk(
    lane: Any, by_id: dict[int, Any], junction: int, a: tuple[int, int], b: tuple[int, int]
) -> None:
    points = [by_id[walk].center_line.nodes[0 if end == 1 else -1] for walk, end in (a, b)]
    crossing = lane(2, [(point.x, point.y) for point in points], junction)
    crossing.predecessors.add(id=a[0], type=a[1])
    crossing.successors.add(id=b[0], type=b[1])


if __name__ == "__main__":
    show(__doc__, HEAD, rows)
