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
    """Items 000 to 199: item n has 200 - n reviews; every second is green, every fifth of them tea."""
    scratch = Scratch(tmp_path)
    scratch.add_items(
        {"item_id": f"{n:03}", "type": "product",
         "categories": ["green", "tea"][: (n % 2 == 0) + (n % 10 == 0)]}
        for n in range(200)
    )  # fmt: skip
    scratch.database.executemany(
        "INSERT INTO known_item VALUES (?, ?, 3, 0)", [(f"{n:03}", 200 - n) for n in range(200)]
    )
    yield CandidatePool(scratch.database)
    scratch.close()


def draw(pool, item, place, listed_at=2, count=5, reviewed=(), seed=1):
    return pool.draw(item, frozenset(reviewed), place, listed_at, count, random.Random(seed))


@pytest.mark.parametrize("place", range(5))
def test_as_many_are_more_popular_as_the_place_says(pool, place):
    drawn = draw(pool, "100", place)
    assert drawn.category == "product//tea"
    assert drawn.listed[2] == "100"
    assert sorted(drawn.listed)[place] == "100"
    assert {int(item) % 10 for item in drawn.listed} == {0}
    assert all(abs(int(item) - 100) <= 2 * 10 * 4 for item in drawn.listed)


def test_a_category_with_too_few_items_on_one_side_gives_way_to_a_wider_one(pool):
    assert draw(pool, "030", 0).category == "product//green"
    assert draw(pool, "005", 0).category == "product"
    assert draw(pool, "003", 0) is None
    assert draw(pool, "196", 4) is None


def test_what_the_person_reviewed_is_no_candidate(pool):
    near = [f"{n:03}" for n in range(60, 140, 2) if n != 100]
    for seed in range(20):
        drawn = draw(pool, "100", 2, reviewed=near, seed=seed)
        assert not set(drawn.listed) & set(near)


def test_every_neighbour_is_drawn_as_often_as_the_others(pool):
    seen = Counter(
        item
        for seed in range(2000)
        for item in draw(pool, "101", place=2, seed=seed).listed
        if item != "101"
    )
    assert sorted(seen) == ["097", "098", "099", "100", "102", "103", "104", "105"]
    assert all(abs(count - 1000) < 5 * 500**0.5 for count in seen.values())


def test_places_of_a_city_are_compared_within_it():
    item = {"type": "business", "city": "Tampa", "categories": "Ramen, Noodles"}
    assert category_tiers(json.loads(json.dumps(item))) == [
        ["business/Tampa/Ramen", "business/Tampa/Noodles"],
        ["business/Tampa"],
        ["business//Ramen", "business//Noodles"],
        ["business"],
    ]
