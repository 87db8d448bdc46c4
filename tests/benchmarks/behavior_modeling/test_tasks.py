"""Both layouts of task files, and what is refused in them."""

from __future__ import annotations

import copy
import json

import pytest
from shared_data import SHARED, needs_real_data

from pytest_agentbench.base.errors import BenchmarkError


def without(tasks, index, key):
    changed = copy.deepcopy(tasks)
    del changed[index][key]
    return changed


@pytest.fixture
def tasks(folder):
    return json.loads((folder() / "test_tasks.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("spelling", ["ground truth", "Ground_Truth", "groundTruth"])
def test_a_truth_in_another_spelling_stays_hidden(folder, load, tasks, spelling):
    tasks[0][spelling] = "i1"
    assert spelling not in load(folder(test_tasks=tasks)).sample(0).context


@pytest.mark.parametrize(
    ("index", "key", "message"),
    [
        (0, "task_id", r"test_tasks\.json, entry 0: expected the key 'task_id'"),
        (0, "target", r"entry 0: expected the key 'target'"),
        (0, "candidate_list", r"entry 0: expected the key 'candidate_list'"),
        (0, "candidate_category", r"entry 0: expected the key 'candidate_category'"),
        (1, "user_id", r"entry 1: expected the key 'user_id'"),
        (1, "item_id", r"entry 1: expected the key 'item_id'"),
        (1, "ground_truth", r"entry 1: expected the key 'ground_truth'"),
    ],
)
def test_a_missing_key_is_named_with_file_and_index(folder, load, tasks, index, key, message):
    with pytest.raises(BenchmarkError, match=message):
        load(folder(test_tasks=without(tasks, index, key)))


@pytest.mark.parametrize(
    ("index", "change", "message"),
    [
        (0, {"target": "chat"}, "expected target recommendation or review_writing, got 'chat'"),
        (0, {"candidate_list": "i1"}, "expected candidate_list to be a list of ids, got 'i1'"),
        (0, {"ground_truth": "i99"}, "expected the ground truth to be one of the 8 candidates"),
        (0, {"ground_truth": {"id": "i1"}}, r"to be {\"item_id\": id} or an id, got {'id': 'i1'}"),
        (0, {"ground_truth": {"item_id": None}}, r"to be {\"item_id\": id} or an id"),
        (0, {"task_id": True}, "expected task_id to be a text or a number, got True"),
        (1, {"task_id": 17}, r"entry 1: expected a task_id used once, got '17' \(also entry 0\)"),
        (1, {"ground_truth": {"stars": 9, "review": "x"}}, r"stars \(1 to 5\) and a review"),
        (1, {"ground_truth": "i1"}, r"stars \(1 to 5\) and a review, got 'i1'"),
    ],
)
def test_wrong_values_are_refused(folder, load, tasks, index, change, message):
    tasks[index].update(change)
    with pytest.raises(BenchmarkError, match=message):
        load(folder(test_tasks=tasks))


@pytest.mark.parametrize("truth", [{"item_id": "i1"}, "i1"])
def test_the_true_item_is_an_object_as_published_or_the_bare_id(folder, load, tasks, truth):
    published = load(folder()).digest
    tasks[0]["ground_truth"] = truth
    dataset = load(folder(test_tasks=tasks))
    assert dataset.sample(0).truth["item"] == "i1"
    assert dataset.digest == published
    truths = [{"task_id": t["task_id"], "ground_truth": t["ground_truth"]} for t in tasks]
    asked = load(folder(inference_tasks_groundtruth=truths), "inference")
    assert asked.sample(0).truth["item"] == "i1"


def test_a_candidate_named_twice_counts_once_at_its_first_place(folder, load, tasks):
    tasks[0]["candidate_list"] = ["i3", "i1", "i3", "i2", "i1"]
    dataset = load(folder(test_tasks=tasks), keep_candidate_order=True)
    assert dataset.sample(0).context["candidate_list"] == ["i3", "i1", "i2"]
    assert dataset.sample(0).truth["candidates"] == ["i3", "i1", "i2"]
    assert "1 task names a candidate twice: it is counted once, at its first place" in dataset.notes


@pytest.mark.parametrize(
    ("marked", "split"),
    [
        ({}, None),
        ({"data type": "sim"}, "simulated"),  # as WebSocietySimulator reads it
        ({"data type": "real"}, "real"),
        ({"data_type": "Simulated"}, "simulated"),
        ({"type_of_data": "simulation"}, "simulated"),
        ({"split": "real"}, "real"),
        ({"split": "train"}, None),
        ({"simulated": True}, "simulated"),
        ({"is_simulated": False}, "real"),
        ({"is_real": True}, "real"),
        ({"is_real": "perhaps"}, None),
    ],
)
def test_tasks_may_be_marked_as_simulated_or_real(folder, load, tasks, marked, split):
    tasks[1].update(marked)
    dataset = load(folder(test_tasks=tasks))
    assert [task.split for task in dataset.tasks] == [None, split]
    assert marked.items() <= dataset.sample(1).context.items()


def test_inference_joins_the_truth_file_by_task(folder, load):
    dataset = load(folder(), "inference")
    assert dataset.truth_known
    assert dataset.sample(0).truth["item"] == "i1"
    assert "ground_truth" not in dataset.sample(0).context


def test_inference_without_a_truth_file_has_questions_all_the_same(folder, load):
    dataset = load(folder(inference_tasks_groundtruth=None), "inference")
    assert not dataset.truth_known
    assert dataset.sample(0).truth["item"] is None
    assert dataset.sample(1).truth is None


def test_a_truth_file_that_lacks_a_task_is_refused(folder, load):
    path = folder(inference_tasks_groundtruth=[{"task_id": 17, "ground_truth": "i1"}])
    with pytest.raises(BenchmarkError, match=r"review_writing\[18\] has none \(1 of 2 tasks\)"):
        load(path, "inference")
    path = folder(inference_tasks_groundtruth=[{"task_id": 17}])
    with pytest.raises(BenchmarkError, match=r"groundtruth\.json, entry 0: .*'ground_truth'"):
        load(path, "inference")


@pytest.fixture
def simulator(folder):
    path = folder(test_tasks=None, inference_tasks=None, inference_tasks_groundtruth=None)
    for name in ("tasks", "groundtruth"):
        (path / name).mkdir()

    def write(number, task, truth):
        (path / "tasks" / f"task_{number}.json").write_text(json.dumps(task), encoding="utf-8")
        if truth is not None:
            file = path / "groundtruth" / f"groundtruth_{number}.json"
            file.write_text(json.dumps(truth), encoding="utf-8")

    write(10, {"type": "recommendation", "user_id": "u1", "candidate_category": "product",
               "candidate_list": ["i1", "i2"]}, {"ground truth": "i2"})  # fmt: skip
    write(9, {"type": "user_behavior_simulation", "user_id": "u1", "item_id": "i2"},
          {"stars": 2.0, "review": "Meh."})  # fmt: skip
    return path


def test_the_simulators_layout_loads_as_well(simulator, load):
    dataset = load(simulator)
    assert [str(key) for key in dataset.keys] == ["review_writing[9]", "recommendation[10]"]
    assert dataset.sample(0).truth == {"stars": 2.0, "review": "Meh."}
    assert dataset.sample(1).truth["item"] == "i2"
    assert dataset.sample(1).context["target"] == "recommendation"


def test_the_simulator_asks_simulated_tasks_first(simulator, load):
    path = simulator / "tasks" / "task_10.json"
    marked = {**json.loads(path.read_text(encoding="utf-8")), "data type": "sim"}
    path.write_text(json.dumps(marked), encoding="utf-8")
    assert [str(key) for key in load(simulator).keys] == ["recommendation[10]", "review_writing[9]"]


def test_a_mistake_is_named_with_the_file_it_is_in(simulator, folder, load):
    (simulator / "tasks" / "task_10.json").write_text(
        '{"type": "recommendation", "user_id": "u1", "candidate_category": "book"}',
        encoding="utf-8",
    )
    with pytest.raises(BenchmarkError, match=r"task_10\.json: expected the key 'candidate_list'"):
        load(simulator)
    (simulator / "tasks" / "task_10.json").unlink()
    (simulator / "groundtruth" / "groundtruth_9.json").write_text('{"stars": 3}', encoding="utf-8")
    with pytest.raises(BenchmarkError, match=r"groundtruth_9\.json: expected the ground truth to"):
        load(simulator)
    published = folder("published") / "inference_tasks.json"
    tasks = without(json.loads(published.read_text(encoding="utf-8")), 0, "candidate_list")
    with pytest.raises(
        BenchmarkError, match=r"/inference_tasks\.json, entry 0: .*'candidate_list'"
    ):
        load(folder("published", inference_tasks=tasks), "inference")


@needs_real_data
@pytest.mark.parametrize(
    ("track", "target", "count", "notes"),
    [
        ("track1", "review_writing", 400, 0),
        ("track2", "recommendation", 388, 1),
    ],
)
def test_the_tasks_of_the_challenge_load_as_they_are(load, track, target, count, notes):
    dataset = load(SHARED / "real" / "challenge" / track / "amazon")
    assert [key.target for key in dataset.keys] == [target] * count
    assert dataset.truth_known
    double = [note for note in dataset.notes if "a candidate twice" in note]
    assert len(double) == notes
    assert "no user.json, item.json, review.json: the store answers nothing" in dataset.notes
    context = dataset.sample(0).context
    assert context["uir"].get_user(context["user_id"]) is None
    assert context["uir"].get_reviews(user_id=context["user_id"]) == []


def test_the_simulators_layout_without_truth_is_for_inference(simulator, load):
    for path in (simulator / "groundtruth").iterdir():
        path.unlink()
    assert not load(simulator, "inference").truth_known
    with pytest.raises(BenchmarkError, match=r"expected its ground truth in .*groundtruth_9\.json"):
        load(simulator)
    (simulator / "tasks" / "task_9.json").write_text('{"type": "chat"}', encoding="utf-8")
    with pytest.raises(
        BenchmarkError, match=r"task_9\.json: expected type recommendation or user_"
    ):
        load(simulator)


def test_files_that_are_not_json_are_named(folder, load):
    path = folder()
    (path / "test_tasks.json").write_text("[{", encoding="utf-8")
    with pytest.raises(BenchmarkError, match=r"test_tasks\.json: expected a JSON file"):
        load(path)
    (path / "test_tasks.json").write_text("{}", encoding="utf-8")
    with pytest.raises(BenchmarkError, match=r"expected a JSON list, got an object"):
        load(path)
