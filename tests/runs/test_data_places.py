"""Data of a run: where the user's own commands say, and not where the files of a run do."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from toy_runs import ToySum

from pytest_agentbench.base import parse
from pytest_agentbench.benchmarks.hurricane_mobility import data as hurricane
from pytest_agentbench.benchmarks.protocol import Parameter
from pytest_agentbench.runs import data_places
from pytest_agentbench.runs.data_places import Places
from pytest_agentbench.settings.settings import Settings

pytestmark = pytest.mark.usefixtures("cache_folder")


class Placed(ToySum):
    parameters = (
        Parameter("store", "a folder", parse.path),
        Parameter("model", "a model", parse.text, place=True, words=("small",)),
        Parameter("shift", "a whole number", int, 0),
    )


def settings(dataset="demo", bases=(), **parameters):
    return Settings(
        benchmark=Placed(), nodeid="toysum", mode="test", agent="builtin:half", reading="exact",
        dataset=dataset, parameters=parameters, bases=bases,
    )  # fmt: skip


def test_places_are_recalled_for_the_same_words_and_the_same_data(tmp_path):
    (tmp_path / "there").mkdir()
    used = settings(tmp_path / "data.csv", (tmp_path,), store="there", model="small", shift=3)
    data_places.remember(used, "digest")
    found = data_places.recalled(settings(str(tmp_path / "data.csv"), store="there"), "digest")
    # Absolute: the same words mean another folder elsewhere.
    assert found == Places(str(tmp_path / "data.csv"), {"store": str(tmp_path / "there")})
    for other, digest in [
        (settings(str(tmp_path / "data.csv"), store="there"), "another digest"),
        (settings(str(tmp_path / "other.csv"), store="there"), "digest"),
        (settings(str(tmp_path / "data.csv"), store="elsewhere"), "digest"),
        (settings(str(tmp_path / "data.csv"), store="there", model="their/model"), "digest"),
    ]:
        assert data_places.recalled(other, digest) is None


def test_the_demo_data_need_no_note(cache_folder):
    data_places.remember(settings(model="small"), "digest")
    assert not cache_folder.exists()
    assert data_places.recalled(settings(model="small"), "digest") is None


def test_a_damaged_note_is_none(cache_folder):
    data_places.remember(settings("/data"), "digest")
    (note,) = (cache_folder / "places").iterdir()
    for text in ("", "[]", '{"dataset": 3}', "\x00"):
        note.write_text(text)
        assert data_places.recalled(settings("/data"), "digest") is None


@pytest.fixture
def mine(project):
    """A run on the data in a folder of the user's."""
    shutil.copytree(hurricane.DEMO_FOLDER, project.path / "data")
    run = "--benchmark=HurricaneMobility", "--dataset=data", "--first=2", "--run-dir=mine"
    assert project.pytest(*run, "-q").ret == 0
    return project


def test_ones_own_run_is_reported_without_further_words(mine):
    assert mine.agentbench("report", "mine").ret == 0
    shutil.copytree(mine.path / "mine", mine.path / "copied")
    assert mine.agentbench("compare", "mine", "copied").ret == 0


def test_a_strangers_run_is_reported_on_the_data_that_the_user_names(mine, cache_folder):
    shutil.rmtree(cache_folder)  # as if it had been made elsewhere
    refused = mine.agentbench("report", "mine")
    assert refused.ret == 2
    assert "which no command of yours has used for these data" in refused.stderr.str()
    assert "say where they lie with --dataset PATH" in refused.stderr.str()
    assert mine.agentbench("report", "mine", "--dataset=data").ret == 0
    listed = mine.agentbench("leaderboard", ".")
    assert listed.ret == 0
    listed.stdout.fnmatch_lines(["*  mine"])


def test_a_run_of_the_hubs_data_is_not_a_reason_to_fetch_them(mine):
    path = mine.path / "mine" / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["settings"]["dataset"] = "hub"
    path.write_text(json.dumps(manifest))
    refused = mine.agentbench("report", "mine")
    assert refused.ret == 2
    assert "`agentbench fetch HurricaneMobility`, or say where" in refused.stderr.str()


def test_a_parameter_that_names_a_place_is_given_by_the_user(mine, cache_folder):
    """BehaviorModeling's reviews may lie in a folder of their own."""
    from pytest_agentbench.benchmarks.behavior_modeling import data as behavior

    shutil.copytree(behavior.DEMO_FOLDER, mine.path / "tasks")
    shutil.copytree(behavior.DEMO_FOLDER, mine.path / "reviews")
    given = "--dataset=tasks", "--store=reviews", "--text-models=none", "--first=2"
    result = mine.pytest("--benchmark=BehaviorModeling", *given, "--run-dir=with", "-q")
    assert result.ret == 0
    assert mine.agentbench("report", "with").ret == 0
    shutil.rmtree(cache_folder)
    refused = mine.agentbench("report", "with", "--dataset=tasks")
    assert refused.ret == 2
    assert "settings.parameters.store names 'reviews'" in refused.stderr.str()
    assert "--parameter store=FOLDER" in refused.stderr.str()
    assert (
        mine.agentbench("report", "with", "--dataset=tasks", "--parameter", "store=reviews").ret
        == 0
    )
    wrong = mine.agentbench("report", "with", "--parameter", "store")
    assert "--parameter: expected NAME=VALUE, got 'store'" in wrong.stderr.str()
    assert Path(mine.path / "with" / "report.html").exists()
