"""What a task belongs to."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from pytest_agentbench.benchmarks.behavior_modeling import sample_groups

ITEMS = [
    {"item_id": "y", "source": "yelp", "categories": "Ramen, Noodles"},
    {"item_id": "b", "type": "book", "categories": {}},
    {"item_id": "p"},
]


@pytest.fixture
def groups(folder, load):
    def groups(task, reviews=()):
        data = load(folder(item=ITEMS, review=list(reviews), test_tasks=[{"task_id": 1, **task}]))
        return data.groups(0)

    return groups


def review(item, user="u1"):
    return {"target": "review_writing", "user_id": user, "item_id": item,
            "ground_truth": {"stars": 1, "review": "x"}}  # fmt: skip


def test_source_and_category_are_those_of_the_item(groups):
    found = groups(review("y"))
    assert (found["source"], found["category"]) == ("yelp", "Ramen")
    assert groups(review("b")) == {"source": "goodreads", "activity": "few (under 10)"}
    assert groups(review("p"))["source"] == "unknown"
    ranked = {"target": "recommendation", "user_id": "u1", "candidate_category": "product",
              "candidate_list": ["p", "b"], "ground_truth": "p"}  # fmt: skip
    assert groups(ranked)["source"] == "amazon"


@pytest.mark.parametrize(("count", "word"), [(9, "few"), (10, "some"), (49, "some"), (50, "many")])
def test_activity_counts_the_reviews_of_the_user(groups, count, word):
    written = [{"review_id": str(n), "user_id": "u1", "item_id": "b"} for n in range(count)]
    others = [{"review_id": f"o{n}", "user_id": "u2", "item_id": "b"} for n in range(60)]
    assert groups(review("b"), [*written, *others])["activity"].startswith(word)


def test_a_known_split_is_a_group():
    store = SimpleNamespace(get=lambda *_: None, rows=lambda *_: [])
    task = SimpleNamespace(item_id="x", user_id="u", fields={}, split="simulated")
    assert sample_groups.groups(task, store) == {"source": "unknown", "split": "simulated"}
