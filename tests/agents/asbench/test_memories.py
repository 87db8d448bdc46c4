"""The memory of an asbench agent: what it has works, what it lacks is named."""

from __future__ import annotations

import asyncio
from collections import deque

import pytest

from pytest_agentbench.agents.asbench.memories import Memory, MemoryAttribute
from pytest_agentbench.agents.errors import NotProvided


def attribute(name, value):
    return MemoryAttribute(name=name, type=type(value), default_or_value=value, description="")


def test_every_agent_begins_with_the_declared_values():
    declared = [attribute("mood", "calm"), attribute("seen", [])]

    async def use():
        first, second = Memory(declared), Memory(declared)
        await first.initialize_embeddings()
        await first.status.update("seen", ["a"], mode="merge")
        await first.status.update("mood", "tired")
        return await first.status.export(["seen", "mood", "x"]), await second.status.get("seen")

    assert asyncio.run(use()) == ({"seen": ["a"], "mood": "tired"}, [])


@pytest.mark.parametrize(
    ("old", "new", "merged"),
    [
        ([1], [2], [1, 2]),
        ({1}, [2], {1, 2}),
        ({"a": 1}, {"b": 2}, {"a": 1, "b": 2}),
        (deque([1]), [2], deque([1, 2])),
        (1, 2, 2),
    ],
)
def test_merging_adds_to_what_can_be_added_to(old, new, merged):
    async def use():
        status = Memory([attribute("x", old)]).status
        await status.update("x", new, mode="merge")
        return await status.get("x")

    assert asyncio.run(use()) == merged


def test_a_value_that_is_not_there_is_named_unless_there_is_a_default():
    status = Memory([attribute("mood", "calm")]).status
    assert asyncio.run(status.get("x", 4)) == 4
    with pytest.raises(KeyError, match="expected one of mood; got 'x'"):
        asyncio.run(status.get("x"))
    with pytest.raises(ValueError, match="replace or merge, got 'add'"):
        asyncio.run(status.update("x", 1, mode="add"))


def test_notes_are_kept_in_their_order():
    async def use():
        stream = Memory().stream
        numbers = [await stream.add("meal", text) for text in ("rice", "soup")]
        return numbers, [(note["id"], note["description"]) for note in await stream.get_all()]

    assert asyncio.run(use()) == ([0, 1], [(0, "rice"), (1, "soup")])


@pytest.mark.parametrize(
    "name", ["memory.status.search", "memory.stream.search", "memory.stream.search_today"]
)
def test_searching_by_meaning_is_named_as_missing(name):
    search = Memory()
    for part in name.split(".")[1:]:
        search = getattr(search, part)
    with pytest.raises(NotProvided, match=f"{name}: it is not part of what stands in"):
        asyncio.run(search("query", top_k=3))


def test_what_is_known_goes_before_what_a_class_begins_with():
    status = Memory(
        [attribute("mood", "calm"), attribute("age", 20)], {"age": 40, "home": None}
    ).status
    assert asyncio.run(status.export(["mood", "age", "home"])) == {
        "mood": "calm", "age": 40, "home": None,
    }  # fmt: skip


def test_notes_say_when_and_where_if_that_is_known():
    stream = Memory(moment=lambda: {"day": 0, "t": 900, "location": 5}).stream
    asyncio.run(stream.add("meal", "rice"))
    assert asyncio.run(stream.get_all()) == [
        {"id": 0, "topic": "meal", "description": "rice", "day": 0, "t": 900, "location": 5}
    ]
