"""Counts and averages leave out what is hidden: they equal those of a world without it."""

from __future__ import annotations

from statistics import mean

from hypothesis import given
from hypothesis import strategies as st

from pytest_agentbench.benchmarks.behavior_modeling.visible_totals import without_hidden

STARS = st.lists(st.integers(1, 5), min_size=1, max_size=12)


def goodreads(stars):
    return {
        "average_rating": f"{mean(stars):.2f}",
        "ratings_count": str(len(stars)),
        "text_reviews_count": str(len(stars)),
    }


def yelp_user(stars):
    return {"review_count": len(stars), "average_stars": round(float(mean(stars)), 2)}


@given(visible=STARS, hidden=STARS)
def test_over_the_reviews_of_the_store_they_are_those_of_the_visible_ones(visible, hidden):
    assert without_hidden(goodreads(visible + hidden), visible, hidden) == goodreads(visible)
    left = without_hidden(yelp_user(visible + hidden), visible, hidden)
    assert left["review_count"] == len(visible)
    assert abs(left["average_stars"] - mean(visible)) <= 0.0501  # one decimal


@given(visible=STARS, hidden=STARS, elsewhere=st.lists(st.integers(1, 5), min_size=50, max_size=99))
def test_over_more_reviews_than_the_store_has_they_lose_the_hidden_ones(visible, hidden, elsewhere):
    record = goodreads(visible + hidden + elsewhere)
    left = without_hidden(record, visible, hidden)
    rest = goodreads(visible + elsewhere)
    assert left["ratings_count"] == rest["ratings_count"]
    # The average is known to two decimals, and so is the sum behind it.
    assert abs(float(left["average_rating"]) - float(rest["average_rating"])) <= 0.02


def test_what_nobody_counted_stays():
    record = {"title": "A Book", "average_rating": "", "ratings_count": None, "stars": True}
    assert without_hidden(dict(record), [4.0], [5.0]) == record
    assert without_hidden({"review_count": 9}, [4.0], []) == {"review_count": 9}


def test_half_stars_stay_half_stars():
    left = without_hidden({"stars": 4.0, "review_count": 4}, [5.0, 5.0, 3.0], [3.0])
    assert left == {"stars": 4.5, "review_count": 3}


def test_a_review_without_stars_is_counted_but_not_averaged():
    record = {"ratings_count": "3", "average_rating": "3.00"}
    left = without_hidden(record, [5.0, None], [1.0])
    assert left == {"ratings_count": "2", "average_rating": "5.00"}


def test_where_nothing_is_left_the_average_is_none_of_the_stars():
    assert without_hidden({"review_count": 1, "average_stars": 4.0}, [], [4.0]) == {
        "review_count": 0,
        "average_stars": 0.0,
    }
