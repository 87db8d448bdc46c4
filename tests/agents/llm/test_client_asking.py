"""What a model is asked, and what comes back, against a real server on this machine that speaks the protocol."""

from __future__ import annotations

import asyncio
import threading

import pytest
from llm_server import HELLO, KEY, WAYS, chunked, hang_up, text, ways


@pytest.mark.parametrize("way", WAYS)
def test_a_reply_is_a_text_and_is_counted(server, make, usage, way):
    llm = make({"price_input": 1.0, "price_output": 2.0})
    assert ways(llm)[way](HELLO) == "Hi"
    (seen,) = server.seen
    assert seen["path"] == "/v1/chat/completions"
    assert seen["key"] == f"Bearer {KEY}"
    assert seen["body"]["model"] == "m1"
    assert seen["body"]["messages"] == HELLO
    assert usage.counts == {
        "llm_calls": 1, "input_tokens": 7, "output_tokens": 3, "cost": pytest.approx(13e-6),
    }  # fmt: skip
    assert usage.messages == [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Hi"},
    ]
    assert llm.spent == usage.counts


def test_options_are_sent_with_the_call_before_the_entry_before_the_defaults(server, make):
    llm = make({"temperature": 0.3, "parameters": {"top_p": 0.9, "max_tokens": None}})
    llm(messages=HELLO)
    llm(messages=HELLO, temperature=0.7, max_tokens=9, stop_strs=["\n"], model="m2")
    llm.text_request(HELLO, response_format={"type": "json_object"})
    plain = make()
    plain(messages=HELLO)
    plain.text_request(HELLO)
    sent = [
        {key: value for key, value in seen["body"].items() if key != "messages"}
        for seen in server.seen
    ]
    assert sent == [
        {"model": "m1", "temperature": 0.3, "top_p": 0.9},
        {"model": "m2", "temperature": 0.7, "top_p": 0.9, "max_tokens": 9, "stop": ["\n"]},
        {
            "model": "m1", "temperature": 0.3, "top_p": 0.9,
            "response_format": {"type": "json_object"},
        },
        {"model": "m1", "temperature": 0.0, "max_tokens": 500},  # WebSocietySimulator's
        {"model": "m1"},
    ]  # fmt: skip


def test_several_replies_are_a_list(server, make):
    server.script = [text("a", "b")]
    assert make()(messages=HELLO, n=2) == ["a", "b"]
    assert server.seen[0]["body"]["n"] == 2


@pytest.mark.parametrize("given", [{"messages": "Hello"}, {"dialog": HELLO}, {"prompt": "Hello"}])
def test_a_plain_text_and_other_names_are_taken(server, make, given):
    make().text_request(**given)
    assert server.seen[0]["body"]["messages"] == HELLO
    assert server.seen[0]["body"].keys() == {"model", "messages"}


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "messages"),
        ({"messages": [{"content": "x"}]}, "messages"),
        ({"messages": HELLO, "tools": [1]}, "tools"),
        ({"messages": HELLO, "stream": True}, "stream"),
        ({"messages": HELLO, "metadata": object()}, "JSON"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_it_is_sent(server, make, given, says):
    with pytest.raises(TypeError, match=says):
        make().text_request(**given)
    assert not server.seen


def test_connections_are_kept(server, make):
    llm = make()
    for _ in range(5):
        llm.text_request(HELLO)
    assert len(server.connections) == 1


def test_a_kept_connection_that_the_server_closed_is_replaced_unnoticed(server, make, usage):
    llm = make(retries=0)
    llm.text_request(HELLO)
    server.script = [hang_up]
    assert llm.text_request(HELLO) == "Hi"
    assert "llm_retries" not in usage.counts


def test_chunks_and_parts_are_put_together(server, make):
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    server.script = [chunked, text(parts)]
    llm = make()
    assert llm.text_request(HELLO) == "in chunks"
    assert llm.text_request(HELLO) == "ab"


def test_many_requests_wait_at_once(server, make):
    together = threading.Barrier(40, timeout=60)  # none is answered before all are there

    def step(handler):
        together.wait()
        text("Hi")(handler)

    server.script = [step] * 40
    llm = make()

    async def gather():
        return await asyncio.gather(*(llm.atext_request(HELLO) for _ in range(40)))

    assert asyncio.run(gather()) == ["Hi"] * 40
