"""Categories and kinds of items, in the formats of three sources."""

from __future__ import annotations

import pytest

from pytest_agentbench.benchmarks.behavior_modeling.items import categories, kind


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("Ramen, Noodles ,, Bars", ["Ramen", "Noodles", "Bars"]),  # Yelp's
        (["Beauty", " Hair "], ["Beauty", "Hair"]),  # Amazon's
        ({"fiction": 9, "history": 2}, ["fiction", "history"]),  # shelves of Goodreads
        ([7, ""], ["7"]),
        (None, []),
        (7, []),
        ("", []),
    ],
)
def test_categories_of_every_source(given, expected):
    assert categories({"categories": given}) == expected


def test_an_item_without_categories_or_no_item_has_none():
    assert categories({}) == categories(None) == []


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ({"source": "goodreads"}, "book"),
        ({"source": "Amazon"}, "product"),
        ({"source": "yelp"}, "business"),
        ({"type": "business", "source": "amazon"}, "business"),
        ({"type": "", "source": "yelp"}, "business"),
        ({"source": "Steam"}, "steam"),
        ({}, "unknown"),
        (None, "unknown"),
    ],
)
def test_the_kind_is_the_items_own_or_that_of_its_source(item, expected):
    assert kind(item) == expected
