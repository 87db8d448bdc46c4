"""Small data set folders, a cache of their own for every test, and settings as a run would make them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_agentbench.benchmarks.behavior_modeling.benchmark import BehaviorModeling
from pytest_agentbench.benchmarks.behavior_modeling.data import BehaviorDataset
from pytest_agentbench.runs.record import Record

USERS = [{"user_id": "u1", "name": "Ada"}, {"user_id": "u2"}]
ITEMS = [{"item_id": f"i{n}", "title": f"Item {n}", "categories": ["Tea"], "type": "product"} for n in range(8)]  # fmt: skip
REVIEWS = [
    {"review_id": "r1", "user_id": "u1", "item_id": "i1", "stars": 5.0, "text": "Lovely tea.", "date": "2020-01-05"},
    {"review_id": "r2", "user_id": "u1", "item_id": "i2", "stars": 1.0, "text": "Awful.", "timestamp": 1580515200000},
    {"review_id": "r3", "user_id": "u2", "item_id": "i1", "stars": 4.0, "text": "Nice.", "date_added": "Sun Mar 01 00:00:00 +0000 2020"},
    {"review_id": "r4", "user_id": "u1", "item_id": "i3", "stars": 3.0, "text": "Fine.", "colour": "green"},
]  # fmt: skip
TASKS = [
    {"task_id": 17, "target": "recommendation", "user_id": "u1", "candidate_category": "product",
     "candidate_list": [f"i{n}" for n in range(8)], "ground_truth": {"item_id": "i1"}, "loc": [1, 2]},
    {"task_id": 18, "target": "review_writing", "user_id": "u1", "item_id": "i2",
     "ground_truth": {"stars": 1.0, "review": "Awful."}},
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Callable[..., Path]:
    """Writes a folder in the published layout; keyword arguments replace files (None leaves one out)."""

    def write(name: str = "data", **files: Any) -> Path:
        place = tmp_path / name
        place.mkdir(exist_ok=True)
        asked = [{k: v for k, v in task.items() if k != "ground_truth"} for task in TASKS]
        truths = [{"task_id": t["task_id"], "ground_truth": t["ground_truth"]} for t in TASKS]
        content = {
            "user": USERS, "item": ITEMS, "review": REVIEWS, "test_tasks": TASKS,
            "inference_tasks": asked, "inference_tasks_groundtruth": truths, **files,
        }  # fmt: skip
        for file, value in content.items():
            path = place / f"{file}.json"
            if value is None:
                path.unlink(missing_ok=True)
            elif file in ("user", "item", "review"):
                path.write_text("".join(f"{json.dumps(r)}\n" for r in value), encoding="utf-8")
            else:
                path.write_text(json.dumps(value), encoding="utf-8")
        return place

    return write


@pytest.fixture
def load() -> Callable[..., BehaviorDataset]:
    """Loads a data set as a run would; without text models unless a test names them."""

    def load(dataset: str | Path = "demo", mode: str = "test", **given: Any) -> BehaviorDataset:
        names = {parameter.name for parameter in BehaviorModeling.parameters}
        own = {key: given.pop(key) for key in list(given) if key in names}
        settings: Any = SimpleNamespace(
            **{
                "dataset": dataset, "mode": mode, "seed": 0, "submission": None, "bases": (),
                "parameters": {"text_models": "none", "device": "cpu", **own}, **given,
            }
        )  # fmt: skip
        loaded = BehaviorModeling().load(settings)
        assert isinstance(loaded, BehaviorDataset)
        return loaded

    return load


@pytest.fixture
def answered() -> Callable[..., list[Record]]:
    """Asks an agent about every sample, as workers would."""

    def ask(dataset: BehaviorDataset, agent: Callable[[Any], Any]) -> list[Record]:
        benchmark = BehaviorModeling()
        records = []
        for index, key in enumerate(dataset.keys):
            sample = dataset.sample(index)
            answer = benchmark.check(sample, agent(sample.context))
            metrics = benchmark.score_sample(sample, answer)
            records.append(
                Record(
                    benchmark.name,
                    str(key),
                    "ok",
                    answer=answer,
                    metrics=metrics,
                    seconds=index / 100,
                )
            )
        return records

    return ask
