"""Where tasks, truth and store are looked for."""

from __future__ import annotations

import json
import shutil

import pytest

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks.behavior_modeling import layouts


@pytest.fixture
def track(tmp_path):
    """A folder of the challenge: ``track2`` with one folder of tasks for each source."""

    def write(*sources):
        for source in sources:
            for name, content in (
                ("tasks/task_0.json", {"type": "user_behavior_simulation", "user_id": "u1", "item_id": "i2"}),
                ("groundtruth/groundtruth_0.json", {"stars": 2.0, "review": "Meh."}),
            ):  # fmt: skip
                path = tmp_path / "track2" / source / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(json.dumps(content), encoding="utf-8")
        return tmp_path / "track2"

    return write


def test_the_folder_itself_the_folder_above_and_the_folder_of_tasks_are_one_data_set(track, load):
    outer = track("amazon")
    expected = outer / "amazon"
    digests = set()
    for given in (expected, expected / "tasks", outer, outer.parent):
        layout = layouts.find(given)
        assert (layout.tasks, layout.truth) == (expected / "tasks", expected / "groundtruth")
        digests.add(load(given).digest)
    assert len(digests) == 1


def test_of_several_folders_one_is_to_be_named(track):
    outer = track("amazon", "yelp")
    with pytest.raises(BenchmarkError) as caught:
        layouts.find(outer)
    assert "expected one folder with tasks, got 2 (amazon, yelp)" in str(caught.value)
    assert f"--dataset={outer / 'amazon'}" in str(caught.value)


def test_the_store_is_beside_the_tasks_or_around_them(track, folder):
    outer = track("amazon")
    assert layouts.find(outer).store is None
    data = folder(test_tasks=None, inference_tasks=None, inference_tasks_groundtruth=None)
    for name in layouts.STORE_FILES:
        shutil.copy(data / name, outer)
    assert layouts.find(outer).store == outer
    assert layouts.find(outer / "amazon").store is None  # who names the inner folder means it alone
    shutil.copy(data / "user.json", outer / "amazon")
    assert layouts.find(outer / "amazon" / "tasks").store == outer / "amazon"
    assert layouts.find(outer, data).store == data


def test_a_store_without_tasks_says_how_to_name_both(folder):
    data = folder(test_tasks=None, inference_tasks=None, inference_tasks_groundtruth=None)
    with pytest.raises(
        BenchmarkError, match=r"expected test_tasks\.json .*got item\.json"
    ) as error:
        layouts.find(data)
    assert f"--dataset names them, and --store={data}" in str(error.value)


def test_a_named_store_is_looked_for_in_every_base_and_must_be_one(folder, tmp_path):
    data = folder()
    assert layouts.given_store("data", [tmp_path / "elsewhere", tmp_path]) == data
    assert layouts.given_store(None, [tmp_path]) is None
    with pytest.raises(
        BenchmarkError, match=r"--store: expected a folder with user\.json.*nothing there"
    ):
        layouts.given_store("nowhere", [tmp_path])


def test_a_named_truth_is_looked_for_in_every_base_and_belongs_to_numbered_tasks(
    track, folder, load, tmp_path
):
    tasks = track("amazon") / "amazon" / "tasks"
    truth = (tasks.parent / "groundtruth").rename(tmp_path / "truth")
    assert layouts.given_truth("truth", [tmp_path / "elsewhere", tmp_path]) == truth
    assert layouts.given_truth(None, [tmp_path]) is None
    loaded = load(tasks, groundtruth="truth", bases=(tmp_path,))
    assert loaded.sample(0).truth == {"stars": 2.0, "review": "Meh."}
    with pytest.raises(BenchmarkError, match=r"expected a folder with groundtruth_N\.json"):
        layouts.given_truth("nowhere", [tmp_path])
    with pytest.raises(BenchmarkError, match="expected none beside the published layout"):
        layouts.find(folder(), truth=truth)
