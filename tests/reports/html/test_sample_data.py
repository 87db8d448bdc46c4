"""The samples of a report as JSON: safe in a script element, and of bounded size."""

from __future__ import annotations

import json

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pytest_agentbench.reports.html import sample_data


@given(st.recursive(st.text() | st.floats(allow_nan=False, allow_infinity=False) | st.none(),
                    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))  # fmt: skip
def test_embedded_json_keeps_every_value_and_has_no_character_that_could_end_it(value):
    text = sample_data.embedded(value)
    assert json.loads(text) == value
    assert not set(text) & set("<>&\u2028\u2029")
    text.encode("utf-8")


def test_lone_surrogates_are_escaped_too():
    assert sample_data.embedded("a\ud800b\udfff") == '"a\\ud800b\\udfff"'


def test_short_texts_leave_their_room_to_long_ones():
    long = "y" * 900
    fitted = sample_data._fitted([("a", "x" * 100), ("b", long), ("c", long)], 1000)
    lengths = [len(text) for _, text, _ in fitted]
    assert lengths[0] == 100
    assert 400 < lengths[1] == lengths[2] < 460
    assert [left for _, _, left in fitted] == [0, 900 - lengths[1], 900 - lengths[2]]


def test_long_lists_of_numbers_are_cut_and_texts_are_not():
    numbers = [[n, 2 * n] for n in range(1000)]
    whole = json.dumps(numbers)
    shown = sample_data.text_of({"a": numbers, "b": [1, 2], "c": ["word"] * 1000})
    first, second, third = shown.splitlines()
    kept, _, rest = first.removeprefix("a: ").partition("… (")
    assert whole.startswith(kept)
    assert len(kept) == sample_data.MOST_NUMBERS
    assert rest == f"{len(whole) - len(kept):,} more characters)"
    assert second == "b: [1, 2]"
    assert third == f"c: {json.dumps(['word'] * 1000)}"


def test_a_persons_day_is_cut_too_though_it_has_words():
    day = {"rows": [[900 * n, 500_000_000 + n, "home activity", 12.5 * n, 3.0] for n in range(101)]}
    whole = json.dumps(day)
    shown = sample_data.text_of({"day": day}).removeprefix("day: ")
    assert shown == f"{whole[: sample_data.MOST_ROWS]}… ({len(whole) - sample_data.MOST_ROWS:,} more characters)"  # fmt: skip
    reviews = [{"stars": n % 5, "text": f"We came {n} times and liked it."} for n in range(200)]
    assert sample_data.text_of({"reviews": reviews}) == f"reviews: {json.dumps(reviews)}"


@given(st.lists(st.lists(st.integers(-(2**70), 2**70) | st.just("1,2"))))
def test_rows_of_numbers_are_the_json_that_python_writes(rows):
    assert sample_data.json_text(rows) == json.dumps(rows)


def test_an_array_is_shown_as_its_rows():
    assert sample_data.text_of(np.array([[1, -2], [3, 4]], np.int16)) == "[[1, -2], [3, 4]]"
