"""Where the truth lies: the data, their copies, and the runs that quote them."""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

from pytest_agentbench.benchmarks.daily_mobility.benchmark import DailyMobility
from pytest_agentbench.runs import hidden
from pytest_agentbench.settings.resolve import Layer, resolve

pytestmark = pytest.mark.usefixtures("cache_folder")


def settings(tmp_path, **values):
    layer = Layer(lambda key: key, values, tmp_path)
    return resolve("DailyMobility", None, [layer], [tmp_path / "start", tmp_path / "root"])


def test_the_runs_and_the_cache_are_hidden_before_they_exist(tmp_path):
    places = hidden.places(settings(tmp_path, run_dir="mine"))
    assert {tmp_path / "cache", tmp_path / "root/.agentbench", tmp_path / "mine"} <= set(places)


def test_a_config_with_keys_is_hidden(tmp_path):
    (tmp_path / "root").mkdir()
    config = tmp_path / "root" / "asbench.yml"
    config.write_text("llm: {model: m, api_key: secret}\n")
    assert config in hidden.places(settings(tmp_path, config="asbench.yml"))


def test_the_demo_and_what_made_it_are_hidden(tmp_path, monkeypatch):
    root = Path(__file__).parents[2]
    places = {path.resolve() for path in hidden.places(settings(tmp_path))}
    assert root / "pytest_agentbench/benchmarks/daily_mobility/demo" in places
    if (root / ".git").exists():  # a checkout: the demo may be read there or generated again
        assert {root / ".git", root / hidden.DEMO_SCRIPTS} <= places
    # A third party may keep the script that makes its demo beside its benchmark.
    module = ModuleType("theirs")
    module.__file__ = str(tmp_path / "theirs.py")
    monkeypatch.setitem(sys.modules, "theirs", module)
    (tmp_path / "make_demo.py").touch()
    theirs = type("Theirs", (DailyMobility,), {"__module__": "theirs"})()
    assert theirs.truth_places(settings(tmp_path)) == [tmp_path / "make_demo.py"]


def test_the_data_of_the_hub_are_hidden_wherever_they_lie(tmp_path, monkeypatch):
    monkeypatch.delenv("HF_HUB_CACHE", raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    repository = DailyMobility.hub_repository.replace("/", "--")
    note = tmp_path / "cache" / "hub" / f"dataset-{repository}-0123.json"
    note.parent.mkdir(parents=True)
    note.write_text(json.dumps({"folder": str(tmp_path / "older/snapshots/1")}))
    (note.parent / f"dataset-{repository}-broken.json").write_text("{")
    places = set(hidden.places(settings(tmp_path, dataset="hub")))
    assert tmp_path / "hf/hub" / f"datasets--{repository}" in places
    assert tmp_path / "hf/xet" in places
    assert tmp_path / "older/snapshots/1" in places


def test_the_repository_around_the_data_is_hidden_a_work_trees_too(tmp_path):
    (tmp_path / "start/data").mkdir(parents=True)
    (tmp_path / "start/.git").write_text(f"gitdir: {tmp_path}/main/.git/worktrees/one\n")
    (tmp_path / ".git").mkdir()
    places = set(hidden.places(settings(tmp_path, dataset="data")))
    assert {tmp_path / "start/data", tmp_path / "start/.git"} <= places
    assert {tmp_path / "main/.git", tmp_path / ".git"} <= places


@pytest.mark.skipif(os.name != "posix", reason="process isolation needs POSIX")
def test_other_places_of_runs_are_hidden(tmp_path):
    for name in ("start/baseline", "root/resumed", "start/.agentbench"):
        (tmp_path / name).mkdir(parents=True)
    given = dataclasses.replace(
        settings(tmp_path, baseline="baseline/scores.json"), resumed="resumed"
    )
    places = set(hidden.places(given))
    assert {tmp_path / n for n in ("start/baseline", "root/resumed", "start/.agentbench")} <= places


def test_data_named_by_a_pattern_are_hidden_file_by_file(tmp_path):
    for name in ("a.parquet", "b.parquet"):
        (tmp_path / name).write_bytes(b"x")
    values = {"dataset": str(tmp_path / "*.parquet")}
    settings = resolve("humob", None, [Layer(lambda key: key, values)], [tmp_path])
    assert {tmp_path / "a.parquet", tmp_path / "b.parquet"} <= set(hidden.places(settings))
