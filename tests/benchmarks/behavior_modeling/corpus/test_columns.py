"""Which column holds what, in the corpora people have."""

from __future__ import annotations

import pytest

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks.behavior_modeling.corpus.columns import choose, parse_map

YELP = {
    "reviews": ["review_id", "user_id", "business_id", "stars", "useful", "text", "date"],
    "items": ["business_id", "name", "stars", "attributes", "categories"],
    "users": ["user_id", "name", "review_count"],
}
AMAZON_2018 = {
    "reviews": ["overall", "verified", "reviewTime", "reviewerID", "asin", "reviewText", "unixReviewTime"],
    "items": ["asin", "title", "category"],
}  # fmt: skip


def test_yelp_and_amazon_2018_are_recognised():
    yelp = choose(YELP, {})
    assert (yelp.source, yelp.kind) == ("yelp", "business")
    assert yelp.lines() == [
        "reviews: user_id=user_id, item_id=business_id, stars=stars, text=text, date=date, review_id=review_id",
        "items: item_id=business_id, categories=categories",
        "users: user_id=user_id",
    ]
    amazon = choose(AMAZON_2018, {})
    assert amazon.tables["reviews"] == {
        "user_id": "reviewerID", "item_id": "asin", "stars": "overall", "text": "reviewText",
        "date": "unixReviewTime",
    }  # fmt: skip
    assert amazon.tables["items"] == {"item_id": "asin", "categories": "category"}


def test_the_item_column_that_both_tables_have_is_taken():
    found = {
        "reviews": ["user_id", "asin", "parent_asin", "rating", "text", "timestamp"],
        "items": ["asin"],
    }
    assert choose(found, {}).tables["reviews"]["item_id"] == "asin"
    assert choose(found, {"reviews.item_id": "parent_asin"}).tables == {
        "reviews": {"user_id": "user_id", "item_id": "parent_asin", "stars": "rating", "text": "text",
                    "date": "timestamp"},
        "items": {"item_id": "asin"},
    }  # fmt: skip


def test_files_of_other_corpora_have_no_origin():
    found = {"reviews": ["user_id", "item_id", "stars", "text", "date"], "items": ["item_id"]}
    assert (choose(found, {}).source, choose(found, {}).kind) == (None, None)


@pytest.mark.parametrize(
    "text", ["user_id", "user_id=", "=x", "colour=x", "items.stars=x", "a.user_id=x", ""]
)
def test_a_map_of_unknown_fields_is_refused(text):
    with pytest.raises(ValueError, match="expected FIELD=COLUMN with a field of user_id, item_id"):
        parse_map(text)


def test_a_mapped_column_that_is_not_there_is_an_error():
    with pytest.raises(
        BenchmarkError, match=r"expected a column 'x', got 'asin', 'title', 'category' in --items"
    ):
        choose(AMAZON_2018, {"items.item_id": "x"})
