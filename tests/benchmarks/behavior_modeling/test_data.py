"""Both layouts of the data, and what an agent gets to see of them."""

from __future__ import annotations

import json

import pytest

from pytest_agentbench.base.errors import BenchmarkError


def plain(context):
    return {name: value for name, value in context.items() if name != "uir"}


@pytest.fixture
def tasks(folder):
    return json.loads((folder() / "test_tasks.json").read_text(encoding="utf-8"))


def test_samples_are_named_after_target_and_task(folder, load):
    assert [str(key) for key in load(folder()).keys] == ["recommendation[17]", "review_writing[18]"]


def test_an_agent_sees_the_task_with_unknown_keys_and_never_the_truth(folder, load, tasks):
    dataset = load(folder())
    sample = dataset.sample(0)
    context = plain(sample.context)
    assert json.loads(json.dumps(context)) == context
    assert sorted(context.pop("candidate_list")) == tasks[0]["candidate_list"]
    kept = {k: v for k, v in tasks[0].items() if k not in ("candidate_list", "ground_truth")}
    assert context == {**kept, "item_id": None}
    assert context["loc"] == [1, 2]
    assert sample.truth["item"] == "i1"
    review = dataset.sample(1)
    assert "Awful." not in json.dumps(plain(review.context))
    assert review.truth == {"stars": 1.0, "review": "Awful."}
    others = {"candidate_category": None, "candidate_list": None}  # of the other target
    assert others.items() <= review.context.items()


def test_samples_are_made_afresh_so_that_no_agent_can_spoil_the_next(folder, load):
    dataset = load(folder())
    sample = dataset.sample(0)
    sample.context["candidate_list"].clear()
    sample.context["loc"].clear()
    assert len(dataset.sample(0).context["candidate_list"]) == 8
    assert dataset.sample(0).context["loc"] == [1, 2]
    assert len(sample.truth["candidates"]) == 8


def test_candidates_are_shuffled_by_the_seed_and_kept_on_demand(folder, load, tasks):
    path = folder()
    orders = [load(path, seed=seed).sample(0).context["candidate_list"] for seed in range(4)]
    assert len({tuple(order) for order in orders}) > 1
    assert load(path, seed=2).sample(0).context["candidate_list"] == orders[2]
    kept = load(path, keep_candidate_order=True)
    assert kept.sample(0).context["candidate_list"] == tasks[0]["candidate_list"]
    assert kept.digest != load(path).digest


def test_shuffling_puts_the_truth_anywhere(load):
    dataset = load("demo")
    places = [
        dataset.candidates(task).index(task.truth)
        for task in dataset.tasks
        if task.target == "recommendation"
    ]
    assert len(set(places)) > 12
    assert 6 < sum(places) / len(places) < 13


def test_a_folder_that_is_no_data_set_says_what_was_expected(tmp_path, folder, load):
    with pytest.raises(BenchmarkError, match=r"expected test_tasks\.json .* got nothing there"):
        load(tmp_path)
    folder()
    assert len(load(tmp_path).keys) == 2  # the only folder in it that is one
    folder(test_tasks=None)
    with pytest.raises(BenchmarkError, match=r"expected test_tasks\.json .*got inference_tasks"):
        load(tmp_path)
    with pytest.raises(BenchmarkError, match=r"expected demo, hub or a folder with tasks"):
        load(tmp_path / "nothing")


def test_scores_are_comparable_only_for_the_same_tasks_and_store(folder, load, tasks):
    first = load(folder()).digest
    assert load(folder("copy")).digest == first
    assert load(folder("more", user=[{"user_id": "u1"}])).digest != first
    tasks[1]["ground_truth"]["stars"] = 2.0
    assert load(folder("other", test_tasks=tasks)).digest != first


def test_tasks_without_a_store_get_no_answers_and_the_header_says_so(folder, load):
    bare = folder("bare", user=None, item=None, review=None)
    dataset = load(bare)
    assert dataset.notes[0] == "no user.json, item.json, review.json: the store answers nothing"
    uir = dataset.sample(0).context["uir"]
    assert uir.get_user("u1") is uir.get_item("i1") is None
    assert uir.get_reviews(user_id="u1") == []
    assert uir.count_reviews(item_id="i1") == 0
    with pytest.raises(
        BenchmarkError, match=r"expected item\.json .* beside user\.json, review\.json"
    ):
        load(folder("part", item=None))


def test_a_store_that_lies_apart_is_named(folder, load):
    whole = folder()
    bare = folder("bare", user=None, item=None, review=None)
    apart = load(bare, store=str(whole))
    assert apart.digest == load(whole).digest != load(bare).digest
    assert apart.sample(0).context["uir"].get_user("u1") == {"user_id": "u1", "name": "Ada"}
    assert not [note for note in apart.notes if "store" in note]


def test_absent_text_models_are_a_note_where_reviews_will_be_scored(folder, load, tasks):
    said = (
        "text models: none (--text-models none); emotion, topic and what needs them will be absent"
    )
    assert said in load(folder()).notes
    assert not load(folder(test_tasks=tasks[:1])).notes
    assert not load(folder(inference_tasks_groundtruth=None), "inference").notes


def test_people_are_what_the_bootstrap_draws(folder, load):
    assert load(folder()).cluster(0) == load(folder()).cluster(1) == "u1"


def test_text_models_are_looked_for_before_the_first_sample(folder, load, tmp_path):
    with pytest.raises(
        BenchmarkError, match=r"expected published, offline, none or a folder|not installed"
    ):
        load(folder(), text_models=str(tmp_path / "nothing"))


def test_the_hub_is_asked_for_the_published_data(monkeypatch, folder, load):
    asked = []
    path = folder()
    monkeypatch.setattr(
        "pytest_agentbench.benchmarks.sources.hub.fetch", lambda *given: asked.append(given) or path
    )
    assert len(load("hub", revision="v1").keys) == 2
    assert asked == [("tsinghua-fib-lab/behavior-modeling-benchmark", "v1")]
