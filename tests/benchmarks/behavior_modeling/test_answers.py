"""What is accepted as an answer, and what each refusal says."""

from __future__ import annotations

import pytest

from pytest_agentbench.base.errors import InvalidAnswer
from pytest_agentbench.benchmarks.behavior_modeling.answers import check


@pytest.fixture
def samples(folder, load):
    dataset = load(folder())
    return {"rank": dataset.sample(0), "review": dataset.sample(1)}


@pytest.mark.parametrize(
    ("answer", "ranked"),
    [
        ({"item_list": ["i3", "i1"]}, ["i3", "i1"]),
        ({"item_list": ("i1",), "thought": "?"}, ["i1"]),
        (["i2"], ["i2"]),
    ],
)
def test_rankings_are_accepted(samples, answer, ranked):
    assert check(samples["rank"], answer) == {"item_list": ranked}


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({"items": ["i1"]}, r"expected \{\"item_list\": .*got \{'items'"),
        ({"item_list": "i1"}, r"with a list, got \{'item_list': 'i1'\}"),
        ("i1", "with a list, got 'i1'"),
        (None, "with a list, got None"),
        ({"item_list": []}, "at least one"),
        ({"item_list": ["i1", "i99"]}, r"out of the 8 candidates \(place 2\), got 'i99'"),
        ({"item_list": ["i1", "i2", "i1"]}, r"at most once \(place 3\), got 'i1'"),
        ({"item_list": ["i1", ["i2"]]}, r"with ids \(place 2\), got \['i2'\]"),
        ({"item_list": [True]}, r"with ids \(place 1\), got True"),
    ],
)
def test_rankings_are_refused(samples, answer, message):
    with pytest.raises(InvalidAnswer, match=message):
        check(samples["rank"], answer)


def test_an_agent_cannot_add_candidates(samples):
    samples["rank"].context["candidate_list"].append("mine")
    with pytest.raises(InvalidAnswer, match="out of the 8 candidates"):
        check(samples["rank"], {"item_list": ["mine"]})


@pytest.mark.parametrize("stars", [4, 4.5, "4.5", " 3 ", 1, 5.0])
def test_stars_are_numbers_or_numeric_texts(samples, stars):
    checked = check(samples["review"], {"stars": stars, "review": "Fine.", "more": 1})
    assert checked == {"stars": float(stars), "review": "Fine."}


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ("five stars", r"expected \{\"stars\": 1 to 5, \"review\": \"text\"\}, got 'five stars'"),
        ({"stars": 5}, r"expected \{\"stars\""),
        ({"stars": float("nan"), "review": "x"}, "stars to be a number from 1 to 5, got nan"),
        ({"stars": "nan", "review": "x"}, "got 'nan'"),
        ({"stars": float("inf"), "review": "x"}, "got inf"),
        ({"stars": 0.9, "review": "x"}, "got 0.9"),
        ({"stars": 6, "review": "x"}, "got 6"),
        ({"stars": True, "review": "x"}, "got True"),
        ({"stars": None, "review": "x"}, "got None"),
        ({"stars": "five", "review": "x"}, "got 'five'"),
        ({"stars": 10**400, "review": "x"}, "stars to be a number"),
        ({"stars": 5, "review": " \n"}, "a text that is not empty"),
        ({"stars": 5, "review": ["x"]}, r"review to be a text, got \['x'\]"),
    ],
)
def test_reviews_are_refused(samples, answer, message):
    with pytest.raises(InvalidAnswer, match=message):
        check(samples["review"], answer)
