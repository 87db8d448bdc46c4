"""A dict that makes its values when they are asked for is a dict to whoever uses it."""

from __future__ import annotations

import copy
import json
import pickle

import pytest

from pytest_agentbench.agents.asbench.lazy_dict import LazyDict

PLAIN = {"id": 1, "list": [1, 2], "name": "a"}


class Lazy(LazyDict):
    __slots__ = ("made",)
    SHOWN = ("id", "list", "none", "name")
    HIDDEN = ("shape",)

    def __init__(self):
        super().__init__("id", 1)
        self.made = []

    def make(self, key):
        self.made.append(key)
        return {"list": [1, 2], "name": "a", "shape": "round"}[key]


def test_nothing_is_made_before_it_is_asked_for_and_then_once():
    one = Lazy()
    assert one["id"] == 1
    assert one.made == []
    assert one["name"] == one["name"] == "a"
    assert one.get("list") is one["list"]
    assert one["shape"] == "round"
    assert one.made == ["name", "list", "shape"]


@pytest.mark.parametrize(
    "whole",
    [
        dict, lambda one: {**one}, lambda one: dict(one.items()), dict.copy, copy.copy,
        lambda one: json.loads(json.dumps(one)), lambda one: one.copy(), lambda one: one | {},
        lambda one: {} | one, lambda one: dict(zip(one.keys(), one.values(), strict=True)),
        lambda one: {key: one[key] for key in one}, lambda one: eval(repr(one)),
        lambda one: dict(reversed([(key, one[key]) for key in reversed(one)])),
        lambda one: pickle.loads(pickle.dumps(one)), copy.deepcopy,
    ],
)  # fmt: skip
def test_the_whole_has_all_that_is_shown_in_its_order(whole):
    one = Lazy()
    _ = one["name"]  # asked for before the list
    if whole is dict.copy:
        one.keys()
    found = whole(one)
    found.pop("shape", None)  # copies have it
    assert list(found.items()) == list(PLAIN.items())


def test_it_is_equal_to_what_it_says():
    assert Lazy() == PLAIN
    assert Lazy() == Lazy()
    assert Lazy() != {"id": 1}
    assert len(Lazy()) == 3
    assert [key in Lazy() for key in ("id", "list", "shape", "none", "other")] == [
        True, True, True, False, False,
    ]  # fmt: skip


def test_what_was_written_stays():
    one = Lazy()
    one["list"] = "mine"
    one["new"] = 2
    assert dict(one) == {"id": 1, "list": "mine", "name": "a", "new": 2}
    assert one.setdefault("name", "b") == "a"
    assert one.setdefault("further", "b") == "b"


def test_what_was_deleted_stays_away():
    one = Lazy()
    del one["list"]
    assert one.pop("name") == "a"
    assert one.pop("name", None) is None
    assert one == {"id": 1}
    assert one.get("list") is None
    with pytest.raises(KeyError):
        _ = one["list"]
    other = Lazy()
    other.clear()
    assert other == {}
    last = Lazy()
    assert last.popitem() == ("name", "a")


def test_keys_that_it_lacks_are_key_errors():
    for key in ("none", "other"):
        with pytest.raises(KeyError):
            _ = Lazy()[key]
    with pytest.raises(TypeError):
        hash(Lazy())
