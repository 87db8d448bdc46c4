"""Values as people write them."""

from __future__ import annotations

import pytest

from pytest_agentbench.base import parse

WHOLE, SHARE = parse.number(1, 100), parse.number(0, 1, whole=False)
COLOUR = parse.one_of("red", "blue")


@pytest.mark.parametrize(
    ("read", "value", "expected"),
    [
        (parse.text, "  a b ", "a b"),
        (parse.path, " some/where.csv ", "some/where.csv"),
        (WHOLE, "7", 7),
        (WHOLE, 7.0, 7),
        (WHOLE, 100, 100),
        (SHARE, "0.25", 0.25),
        (SHARE, 1, 1.0),
        (parse.yes_or_no, True, True),
        (parse.yes_or_no, "False", False),
        (COLOUR, "blue", "blue"),
        (parse.texts, ["a", ""], ("a", "")),
        (parse.texts, (), ()),
    ],
)
def test_what_is_meant(read, value, expected):
    found = read(value)
    assert (found, type(found)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("read", "value"),
    [
        (parse.text, " "), (parse.text, 7), (parse.text, None),
        (parse.path, ""), (parse.path, "x" * 5000), (parse.path, "~no-such-user/x"),
        (WHOLE, 0), (WHOLE, 101), (WHOLE, 1.5), (WHOLE, "1.5"), (WHOLE, True), (WHOLE, None), (WHOLE, [1]), (WHOLE, "many"),
        (SHARE, "1.01"), (SHARE, float("nan")), (SHARE, "nan"), (SHARE, -0.1),
        (parse.yes_or_no, "yes"), (parse.yes_or_no, 1), (parse.yes_or_no, None),
        (COLOUR, "green"), (COLOUR, None), (COLOUR, ["red"]),
        (parse.texts, "a"), (parse.texts, ["a", 1]), (parse.texts, None),
    ],
    ids=lambda value: getattr(value, "__name__", None) or repr(value)[:20],
)  # fmt: skip
def test_anything_else_is_refused(read, value):
    with pytest.raises((ValueError, TypeError)):
        read(value)


def test_a_path_that_the_system_cannot_take_is_shown_cut():
    with pytest.raises(ValueError, match=r"expected a path, got 'x+' ") as caught:
        parse.path("x" * 5000)
    assert len(str(caught.value)) < 500
