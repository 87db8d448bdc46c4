"""The data card and the printed summary have the same facts, and none of this machine."""

from __future__ import annotations

import dataclasses
import hashlib

import pytest

from pytest_agentbench.benchmarks.behavior_modeling.corpus import card, leak
from pytest_agentbench.benchmarks.behavior_modeling.corpus.columns import Columns
from pytest_agentbench.benchmarks.behavior_modeling.corpus.row_sources import RowSource


@pytest.fixture
def made(tmp_path):
    path = tmp_path / "Books.jsonl"
    path.write_bytes(b'{"a": 1}\n' * 200)
    return card.Made(
        sources={"reviews": RowSource(str(path), "json", (str(path),)),
                 "items": RowSource("hub:o/n", repository="o/n")},
        columns=Columns({"reviews": {"user_id": "reviewerID"}, "items": {"item_id": "asin"}}),
        counts={"users in the store": 12, "reviews in the store": 1234567, "reviews without time": 0},
        cut=951782400.0,
        left_out={},
        rates=[leak.Rate("unchanged", 0.14, 0.03, 0.15), leak.Rate("by popularity", 0.155, 0.03, 0.15),
               leak.Rate("by newest review", 0.9, 0.03, 0.15)],
        margin=0.01,
        tasks=(100, 90),
        candidates=20,
        history=5,
        seed=7,
    )  # fmt: skip


def test_the_moment_of_the_cut_is_in_utc(made):
    assert made.moment == "2000-02-29 00:00:00 UTC"
    assert dataclasses.replace(made, cut=-86400.0).moment == "1969-12-31 00:00:00 UTC"


def test_the_summary_has_the_counts_and_what_was_drawn(made):
    lines = card.summary(made)
    assert lines[:4] == [
        "split at 2000-02-29 00:00:00 UTC",
        "  reviews in the store: 1,234,567",
        "  users in the store: 12",  # and no line of what is 0
        "100 recommendations of 20 candidates, 90 reviews to write",
    ]


def test_only_held_orders_are_in_the_margin(made):
    # Not the 0.75 of the newest review, which is shown for comparison.
    assert "at most chance + 0.005 " in card.summary(made)[-1]
    below = dataclasses.replace(made, rates=made.rates[:1])
    assert "at most chance + 0.000 " in card.summary(below)[-1]


def test_the_card_names_sources_by_content_and_not_by_place(made, tmp_path):
    text = card.text(made)
    digest = hashlib.sha256(b'{"a": 1}\n' * 200).hexdigest()
    assert f"- reviews: `Books.jsonl`, 1,800 bytes, sha256 `{digest}`\n" in text
    assert "- items: `hub:o/n`\n" in text
    assert str(tmp_path) not in text


def test_the_card_has_the_facts_of_the_summary(made):
    text = card.text(
        dataclasses.replace(made, left_out={"they had reviewed the item before": 1500})
    )
    _, *counts, _, _, _, _, _, _, _, margin = card.summary(made)
    assert len(counts) == 2
    for line in counts:
        assert f"- {line.strip()}\n" in text
    assert f"In short: {margin}.\n" in text
    assert "\n".join(leak.table(made.rates)) in text
    for fact in ("with seed 7.", "The corpus is cut at 2000-02-29 00:00:00 UTC.", "at least 5 before it",
                 "- recommendation tasks: 100, of 20 candidates each", "- review writing tasks: 90",
                 "- reviews: user_id=reviewerID\n- items: item_id=asin\n",
                 "- they had reviewed the item before: 1,500\n"):  # fmt: skip
        assert fact in text
    assert "- nobody\n" in card.text(made)
