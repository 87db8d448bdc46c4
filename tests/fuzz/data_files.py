"""Fuzzes the readers of a run's log, of tasks, profiles, places, truths and submissions; see fuzzing.py.

The first byte says as what the rest is read. A file is refused with a message that names it, or read.
"""

from __future__ import annotations

import io
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from fuzz.fuzzing import fuzz

_FOLDER = tempfile.TemporaryDirectory(prefix="agentbench-fuzz-")
RECORD = {
    "benchmark": "b",
    "sample": "s[1]",
    "status": "ok",
    "answer": [1, None],
    "error": "\ud800",
}
TASKS = [
    {"task_id": 1, "target": "recommendation", "user_id": "u", "candidate_category": "book",
     "candidate_list": ["a", 2], "ground_truth": "a"},
    {"task_id": 2, "target": "review_writing", "user_id": "u", "item_id": "a",
     "ground_truth": {"stars": 4, "review": "x"}},
]  # fmt: skip
PROFILES = [{"id": 1, "home": {"aoi_position": {"aoi_id": 5}}, "work": None}, {"id": "x", "age": 3}]
CHANGES = {"relative_changes": {"during_vs_before": -40.0, "after_vs_before": 1},
           "hourly_trips": {p: [1.0] * 24 for p in ("before", "during", "after")}}  # fmt: skip
POPULATION = {"gyration_radius": [1.5], "daily_location_numbers": [2],
              "intention_sequences": [[1] * 48], "intention_proportions": [[1, 0, 0, 0, 0, 0, 0]]}  # fmt: skip
OUTPUTS = [{"task": {"user_id": "u", "candidate_list": [2, "a"]}, "output": ["a"]},
           {"id": 2, "context": {"target": "review_writing"}, "result": {"stars": 4, "review": "x"}}]  # fmt: skip
PLACES = [{"id": 1, "x": 0.5, "y": 2.0, "category": "shop|park"}]
MANIFEST = {"settings": {"benchmark": "humob", "epochs": 1}, "agent": {"name": "a", "digest": "d"}}


def seeds() -> list[bytes]:
    line = json.dumps(RECORD)
    return [
        b"r" + f"{line}\n{line}\n".encode(),
        b"r" + f"{line}\n{line[:30]}".encode(),
        *(b"t" + text.encode() for text in (json.dumps(TASKS), "[1e400, NaN, -0, 1" + "0" * 5000, "[" * 3000)),
        b"t\xef\xbb\xbf[]",
        b"p" + json.dumps(PROFILES).encode(),
        b"h" + json.dumps(CHANGES).encode(),
        b"s" + json.dumps(POPULATION).encode(),
        b"a" + json.dumps(OUTPUTS).encode(),
        b"a" + b'{"task_id": 1, "item_list": ["a"]}\n{"sample": "review_writing[2]", "answer": {}}\n',
        b"a" + b'[["a"], {"stars": 1, "review": ""}]',
        b"a\x1f\x8b",
        b"m" + json.dumps(MANIFEST).encode(),
        b"j" + json.dumps(PLACES).encode(),
        b"c" + b"id,x,y,category\n1,2.5,-3,shop|park\n\"pub\",1e3,0,\n",
        b"q" + _parquet(),
        b"j" + json.dumps([{"id": 2, "polygon": "POLYGON ((0 0, 4 0, 4 4, 0 0))"}]).encode(),
        b"o" + b"id,name,category,x,y,aoi_id\n7,Bean,amenity|cafe,1,2,1\n8,,,0.5,2,\n",
        b"w" + b"id,x1,y1,x2,y2,max_speed,oneway\n1,0,0,9,9,8.3,true\nb,9,9,0,5,,\n",
        b"v" + b'{"projection": "+proj=tmerc +lat_0=1 +lon_0=2", "synthetic": true}',
        b"n" + _npy(np.array([1.5, 2])),
        b"i" + _npy(np.ones((1, 48), np.uint8)),
    ]  # fmt: skip


def _npy(array: Any) -> bytes:
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def _parquet() -> bytes:
    import polars as pl

    out = io.BytesIO()
    pl.DataFrame(PLACES).write_parquet(out, compression="uncompressed", statistics=False)
    return out.getvalue()


def _tasks(path: Path) -> None:
    from pytest_agentbench.benchmarks.behavior_modeling import layouts
    from pytest_agentbench.benchmarks.behavior_modeling.tasks import read_tasks

    for task in read_tasks(layouts.find(path.parent), "test"):
        assert task.truth is not None


def _answers(path: Path) -> None:
    from pytest_agentbench.base.errors import BenchmarkError
    from pytest_agentbench.benchmarks.behavior_modeling import submission
    from pytest_agentbench.benchmarks.behavior_modeling.tasks import Task
    from pytest_agentbench.benchmarks.protocol import SampleKey

    keys = [SampleKey(task["target"], str(task["task_id"])) for task in TASKS]
    tasks = [
        Task(keys[0], "u", ("a", "2"), None, TASKS[0], "a"),
        Task(keys[1], "u", (), "a", TASKS[1], {"stars": 4.0, "review": "x"}),
    ]
    _, listed = submission.problems_of(path, tasks)
    assert all(line.startswith(str(path)) for line in listed)
    try:
        found = submission.read_submission(path, tasks)
    except BenchmarkError:
        assert len(listed) >= 1  # it holds no answer at all
        raise
    assert found.answers.keys() <= set(map(str, keys))


def _beside_places(path: Path) -> None:
    """A table that belongs to places: the city is read, and asked for a way and its digest."""
    from pytest_agentbench.city.map import City
    from pytest_agentbench.city.table_files import read_tables

    with tempfile.TemporaryDirectory() as folder:
        places = Path(folder) / "places.json"
        places.write_text(json.dumps(PLACES))
        city = City(read_tables([places, path]))
    assert city.route(1, [5, 5], "walking")["seconds"] > 0
    assert len(city.pois()) == city.poi_count
    city.lnglat(1.0, 2.0)
    city.digest()


def _readers() -> dict[bytes, tuple[str, Callable[[Path], object]]]:
    from pytest_agentbench.benchmarks.daily_mobility.population import _checked
    from pytest_agentbench.benchmarks.daily_mobility.submission import _four_lists
    from pytest_agentbench.benchmarks.hurricane_mobility.data import load_truth
    from pytest_agentbench.city.map_files import read_places
    from pytest_agentbench.city.profiles import load_profiles
    from pytest_agentbench.runs import run_folder

    return {
        b"r": (run_folder.RECORDS, lambda path: run_folder.read_records(path.parent)),
        b"t": ("test_tasks.json", _tasks),
        b"p": ("profiles.json", load_profiles),
        b"h": ("truth.json", load_truth),
        b"s": ("population.json", _four_lists),
        b"a": ("answers.json", _answers),
        b"j": ("places.json", read_places),
        b"c": ("places.csv", read_places),
        b"q": ("places.parquet", read_places),
        b"o": ("pois.csv", _beside_places),
        b"w": ("roads.csv", _beside_places),
        b"v": ("map.json", _beside_places),
        b"n": ("radius.npy", lambda path: _checked(path, "gyration_radius")),
        b"i": ("codes.npy", lambda path: _checked(path, "intention_sequences")),
        b"m": (
            run_folder.MANIFEST,
            lambda path: run_folder.read_json(path, "the manifest of a run"),
        ),
    }


def check(data: bytes) -> None:
    from pytest_agentbench.base.errors import BenchmarkError

    readers = _readers()
    name, read = readers.get(data[:1], readers[b"r"])
    path = Path(_FOLDER.name) / name
    path.write_bytes(data[1:])
    try:
        read(path)
    except BenchmarkError as error:
        assert str(path) in str(error)


if __name__ == "__main__":
    fuzz(seeds, check)
