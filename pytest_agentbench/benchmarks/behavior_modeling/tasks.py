"""Reads the questions of a data set folder, in the published layout or WebSocietySimulator's."""

from __future__ import annotations

import functools
import json
import math
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_agentbench.base.compressed import unzipped
from pytest_agentbench.base.errors import BenchmarkError, expect, shown
from pytest_agentbench.base.files import parsed_json
from pytest_agentbench.base.plain import is_id
from pytest_agentbench.benchmarks.behavior_modeling import layouts
from pytest_agentbench.benchmarks.behavior_modeling.layouts import Layout, existing
from pytest_agentbench.benchmarks.protocol import SampleKey

RECOMMENDATION = "recommendation"
REVIEW = "review_writing"
TARGETS = (RECOMMENDATION, REVIEW)
SIMULATED = "simulated"
REAL = "real"

_SIMULATOR_TYPES = {"recommendation": RECOMMENDATION, "user_behavior_simulation": REVIEW}
_TRUTH_FILE = "inference_tasks_groundtruth.json"
_NEEDED = {
    RECOMMENDATION: ("user_id", "candidate_category", "candidate_list"),
    REVIEW: ("user_id", "item_id"),
}
# Keys, without regard to case and punctuation, that say whether a task's truth was written by a
# model or by a person. The challenge has "data type": "sim".
_SPLIT_KEYS = {"split", "datatype", "typeofdata"}
_SPLIT_VALUES = {"sim": SIMULATED, "simulated": SIMULATED, "simulation": SIMULATED, "real": REAL}
_SPLIT_FLAGS = {"simulated": True, "issimulated": True, "real": False, "isreal": False}


@dataclass(frozen=True)
class Task:
    """One question. ``fields`` is all that the file says of it, without the truth."""

    key: SampleKey
    user_id: str
    candidates: tuple[str, ...]  # of a recommendation
    item_id: str | None  # of a review
    fields: Mapping[str, Any]
    truth: Any = field(repr=False)  # an item id, or {"stars", "review"}; None where nobody knows
    repeats: bool = False  # whether the file names a candidate twice
    split: str | None = None  # "simulated" or "real", where the file says so

    @property
    def target(self) -> str:
        return self.key.target


def read_tasks(layout: Layout, mode: str) -> list[Task]:
    """The tasks of a data set; in inference mode the truth may be absent, but not in part."""
    folder = layout.tasks
    if layout.truth is not None:
        tasks = _simulator(folder, layout.truth, mode)
    else:
        published = existing(folder / f"{mode}_tasks.json")
        if published is None:
            raise BenchmarkError(
                f"dataset {folder}: expected {mode}_tasks.json (the published layout), got "
                f"{layouts.listing(folder)}"
            )
        tasks = _published(published, folder, mode)
    known = [task for task in tasks if task.truth is not None]
    if known and len(known) < len(tasks):
        without = next(task for task in tasks if task.truth is None)
        raise BenchmarkError(
            f"dataset {folder}: expected a ground truth for every task or for none, {without.key} "
            f"has none ({len(tasks) - len(known)} of {len(tasks)} tasks)"
        )
    return tasks


def _published(path: Path, folder: Path, mode: str) -> list[Task]:
    entries = _list(path)
    truths: dict[str, Any] = {}
    truth_path = existing(folder / _TRUTH_FILE) if mode == "inference" else None
    if truth_path is not None:
        for index, entry in enumerate(_list(truth_path)):
            where = f"{truth_path}, entry {index}"
            truths[_identifier(entry, "task_id", where)] = _needed(entry, "ground_truth", where)
    tasks: list[Task] = []
    seen: dict[str, int] = {}
    for index, entry in enumerate(entries):
        where = f"{path}, entry {index}"
        task_id = _identifier(entry, "task_id", where)
        if task_id in seen:
            raise BenchmarkError(
                f"{where}: expected a task_id used once, got {shown(task_id)} (also entry {seen[task_id]})"
            )
        seen[task_id] = index
        target = _needed(entry, "target", where)
        expect(target in TARGETS, where, f"target {' or '.join(TARGETS)}", target)
        truth, truth_where = entry.get("ground_truth"), where
        if mode == "test":
            truth = _needed(entry, "ground_truth", where)
        elif task_id in truths:
            truth, truth_where = truths[task_id], f"{truth_path}, task_id {task_id}"
        tasks.append(_task(SampleKey(target, task_id), entry, where, truth, truth_where))
    return tasks


def _simulator(folder: Path, truths: Path, mode: str) -> list[Task]:
    """By number, simulated ones first where tasks are marked: that is the order of the simulator."""
    tasks = []
    for number, path in layouts.numbered_tasks(folder):
        entry = _read(path)
        if not isinstance(entry, dict):
            raise BenchmarkError(f"{path}: expected a JSON object, got {_kind(entry)}")
        given = _needed(entry, "type", str(path))
        known = tuple(_SIMULATOR_TYPES)
        expect(given in known, path, f"type {' or '.join(known)}", given)
        target = _SIMULATOR_TYPES[given]
        truth_path = truths / f"groundtruth_{number}.json"
        truth = None
        if truth_path.is_file():
            truth = _read(truth_path)
            if isinstance(truth, dict) and "ground truth" in truth:
                truth = truth["ground truth"]
        elif mode == "test":
            raise BenchmarkError(f"{path}: expected its ground truth in {truth_path}, got no file")
        entry = {"task_id": number, "target": target, **entry}
        key = SampleKey(target, str(number))
        tasks.append(_task(key, entry, str(path), truth, str(truth_path)))
    return sorted(tasks, key=lambda task: task.split != SIMULATED)


def _task(key: SampleKey, entry: dict[str, Any], where: str, truth: Any, truth_where: str) -> Task:
    for name in _NEEDED[key.target]:
        _needed(entry, name, where)
    candidates: tuple[str, ...] = ()
    repeats = False
    item_id = None
    if key.target == RECOMMENDATION:
        listed = _candidates(entry["candidate_list"], where)
        candidates = tuple(dict.fromkeys(listed))
        repeats = len(candidates) < len(listed)
        truth = None if truth is None else _true_item(truth, candidates, truth_where)
    else:
        item_id = _identifier(entry, "item_id", where)
        truth = None if truth is None else _true_review(truth, truth_where)
    return Task(
        key=key,
        user_id=_identifier(entry, "user_id", where),
        candidates=candidates,
        item_id=item_id,
        fields={name: value for name, value in entry.items() if not _is_truth(name)},
        truth=truth,
        repeats=repeats,
        split=_split(entry),
    )


@functools.lru_cache(maxsize=1024)  # the same few keys in every task
def _letters(name: str) -> str:
    return re.sub(r"[^a-z]", "", name.lower())


def _split(entry: Mapping[str, Any]) -> str | None:
    """Whether a task is marked as simulated or real; any other value of such a key says nothing.

    >>> _split({"data type": "sim"}), _split({"is_real": True}), _split({"split": "train"})
    ('simulated', 'real', None)
    """
    for name, value in entry.items():
        key = _letters(name)
        if key in _SPLIT_KEYS and isinstance(value, str):
            return _SPLIT_VALUES.get(value.strip().lower())
        if key in _SPLIT_FLAGS and isinstance(value, bool):
            return SIMULATED if value == _SPLIT_FLAGS[key] else REAL
    return None


def _is_truth(name: str) -> bool:
    """Recognises the truth in any spelling: it must not reach the agent among unknown keys."""
    return _letters(name) == "groundtruth"


def _candidates(value: Any, where: str) -> tuple[str, ...]:
    fine = isinstance(value, list) and value and all(map(is_id, value))
    expect(fine, where, "candidate_list to be a list of ids", value)
    return tuple(str(item) for item in value)


def _true_item(value: Any, candidates: tuple[str, ...], where: str) -> str:
    """The id, which the published files have as ``{"item_id": id}``."""
    item = value["item_id"] if isinstance(value, dict) and "item_id" in value else value
    expect(is_id(item), where, 'the ground truth to be {"item_id": id} or an id', value)
    among = f"the ground truth to be one of the {len(candidates)} candidates"
    expect(str(item) in candidates, where, among, item)
    return str(item)


def _true_review(value: Any, where: str) -> dict[str, Any]:
    review = value.get("review", value.get("text")) if isinstance(value, dict) else None
    try:
        stars = float(value["stars"])
        good = 1 <= stars <= 5 and isinstance(review, str)
    except (TypeError, ValueError, KeyError):
        good, stars = False, math.nan
    expect(good, where, "the ground truth to have stars (1 to 5) and a review", value)
    return {"stars": stars, "review": review}


def _list(path: Path) -> list[dict[str, Any]]:
    entries = _read(path)
    if not isinstance(entries, list):
        raise BenchmarkError(f"{path}: expected a JSON list, got {_kind(entries)}")
    for index, entry in enumerate(entries):
        if not isinstance(entry, dict):
            raise BenchmarkError(f"{path}, entry {index}: expected an object, got {_kind(entry)}")
    return entries


def _read(path: Path) -> Any:
    try:
        content = path.read_bytes()
        text = unzipped(path, content) if path.suffix == ".gz" else content
        return parsed_json(text.decode(json.detect_encoding(text)))
    except BenchmarkError:
        raise
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise BenchmarkError(f"{path}: expected a JSON file, but {error}") from None


def _needed(entry: Mapping[str, Any], name: str, where: str) -> Any:
    if entry.get(name) is None:
        kept = ", ".join(entry)[:200] or "no keys"
        raise BenchmarkError(f"{where}: expected the key {name!r}, got {kept}")
    return entry[name]


def _identifier(entry: Mapping[str, Any], name: str, where: str) -> str:
    value = _needed(entry, name, where)
    expect(is_id(value), where, f"{name} to be a text or a number", value)
    return str(value)


def _kind(value: Any) -> str:
    for kind, name in ((dict, "an object"), (list, "a list"), (str, "a text")):
        if isinstance(value, kind):
            return name
    return shown(value)
