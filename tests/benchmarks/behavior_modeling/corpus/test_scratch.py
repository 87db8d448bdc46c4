"""The corpus on disk: what is known before a cut, who can be asked about, and lines back unchanged."""

from __future__ import annotations

import json

import pytest

from pytest_agentbench.benchmarks.behavior_modeling.corpus.scratch import Review, Scratch


def review(user, item, time, stars=3.0):
    line = json.dumps({"user_id": user, "item_id": item, "text": f"{user} on {item}, schön"})
    return Review(user, item, time, stars, True, f"{line}\n".encode())


REVIEWS = [  # not in the order of time
    review("ada", "tea", 30.0),
    review("bob", "tea", 10.0, 5.0),
    review("ada", "cup", 10.0, None),
    review("ada", "pot", 20.0),
    review("bob", "cup", 40.0),
    review("cyd", "tea", 10.0, 2.0),
]


@pytest.fixture
def scratch(tmp_path):
    made = Scratch(tmp_path)
    made.add_reviews(iter(REVIEWS))
    yield made
    made.close()


def test_further_rows_of_an_item_are_counted_as_copies_or_others(scratch):
    rows = [("tea", 0), ("cup", 1), ("tea", 0), ("tea", 2), ("tea", 0)]
    scratch.add_items({"item_id": one, "n": n} for one, n in rows)
    kept = scratch.database.execute("SELECT json, copies, others FROM item ORDER BY n").fetchall()
    assert [(json.loads(text), *counts) for text, *counts in kept] == [
        ({"item_id": "tea", "n": 0}, 2, 1),
        ({"item_id": "cup", "n": 1}, 0, 0),
    ]


def test_of_repeated_reviews_the_first_is_kept_and_lines_stay_with_theirs(tmp_path):
    scratch = Scratch(tmp_path)
    keys = [
        (b"1", b"a"),
        (b"2", b"b"),
        (b"1", b"c"),
        (None, b"d"),
        (None, b"e"),
        (b"3", b"b"),
        (b"4", b"f"),
    ]
    given = [
        review("ada", f"item{n}", float(n))._replace(given=one, content=other)
        for n, (one, other) in enumerate(keys)
    ]
    scratch.add_reviews(given)
    assert scratch.drop_repeated() == 2  # the third by its id, the sixth by its content
    assert scratch.reviews == 5
    assert list(scratch.lines_before(9.0)) == [given[n].line for n in (0, 1, 3, 4, 6)]
    assert list(scratch.lines_before(4.0)) == [given[n].line for n in (0, 1, 3)]
    scratch.close()


def test_lines_before_a_cut_come_back_as_they_were_and_in_their_order(scratch):
    # The cut itself is not before the cut.
    assert list(scratch.lines_before(20.0)) == [REVIEWS[n].line for n in (1, 2, 5)]
    assert list(scratch.lines_before(41.0)) == [one.line for one in REVIEWS]
    assert list(scratch.lines_before(10.0)) == []


def test_a_line_is_found_again_by_where_it_begins(scratch):
    starts = scratch.database.execute("SELECT start FROM review ORDER BY n").fetchall()
    # Umlauts: bytes, not characters, are counted.
    assert [scratch.text_at(start) for (start,) in starts] == [json.loads(r.line) for r in REVIEWS]


@pytest.mark.parametrize(
    ("history", "cut", "people"),
    [
        (1, 30.0, ["ada", "bob"]),  # ada has one at 10, and her last is at the cut itself
        (1, 31.0, ["bob"]),  # ada's last one came before
        (1, 10.0, []),  # nobody wrote anything before
        (2, 30.0, ["ada"]),  # bob has two in all: one before the last
        (2, 20.0, []),  # ada's second was written at the cut, not before
        (3, 30.0, []),  # she has three in all
    ],
)
def test_people_have_enough_before_the_cut_and_their_last_one_after(scratch, history, cut, people):
    scratch.index(history)
    found = scratch.people(cut)
    assert [user for user, _ in found] == people
    last = {"ada": 1, "bob": 5}  # numbers of reviews, from 1
    assert [number for _, number in found] == [last[user] for user in people]


def test_of_two_reviews_at_one_time_the_later_in_the_source_is_the_last(tmp_path):
    scratch = Scratch(tmp_path)
    scratch.add_reviews([review("ada", "a", 1.0), review("ada", "b", 5.0), review("ada", "c", 5.0)])
    scratch.index(1)
    assert scratch.people(5.0) == [("ada", 3)]
    scratch.close()


def test_only_reviews_before_the_cut_are_known(scratch):
    scratch.learn(40.0)
    scratch.learn(30.0)  # an earlier cut forgets what the later one knew
    known = scratch.database.execute("SELECT * FROM known_item ORDER BY id").fetchall()
    # A review without stars counts, and has no part in the mean.
    assert known == [("cup", 1, None, 10.0), ("pot", 1, 3.0, 20.0), ("tea", 2, 3.5, 10.0)]
    scratch.learn_users(30.0)
    known = scratch.database.execute(
        "SELECT id, count, mean FROM known_user ORDER BY id"
    ).fetchall()
    assert known == [("ada", 2, 3.0), ("bob", 1, 5.0), ("cyd", 1, 2.0)]


def test_rows_are_counted_with_a_condition_or_without(scratch):
    assert scratch.reviews == scratch.count("review") == 6
    assert scratch.count("review", "time >= ? AND user = ?", 20.0, "ada") == 2
