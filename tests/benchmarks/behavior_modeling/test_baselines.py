"""Each baseline by hand, on five items of which one person has reviewed three."""

from __future__ import annotations

import pytest

from pytest_agentbench.benchmarks.behavior_modeling.baselines import BASELINES

ITEMS = [
    {"item_id": "tea", "categories": ["Tea"]},
    {"item_id": "pot", "categories": ["Tea", "Kitchen"]},
    {"item_id": "pan", "categories": ["Kitchen"]},
    {"item_id": "book", "categories": ["Books"]},
    {"item_id": "mug", "categories": ["Tea"]},
]
# Ada likes tea, owns a pan and does not like it; everybody reviews the book.
REVIEWS = [
    {"review_id": "1", "user_id": "ada", "item_id": "mug", "stars": 5.0, "text": ""},
    {"review_id": "2", "user_id": "ada", "item_id": "pan", "stars": 2.0, "text": ""},
    {"review_id": "3", "user_id": "bob", "item_id": "book", "stars": 4.0, "text": ""},
    {"review_id": "4", "user_id": "cy", "item_id": "book", "stars": 2.0, "text": ""},
    {"review_id": "5", "user_id": "cy", "item_id": "pot", "stars": 2.0, "text": ""},
]
CANDIDATES = ["book", "pot", "tea"]


@pytest.fixture
def ask(folder, load):
    """What a baseline answers to a person: a ranking of the candidates, or a review of an item."""

    def ask(name, user, item=None):
        task = {"task_id": 1, "user_id": user}
        if item is None:
            task |= {"target": "recommendation", "candidate_category": "product",
                     "candidate_list": CANDIDATES, "ground_truth": "tea"}  # fmt: skip
        else:
            task |= {"target": "review_writing", "item_id": item,
                     "ground_truth": {"stars": 3.0, "review": "Fine."}}  # fmt: skip
        users = [{"user_id": user} for user in ("ada", "bob", "cy", "new")]
        place = folder(user=users, item=ITEMS, review=REVIEWS, test_tasks=[task])
        dataset = load(place, keep_candidate_order=True)
        return BASELINES[name](dataset.sample(0).context)

    return ask


@pytest.mark.parametrize(
    ("name", "user", "expected"),
    [
        ("candidate-order", "ada", CANDIDATES),
        ("popular", "ada", ["book", "pot", "tea"]),  # 2, 1 and 0 reviews
        ("user-category", "ada", ["tea", "pot", "book"]),  # Tea 3: 3, (3 + 0) / 2, 0
        ("user-category", "new", ["book", "pot", "tea"]),  # nothing known: as popular
    ],
)
def test_rankings(ask, name, user, expected):
    assert ask(name, user) == {"item_list": expected}


@pytest.mark.parametrize("name", ["random", "constant", "user-mean"])
def test_a_random_order_has_every_candidate_and_is_the_same_in_every_run(ask, name):
    ranked = ask(name, "ada")["item_list"]
    assert sorted(ranked) == sorted(CANDIDATES)
    assert ask(name, "ada")["item_list"] == ranked


@pytest.mark.parametrize(
    ("name", "user", "item", "stars", "words"),
    [
        ("constant", "cy", "tea", 4.0, "I liked it"),
        ("user-mean", "ada", "tea", 3.5, "I liked it"),  # (5 + 2) / 2, rounded up to four
        ("user-mean", "cy", "tea", 2.0, "disappointed"),
        ("user-mean", "new", "book", 3.0, "okay"),  # the item's, for the person has none
        ("user-mean", "new", "tea", 4.0, "I liked it"),  # nobody's: the usual stars
        ("popular", "cy", "tea", 2.0, "disappointed"),  # a way to recommend reviews as user-mean
    ],
)
def test_reviews(ask, name, user, item, stars, words):
    answer = ask(name, user, item)
    assert answer["stars"] == stars
    assert words in answer["review"]


def test_a_baseline_does_not_see_the_review_that_is_asked_for(ask):
    """Ada's five stars for the mug are hidden where the mug is the item in question."""
    assert ask("user-mean", "ada", "mug")["stars"] == 2.0
