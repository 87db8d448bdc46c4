"""Which failures are alike, and when the first samples of a run have all failed so."""

from __future__ import annotations

import pytest

from pytest_agentbench.runs.alike import FirstFailures, kind, kind_of
from pytest_agentbench.runs.record import Record

ALIKE = [
    ("KeyError: 'home'", "KeyError: 'work'"),
    ("no answer of uid[1]", "no answer of uid[2]"),
    ("user 1 is not known", "user 22 is not known"),
    ("<Agent at 0x7f3a10>", "<Agent at 0x55b0ff>"),
    ("request 6f9619ff-8b86-d011-b42d-00c04fc964ff", "request aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeee1"),
    ("expected a list, got [1, 2, 3]", "expected a list, got [4.5, -1e9]"),
    ("expected stars, got {'a': 1, 'b': 2}", "expected stars, got {'text': 'it\\'s \"good\"'}"),
    ('got "a text"', "got 'another text'"),
    ("connect to 127.0.0.1:8001 failed\nafter 2 s", "connect to 127.0.0.1:8002 failed after 31.5 s"),
    ("expected a number; the model's last reply ends with 'So 4'", "expected a number; the model's last reply ends with 'I think'"),
]  # fmt: skip
DIFFERENT = [
    ("KeyError: 'home'", "ValueError: 'home'"),
    ("it isn't there, and that's it", "it isn't here, and that's it"),
    ("status 500: no model", "status 500: no key"),
    ("expected a list, got 1", "expected a text, got 1"),
]


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_what_belongs_to_one_sample_makes_no_difference(one, other):
    assert kind("error", "uid[1]", one) == kind("error", "uid[2]", other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_other_words_do(one, other):
    assert kind("error", "uid[1]", one) != kind("error", "uid[1]", other)


def test_the_status_does_and_only_errors_and_invalid_answers_have_a_kind():
    assert kind("error", "uid[1]", "x") != kind("invalid", "uid[1]", "x")
    assert kind_of(Record("b", "uid[1]", "invalid", error="x")) == kind("invalid", "uid[2]", "x")
    assert kind("ok", "uid[1]", None) is None
    assert kind("timeout", "uid[1]", "no answer within 3 s") is None


def first_of(*came, most=3, before=()):
    found = FirstFailures(most, before)
    for number, (status, error) in enumerate(came):
        found.add(status, f"uid[{number}]", error)
    return found


def test_so_many_alike_are_enough_and_the_first_error_is_told():
    assert not first_of(("error", "no 1"), ("error", "no 2")).reached
    found = first_of(("error", "no 1"), ("error", "no 2"), ("error", "no 3"), ("ok", None))
    assert found.told == (
        "the first 3 samples failed in the same way: no 1 (--max-identical-errors=0 goes on)"
    )


@pytest.mark.parametrize("other", [("ok", None), ("error", "else"), ("timeout", "no 1")])
def test_anything_else_among_the_first_settles_it_for_good(other):
    alike = [("error", "no")] * 5
    assert first_of(*alike[:2], other, *alike).told is None


def test_a_sample_that_is_asked_again_counts_once():
    found = FirstFailures(2)
    for _ in range(5):
        found.add("error", "uid[1]", "no")
    assert not found.reached


def test_an_agent_that_answered_before_works_and_zero_is_never():
    alike = [("error", "no")] * 5
    assert not first_of(*alike, before=[Record("b", "uid[9]", "ok")]).reached
    assert first_of(*alike, before=[Record("b", "uid[9]", "error")]).reached
    assert not first_of(*alike, most=0).reached


def test_a_long_error_is_cut():
    assert len(first_of(*[("error", "long " * 900)] * 3).told) < 450
