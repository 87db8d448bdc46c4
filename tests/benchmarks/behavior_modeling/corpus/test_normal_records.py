"""Rows as records of the published layout."""

from __future__ import annotations

import datetime
import decimal
import json

from pytest_agentbench.benchmarks.behavior_modeling.corpus import normal_records as normal
from pytest_agentbench.benchmarks.behavior_modeling.corpus.columns import Columns, choose

PLAIN = choose(
    {"reviews": ["user_id", "item_id", "stars", "text", "date"], "items": ["item_id", "categories"]}, {}
)  # fmt: skip


def test_other_columns_stay_and_never_replace_those_that_are_mapped():
    names = {"user_id": "who", "item_id": "what", "stars": "points", "text": "body", "date": "when"}
    row = {"who": 7, "what": 8.0, "points": "5", "body": "Fine.", "when": 1_500_000_000, "text": "other",
           "timestamp": 1, "date": "2001-01-01", "colour": "red"}  # fmt: skip
    record = normal.review_record(row, Columns({"reviews": names}), 3)
    assert record == {
        "review_id": "review-3", "user_id": "7", "item_id": "8", "stars": 5.0, "text": "Fine.",
        "timestamp": 1_500_000_000, "colour": "red",
    }  # fmt: skip
    assert normal.time_of(record) == 1_500_000_000


def test_a_review_of_nobody_or_of_nothing_is_none():
    row = {"user_id": "u", "item_id": "i", "stars": 4, "text": None, "date": "2020-01-01"}
    assert normal.review_record(row, PLAIN, 1)["text"] == ""
    assert normal.review_record({**row, "user_id": None}, PLAIN, 1) is None
    assert normal.review_record({**row, "item_id": " "}, PLAIN, 1) is None


def test_values_of_tables_become_json():
    value = {
        "at": datetime.datetime(2020, 1, 2, 3), "day": datetime.date(2020, 1, 2),
        "price": decimal.Decimal("1.5"), "bad": float("nan"), "list": [float("inf"), (1, "x")], 5: b"x",
    }  # fmt: skip
    made = normal.plain(value)
    assert json.loads(json.dumps(made, allow_nan=False)) == made
    assert made["at"] == "2020-01-02T03:00:00"
    assert made["price"] == 1.5
    assert made["bad"] is None
    assert made["list"] == [None, [1, "x"]]


def test_texts_that_hold_lists_and_mappings_are_opened():
    row = {"item_id": "i", "categories": '["Food", "Tea"]', "features": "[not json"}
    record = normal.item_record(row, PLAIN)
    assert record["categories"] == ["Food", "Tea"]
    assert record["features"] == "[not json"


def test_categories_of_all_sources():
    def categories(value):
        return normal.item_record({"item_id": "i", "categories": value}, PLAIN)["categories"]

    assert categories("Food, Tea") == "Food, Tea"
    assert categories([["Food", "Tea"], ["Tea"]]) == ["Food", "Tea"]
    shelves = [{"name": "to-read", "count": "9"}, *({"name": f"s{n}"} for n in range(30))]
    assert categories(shelves) == [f"s{n}" for n in range(10)]
