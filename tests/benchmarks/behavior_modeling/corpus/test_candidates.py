"""Places are even, and candidates come from the item's category and from both sides of its popularity."""

from __future__ import annotations

import json
import random
from collections import Counter

import pytest

from pytest_agentbench.benchmarks.behavior_modeling.corpus.candidates import (
    CandidatePool,
    category_tiers,
    even_places,
)
from pytest_agentbench.benchmarks.behavior_modeling.corpus.scratch import Scratch


@pytest.mark.parametrize(
    ("tasks", "candidates"), [(1, 20), (7, 20), (20, 20), (100, 20), (33, 6), (5, 2)]
)
def test_places_are_spread_to_within_one_task(tasks, candidates):
    for seed in range(50):
        places = even_places(tasks, candidates, random.Random(seed))
        assert len(places) == tasks
        for first in range(candidates + 1):
            assert abs(sum(p < first for p in places) - tasks * first / candidates) < 1


@pytest.fixture
def pool(tmp_path):
    """Items 000 to 399: item n has 400 - n reviews; of every second green, a fifth tea, of it a fourth oolong."""
    scratch = Scratch(tmp_path)
    scratch.add_items(
        {"item_id": f"{n:03}", "type": "product",
         "categories": ["green", "tea", "oolong"][: sum(n % k == 0 for k in (2, 10, 40))]}
        for n in range(400)
    )  # fmt: skip
    scratch.database.executemany(
        "INSERT INTO known_item VALUES (?, ?, 3, 0)", [(f"{n:03}", 400 - n) for n in range(400)]
    )
    yield CandidatePool(scratch.database, 5)
    scratch.close()


def draw(pool, item, place, listed_at=2, reviewed=(), seed=1):
    return pool.draw(item, frozenset(reviewed), place, listed_at, random.Random(seed))


@pytest.mark.parametrize("place", range(5))
def test_as_many_are_more_popular_as_the_place_says(pool, place):
    drawn = draw(pool, "200", place)
    assert drawn.category == "product//tea"
    assert drawn.listed[2] == "200"
    assert sorted(drawn.listed)[place] == "200"
    assert {int(item) % 10 for item in drawn.listed} == {0}
    assert all(abs(int(item) - 200) <= 2 * 10 * 4 for item in drawn.listed)


def test_an_item_is_in_the_narrowest_category_with_enough_items_and_in_no_other(pool):
    # Ten items are too few for a group of oolong; forty of tea are enough.
    for item, category in (("200", "tea"), ("210", "tea"), ("202", "green")):
        assert draw(pool, item, 2).category == f"product//{category}"
    assert draw(pool, "201", 2).category == "product"
    for seed in range(50):
        assert all(int(item) % 10 for item in draw(pool, "202", 2, seed=seed).listed)


def test_an_item_with_too_few_others_on_one_side_is_no_truth(pool):
    for item, place in (("030", 0), ("006", 0), ("007", 4), ("360", 4), ("399", 0)):
        assert draw(pool, item, place) is None
    for item in ("040", "012", "009", "350", "391"):
        assert draw(pool, item, 0) is not None


def test_a_corpus_too_small_for_groups_is_one_group(tmp_path):
    scratch = Scratch(tmp_path)
    scratch.add_items({"item_id": f"{n}", "type": "book"} for n in range(9))
    rows = [(f"{n}", 9 - n) for n in range(9)]
    scratch.database.executemany("INSERT INTO known_item VALUES (?, ?, 3, 0)", rows)
    assert draw(CandidatePool(scratch.database, 5), "4", 1).category == "book"
    assert draw(CandidatePool(scratch.database, 6), "4", 1) is None
    scratch.close()


def test_what_the_person_reviewed_is_no_candidate(pool):
    near = [f"{n:03}" for n in range(160, 240, 2) if n != 200]
    for seed in range(20):
        drawn = draw(pool, "200", 2, reviewed=near, seed=seed)
        assert not set(drawn.listed) & set(near)


def test_every_neighbour_is_drawn_as_often_as_the_others(pool):
    seen = Counter(
        item
        for seed in range(2000)
        for item in draw(pool, "201", place=2, seed=seed).listed
        if item != "201"
    )
    assert sorted(seen) == ["193", "195", "197", "199", "203", "205", "207", "209"]
    assert all(abs(count - 1000) < 5 * 500**0.5 for count in seen.values())


def test_places_of_a_city_are_compared_within_it():
    item = {"type": "business", "city": "Tampa", "categories": "Ramen, Noodles"}
    assert category_tiers(json.loads(json.dumps(item))) == [
        ["business/Tampa/Ramen", "business/Tampa/Noodles"],
        ["business/Tampa"],
        ["business//Ramen", "business//Noodles"],
        ["business"],
    ]
