"""Too many levels of JSON are refused in the same words, whatever this Python would read."""

from __future__ import annotations

import pytest

from pytest_agentbench.base import bounded_json


@pytest.mark.parametrize("levels", [121, 900, 5_000, 200_000])
@pytest.mark.parametrize(("start", "end"), [("[", "]"), ('{"a":', "}")])
def test_too_many_levels_are_refused_in_the_same_words(levels, start, end):
    with pytest.raises(ValueError, match="more than 100 levels of lists and objects"):
        bounded_json.loads(start * levels + "1" + end * levels)


def test_an_answer_of_a_hundred_levels_has_room_in_a_file():
    found = bounded_json.loads("[" * 120 + "]" * 120)
    for _ in range(119):
        (found,) = found
    assert found == []


def test_options_are_those_of_json():
    assert bounded_json.loads("[1.5]", parse_float=str) == ["1.5"]


def test_levels_are_counted_whatever_they_are_made_of():
    deep = 1
    for _ in range(60):
        deep = {"a": [deep]}
    bounded_json.check_depth(deep)
    with pytest.raises(ValueError, match="levels"):
        bounded_json.check_depth([deep])
