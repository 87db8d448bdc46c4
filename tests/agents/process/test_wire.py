"""What travels between the processes, by itself."""

from __future__ import annotations

import asyncio

import pytest
from isolated_tools import City, Store

from pytest_agentbench.agents.process import wire


def test_frames_come_out_as_they_went_in_however_they_are_cut():
    payloads = [b"", b"{}", b"x" * 70_000]
    stream = b"".join(wire.framed(payload) for payload in payloads)
    buffer, found = bytearray(), []
    for start in range(0, len(stream), 7):
        buffer += stream[start : start + 7]
        while (payload := wire.take_frame(buffer)) is not None:
            found.append(payload)
    assert found == payloads
    assert not buffer


PLAIN = [
    None,
    True,
    1,
    1.5,
    "é\ud800",
    [],
    {},
    [[1, 2], [3, 4]],
    {"a": [{"b": [None, 1]}], "c": {}},
]


@pytest.mark.parametrize("message", PLAIN, ids=str)
def test_plain_messages_to_a_child_take_the_short_way_and_arrive_the_same(message):
    packed = wire.packed(message)
    assert packed[:1] == b"\0"
    assert wire.unpacked(packed) == message


def test_messages_that_only_json_makes_plain_go_as_json():
    np = pytest.importorskip("numpy")
    for message, arrives in (
        ({"a": [1, np.int64(2)]}, {"a": [1, 2]}),
        ({"a": np.arange(2)}, {"a": [0, 1]}),
        ([(1, 2)], [[1, 2]]),
        ({1: "a"}, {"1": "a"}),
        (City(home=1), {"home": 1}),
    ):
        packed = wire.packed(message)
        assert packed[:1] != b"\0"
        assert wire.unpacked(packed) == arrives


def test_a_context_without_a_bottom_is_an_error():
    endless = []
    endless.append(endless)
    with pytest.raises(RecursionError):
        wire.packed(endless)


def test_two_tools_of_one_name_are_refused():
    with pytest.raises(ValueError, match=r"expected one tool called 'a\.b' in a context, got two"):
        wire.split({"a": {"b": Store()}, "a.b": Store()})


def test_async_callers_can_use_it_through_threads(isolated):
    agent = isolated("import time\ndef agent(context): time.sleep(0.1); return context")

    async def ask():
        return await asyncio.gather(*(asyncio.to_thread(agent, n) for n in range(3)))

    assert asyncio.run(ask()) == [0, 1, 2]
