"""Runs by name: a path, last, a saved copy."""

from __future__ import annotations

import json
import os
import shutil

import pytest
from toy_runs import make_run

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.runs import names, stored


@pytest.fixture
def house(tmp_path):
    make_run(tmp_path / ".agentbench" / "runs" / "one", "half")
    make_run(tmp_path / ".agentbench" / "runs" / "two", "right")
    os.utime(tmp_path / ".agentbench" / "runs" / "one" / "scores.json", (1, 1))
    return tmp_path / ".agentbench"


def test_every_way_to_name_a_run(house, tmp_path):
    runs = house / "runs"
    assert names.find_run("last", house, tmp_path) == runs / "two"
    assert names.find_run("last", house, tmp_path, "toysum") == runs / "two"
    assert names.find_run("one", house, tmp_path) == runs / "one"
    assert names.find_run(".agentbench/runs/one", house, tmp_path) == runs / "one"
    assert names.find_run(str(runs / "one" / "scores.json"), house, tmp_path) == runs / "one"
    names.save("main", runs / "one", house)
    assert names.find_run("main", house, tmp_path) == house / "saved" / "main"


def test_a_path_comes_before_a_saved_name(house, tmp_path):
    names.save("main", house / "runs" / "one", house)
    shutil.copytree(house / "runs" / "two", tmp_path / "main")
    assert names.find_run("main", house, tmp_path) == tmp_path / "main"


def test_an_unknown_name_says_which_there_are(house, tmp_path):
    names.save("main", house / "runs" / "one", house)
    with pytest.raises(BenchmarkError) as caught:
        names.find_run("mian", house, tmp_path)
    assert "mian: expected the folder of a run (with scores.json)" in str(caught.value)
    assert "there are: main;" in str(caught.value)


def test_last_is_of_the_benchmark_and_needs_a_run(house, tmp_path):
    with pytest.raises(BenchmarkError, match=r"no run of humob with scores\.json"):
        names.find_run("last", house, tmp_path, "humob")
    with pytest.raises(BenchmarkError, match="so no 'last' one"):
        names.find_run("last", tmp_path / "nothing", tmp_path)


def test_a_run_to_resume_needs_records_not_scores(house, tmp_path):
    (house / "runs" / "two" / "scores.json").unlink()
    os.utime(house / "runs" / "one" / "records.jsonl", (1, 1))
    assert names.find_run("last", house, tmp_path) == house / "runs" / "one"
    found = names.find_run("last", house, tmp_path, proof="records.jsonl")
    assert found == house / "runs" / "two"


def of_model(house, name, model, *sessions):
    """A run that was begun and asked a model, in these sessions."""
    folder = house / "runs" / name
    folder.mkdir()
    (folder / "records.jsonl").write_text("")
    first, *resumed = sessions
    agent = {"name": "a.py", "digest": "d", "models": [model]}
    manifest = {"schema": 1, "started": first, "resumed": resumed, "agent": agent}
    text = json.dumps({**manifest, "settings": {"benchmark": "toysum"}})
    (folder / "manifest.json").write_text(text)
    at = len(list((house / "runs").iterdir()))
    os.utime(folder / "records.jsonl", (at, at))
    return folder


def test_the_last_runs_of_models_are_of_one_session(house):
    with pytest.raises(BenchmarkError, match="no run of toysum with a or b below"):
        names.last_of_models(house, "toysum", ["a", "b"])
    of_model(house, "a1", "a", "t1")
    b1 = of_model(house, "b1", "b", "t1")
    a2 = of_model(house, "a2", "a", "t2", "t3")
    of_model(house, "c1", "c", "t4")
    assert names.last_of_models(house, "toysum", ["a", "b"]) == {"a": a2}
    assert names.last_of_models(house, "toysum", ["b"]) == {"b": b1}
    b3 = of_model(house, "b3", "b", "t3")  # it was begun when a was resumed
    assert names.last_of_models(house, "toysum", ["a", "b"]) == {"a": a2, "b": b3}


def test_a_saved_run_outlives_the_run(house):
    run = house / "runs" / "one"
    (run / "table.parquet").write_text("large")
    place = names.save("main", run, house)
    shutil.rmtree(run)
    assert stored.read(place).agent == "builtin:half"
    assert len(stored.read(place).records) == 12
    assert sorted(path.name for path in place.iterdir()) == [
        "manifest.json", "records.jsonl", "scores.json",
    ]  # fmt: skip
    assert (house / ".gitignore").exists()
    assert [path.name for path in (house / "saved").iterdir()] == ["main"]


def test_a_taken_name_is_replaced_only_when_asked(house):
    names.save("main", house / "runs" / "one", house)
    with pytest.raises(BenchmarkError, match=r"taken; give another name or --replace"):
        names.save("main", house / "runs" / "two", house)
    place = names.save("main", house / "runs" / "two", house, replace=True)
    assert stored.read(place).agent == "builtin:right"
    assert names.save("main", place, house) == place  # itself


@pytest.mark.parametrize("name", ["last", "../up", "a/b", "", ".hidden", "a b"])
def test_names_that_are_no_names(house, name):
    with pytest.raises(BenchmarkError, match="expected a name of letters"):
        names.save(name, house / "runs" / "one", house)


def test_a_broken_run_does_not_replace_a_good_one(house):
    names.save("main", house / "runs" / "one", house)
    (house / "runs" / "two" / "scores.json").write_text("{}")
    with pytest.raises(BenchmarkError, match="the JSON: expected the key `benchmark`, got nothing"):
        names.save("main", house / "runs" / "two", house, replace=True)
    assert stored.read(house / "saved" / "main").agent == "builtin:half"


def test_the_house_is_the_nearest_one_above(house, tmp_path):
    inner = tmp_path / "src" / "agents"
    inner.mkdir(parents=True)
    assert names.find_house(inner) == house


def test_runs_above_in_a_folder_that_everyone_may_write_to_are_not_ours(tmp_path):
    (tmp_path / ".agentbench").mkdir()
    project = tmp_path / "project"
    project.mkdir()
    assert names.find_house(project) == tmp_path / ".agentbench"
    tmp_path.chmod(0o777)
    assert names.find_house(project) == project / ".agentbench"
    assert names.find_house(tmp_path) == tmp_path / ".agentbench"  # whoever works there means it


def test_runs_below_passes_by_what_is_none(house, tmp_path):
    (tmp_path / "scores.json").write_text('{"football": "3:1"}')
    found = names.runs_below(tmp_path)
    assert [run.name for run in found.runs] == ["one", "two"]
    assert found.damaged == []


def test_a_damaged_run_is_named_beside_the_others(house, tmp_path):
    (house / "runs" / "one" / "manifest.json").write_text('{"schema": 1, "settings": []}')
    found = names.runs_below(tmp_path)
    assert [run.name for run in found.runs] == ["two"]
    path = house / "runs" / "one" / "manifest.json"
    assert found.damaged == [f"{path}: `settings`: expected an object, got []"]
