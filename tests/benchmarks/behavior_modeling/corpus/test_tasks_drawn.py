"""Who is asked about, who is left out and why, and the entries of test_tasks.json."""

from __future__ import annotations

import json
import random
import statistics

import pytest

from pytest_agentbench.benchmarks.behavior_modeling.corpus.scratch import Review, Scratch
from pytest_agentbench.benchmarks.behavior_modeling.corpus.tasks_drawn import (
    Recommendation,
    ReviewWriting,
    TasksDrawn,
    draw_tasks,
)

CUT = 100.0


@pytest.fixture
def scratch(tmp_path):
    made = Scratch(tmp_path)
    yield made
    made.close()


def review(user, item, time, text, stars=4.0):
    line = json.dumps({"user_id": user, "item_id": item, "text": text, "stars": stars})
    fit = bool(text) and stars is not None
    return Review(user, item, time, stars, fit, f"{line}\n".encode())


def fill(scratch, reviews, items):
    scratch.add_items({"item_id": one, "type": "product"} for one in items)
    scratch.add_reviews(reviews)
    scratch.index(1)
    scratch.learn(CUT)


def crowd(people, items=30):
    """Each person reviewed one item before the cut and another one after it; item n is the n-th popular."""
    reviews = [
        review(f"fan{n:02}-{k}", f"i{n:02}", 1.0, f"fan {n} {k}")
        for n in range(items)
        for k in range(items - n)
    ]
    for n in range(people):
        before, after = f"i{n % items:02}", f"i{(n + 11) % items:02}"
        reviews += [review(f"p{n:02}", before, 2.0, f"first of {n}")]
        reviews += [review(f"p{n:02}", after, CUT + n, f" last of {n} ", 1.0 + n % 5)]
    return reviews, [f"i{n:02}" for n in range(items)]


def test_nobody_has_two_tasks_and_each_asks_for_the_last_review(scratch):
    fill(scratch, *crowd(40))
    drawn = draw_tasks(scratch, CUT, tasks=11, candidates=4, seed=3)
    assert (len(drawn.recommendations), len(drawn.reviews), len(drawn)) == (6, 5, 11)
    users = [task.user for task in (*drawn.recommendations, *drawn.reviews)]
    assert len(set(users)) == 11
    for task in (*drawn.recommendations, *drawn.reviews):
        assert task.item == f"i{(int(task.user[1:]) + 11) % 30:02}"
    for task in drawn.recommendations:
        assert task.item in task.candidates
        assert len(set(task.candidates)) == 4
        assert f"i{int(task.user[1:]) % 30:02}" not in task.candidates  # reviewed before
        assert task.kind == "product"
    for task in drawn.reviews:
        n = int(task.user[1:])
        assert (task.stars, task.text) == (1.0 + n % 5, f" last of {n} ")


def test_the_true_item_has_neither_few_nor_many_categories_among_its_candidates(scratch):
    rng = random.Random(5)
    names = {
        f"i{n:03}": [f"main{n % 2}", *rng.sample(["a", "b", "c", "d", "e"], rng.randint(0, 3))]
        for n in range(400)
    }
    reviews = [
        review(f"fan{k}", item, 1.0, f"{item} {k}") for n, item in enumerate(names) for k in range(1 + n % 37)
    ]  # fmt: skip
    for n, item in enumerate(names):
        reviews += [review(f"p{n:03}", "i000", 2.0, f"first of {n}")]
        reviews += [review(f"p{n:03}", item, CUT, f"last of {n}")]
    fill(scratch, reviews, [])
    scratch.add_items(
        {"item_id": item, "type": "product", "categories": some} for item, some in names.items()
    )
    tasks = draw_tasks(scratch, CUT, tasks=300, candidates=5, seed=1).recommendations
    assert len(tasks) == 150

    # How many of the others have more categories, how many fewer: on average as many.
    def difference(task):
        own = len(names[task.item])
        return sum((len(names[i]) > own) - (len(names[i]) < own) for i in task.candidates)

    found = [difference(task) for task in tasks]
    error = statistics.stdev(found) / len(found) ** 0.5
    assert abs(statistics.mean(found)) < 3 * error


def test_the_seed_decides_and_nothing_else(scratch, tmp_path):
    fill(scratch, *crowd(40))
    first = draw_tasks(scratch, CUT, 10, 4, seed=3).entries()
    assert draw_tasks(scratch, CUT, 10, 4, seed=3).entries() == first
    assert draw_tasks(scratch, CUT, 10, 4, seed=4).entries() != first


@pytest.mark.parametrize(
    ("last", "reason"),
    [
        (review("ada", "cup", CUT, ""), "their last review has no stars or no text"),
        (review("ada", "cup", CUT, "Good.", None), "their last review has no stars or no text"),
        (review("ada", "new", CUT, "Good."),
         "the item of their last review has no record, or no review before the cut"),
        (review("ada", "odd", CUT, "Good."),
         "the item of their last review has no record, or no review before the cut"),
        (review("ada", "tea", CUT, "Good."), "they had reviewed the item before"),
        (review("ada", "cup", CUT, " Same words. "), "they had written the same text before"),
        (review("ada", "cup", CUT, "Good."), "too few items to compare theirs with"),
    ],
)  # fmt: skip
def test_people_are_left_out_for_a_reason(scratch, last, reason):
    # "new" has a record and no review before the cut; "odd" has a review before it and no record.
    before = [review("ada", "tea", 1.0, "Same words."), review("bob", "cup", 1.0, "x"),
              review("bob", "odd", 1.0, "y")]  # fmt: skip
    fill(scratch, [*before, last], ["tea", "cup", "new"])
    drawn = draw_tasks(scratch, CUT, tasks=1, candidates=3, seed=0)
    assert len(drawn) == 0
    assert dict(drawn.left_out) == {reason: 1}


def test_entries_number_both_kinds_in_one_row():
    drawn = TasksDrawn([Recommendation("u", "b", ("a", "b"), "book")], [ReviewWriting("v", "c", 2.0, "So.")])  # fmt: skip
    assert drawn.entries() == [
        {"task_id": 1, "target": "recommendation", "user_id": "u", "candidate_category": "book",
         "candidate_list": ["a", "b"], "loc": [-1, -1], "ground_truth": {"item_id": "b"}},
        {"task_id": 2, "target": "review_writing", "user_id": "v", "item_id": "c",
         "ground_truth": {"stars": 2.0, "review": "So."}},
    ]  # fmt: skip
