"""The demo data: what is in it, that its script makes it, and what the baselines reach on it."""

from __future__ import annotations

import gzip
import json
from collections import Counter

import pytest
from demo_data import make_behavior_modeling as make_demo

from pytest_agentbench.benchmarks.behavior_modeling.baselines import BASELINES
from pytest_agentbench.benchmarks.behavior_modeling.benchmark import BehaviorModeling
from pytest_agentbench.benchmarks.behavior_modeling.data import DEMO_FOLDER
from pytest_agentbench.benchmarks.behavior_modeling.items import categories
from pytest_agentbench.benchmarks.behavior_modeling.scoring import score_run
from pytest_agentbench.benchmarks.behavior_modeling.store import UserItemReviews
from pytest_agentbench.metrics.estimator import Absent


def test_the_script_makes_the_committed_files():
    made = make_demo.demo_files()
    truth = json.loads(made["inference_tasks_groundtruth.json"])[0]["ground_truth"]
    assert list(truth) == ["item_id"]  # as published
    assert {path.name for path in DEMO_FOLDER.iterdir()} == {f"{name}.gz" for name in made}
    for name, text in made.items():
        kept = gzip.decompress((DEMO_FOLDER / f"{name}.gz").read_bytes()).decode("utf-8")
        assert kept == text, name
    assert sum(path.stat().st_size for path in DEMO_FOLDER.iterdir()) < 200_000


@pytest.mark.parametrize("mode", ["test", "inference"])
def test_there_are_sixty_tasks_of_each_kind_over_three_sources(load, mode):
    dataset = load("demo", mode)
    assert "synthetic" in dataset.description
    counts = Counter(task.target for task in dataset.tasks)
    assert counts == {"recommendation": 60, "review_writing": 60}
    sources = Counter(
        dataset.store.get("item", task.item_id or task.truth)["type"] for task in dataset.tasks
    )
    assert sources == {"book": 40, "product": 40, "business": 40}
    assert dataset.store.get("user", dataset.tasks[0].user_id)["synthetic"] is True


def test_records_look_like_those_of_their_sources(load):
    """The kinds of values in Goodreads' books, Amazon's products and Yelp's businesses."""
    store = load("demo").store
    book, product, business = (
        store.get("item", name) for name in ("bo-travel-03", "pr-toys-03", "bu-ramen-03")
    )
    for number in ("average_rating", "ratings_count", "num_pages", "publication_year"):
        assert isinstance(book[number], str)
        assert float(book[number]) > 0
    assert {"name": "travel"}.items() <= book["popular_shelves"][1].items()
    assert "categories" not in book
    assert product["categories"] == ["Toys & Games", "Toys"]
    assert isinstance(product["details"], dict)
    assert isinstance(product["average_rating"], float)
    assert business["categories"] == "Ramen, Restaurants"
    assert {type(value) for value in business["attributes"].values()} == {str}
    assert [categories(item) for item in (book, product, business)] == [
        ["travel"], ["Toys & Games", "Toys"], ["Ramen", "Restaurants"],
    ]  # fmt: skip


def test_reviews_have_the_dates_of_their_sources_and_each_is_read(load):
    dataset = load("demo")
    uir = UserItemReviews(dataset.store)
    reviews = uir.get_reviews(user_id="demo-user-002")
    keys = {"goodreads": "date_added", "amazon": "timestamp", "yelp": "date"}
    assert {review["source"] for review in reviews} == set(keys)
    assert all(keys[review["source"]] in review for review in reviews)
    assert (
        uir.get_reviews(user_id="demo-user-002", after="2019-01-01", before="2024-01-01") == reviews
    )


def test_statistics_leave_out_what_tasks_ask_about(load):
    """Or an item's mean stars would tell something of the review that is to be written."""
    tasks = [task for mode in ("test", "inference") for task in load("demo", mode).tasks]
    store = load("demo").store
    asked = {(task.user_id, task.item_id or task.truth) for task in tasks}
    item = next(task.item_id for task in tasks if (task.item_id or "").startswith("bu-"))
    about = UserItemReviews(store).get_reviews(item_id=item)
    known = [review for review in about if (review["user_id"], item) not in asked]
    assert len(known) < len(about)
    assert store.get("item", item)["review_count"] == len(known)


def test_no_pair_is_asked_in_both_modes(load):
    pairs = [
        {(t.user_id, t.item_id or t.truth) for t in load("demo", mode).tasks}
        for mode in ("test", "inference")
    ]
    assert len(pairs[0]) == len(pairs[1]) == 120
    assert not pairs[0] & pairs[1]


@pytest.mark.parametrize("name", BASELINES)
@pytest.mark.parametrize("mode", ["test", "inference"])
def test_every_baseline_answers_both_kinds(load, answered, name, mode):
    dataset = load("demo", mode)
    first = answered(dataset, BASELINES[name])
    assert [r.answer for r in answered(dataset, BASELINES[name])] == [r.answer for r in first]
    got = score_run(dataset, first)("documented", None)
    assert not isinstance(got["average_hit_rate"], Absent)
    assert not isinstance(got["preference_estimation"], Absent)


def test_knowing_the_person_helps(load, answered):
    """Over both modes: one of them alone is too small to tell taste from luck."""
    rates, errors = Counter(), Counter()
    for mode in ("test", "inference"):
        dataset = load("demo", mode)
        for name in ("random", "candidate-order", "user-category", "constant", "user-mean"):
            score = score_run(dataset, answered(dataset, BASELINES[name]))
            rates[name] += score("published-0.1.4", None)["average_hit_rate"] / 2
            errors[name] += score("extended", None)["star_rmse"] / 2
    assert rates["user-category"] > 0.24
    assert 0.08 < rates["random"] < 0.22
    assert 0.08 < rates["candidate-order"] < 0.22
    # A mean is best by squares; four stars, the median of the demo, by absolute errors.
    assert errors["user-mean"] < errors["constant"]


def test_a_random_order_is_chance():
    candidates = [f"i{n}" for n in range(20)]
    first = Counter(
        BASELINES["random"](
            {
                "target": "recommendation",
                "task_id": n,
                "user_id": f"u{n}",
                "candidate_list": candidates,
            }
        )["item_list"][0]
        for n in range(4000)
    )
    assert len(first) == 20
    assert all(130 < count < 270 for count in first.values())  # five standard deviations from 200


def test_somebody_unknown_is_answered_all_the_same(folder, load):
    tasks = [
        {"task_id": 1, "target": "review_writing", "user_id": "new", "item_id": "i7",
         "ground_truth": {"stars": 3, "review": "x"}},
        {"task_id": 2, "target": "recommendation", "user_id": "new", "candidate_category": "book",
         "candidate_list": ["i1", "unknown"], "ground_truth": "i1"},
    ]  # fmt: skip
    dataset = load(folder(test_tasks=tasks))
    for agent in BASELINES.values():
        for index in range(2):
            sample = dataset.sample(index)
            assert BehaviorModeling().check(sample, agent(sample.context))


def test_the_agent_template_runs_and_beats_nothing_by_accident(load, answered):
    namespace: dict = {}
    exec(BehaviorModeling().agent_template(), namespace)
    records = answered(load("demo"), namespace["Agent"]().forward)
    assert len(records) == 120
    assert json.dumps([record.answer for record in records])
