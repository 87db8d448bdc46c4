"""One entry at work: what it sends, when, and what becomes of odd replies. The rest is tested with the client."""

from __future__ import annotations

import gzip
import json

import pytest
from llm_server import HELLO, KEY, delta, events, raw

from pytest_agentbench.agents import http_loop
from pytest_agentbench.agents.llm import lanes
from pytest_agentbench.agents.llm.entries import Entry, Secret
from pytest_agentbench.agents.llm.lanes import Call, Lane
from pytest_agentbench.agents.llm.replies import Failure

CHAT = "/chat/completions"


@pytest.fixture
def lane(server):
    lane = Lane(Entry("m1", server.url, Secret(KEY)), 1, lambda text: text.replace(KEY, "***"))
    yield lane
    lane.close()


def send(lane, **more):
    return http_loop.wait(lane.send(CHAT, {"messages": HELLO, **more}, 60))


def body(given, entry, defaults=None):
    return Call(CHAT, given, defaults or {}, None, None).body(entry)


def test_the_call_comes_before_the_entry_and_the_entry_before_the_defaults():
    entry = Entry("m1", temperature=0.3, parameters={"top_p": 0.9, "max_tokens": None})
    defaults = {"temperature": 0.0, "max_tokens": 500, "seed": 1}
    assert body({}, entry, defaults) == {
        "model": "m1", "temperature": 0.3, "top_p": 0.9, "seed": 1,
    }  # fmt: skip
    given = {"temperature": 0.7, "top_p": None, "max_tokens": 9, "model": "m2"}
    assert body(given, entry, defaults) == {
        "model": "m2", "temperature": 0.7, "top_p": 0.9, "max_tokens": 9, "seed": 1,
    }  # fmt: skip


def test_texts_are_embedded_by_the_model_for_that_and_without_parameters():
    entry = Entry("m1", embedding_model="e", temperature=0.3, parameters={"top_p": 0.9})
    call = Call("/embeddings", {"input": ["a"]}, {}, None, None)
    assert call.body(entry) == {"model": "e", "input": ["a"]}
    entries = [Lane(one, 1, str) for one in (Entry("m1"), entry)]
    assert call.lanes(entries) == entries[1:]


def test_lone_surrogates_and_vendors_parameters_are_sent(server, lane):
    odd = [{"role": "user", "content": "a\ud800b"}]
    assert send(lane, messages=odd, enable_thinking=False, extra_body={"a": [1]})
    sent = server.seen[0]["body"]
    assert sent == {"messages": odd, "enable_thinking": False, "extra_body": {"a": [1]}}


@pytest.mark.parametrize("stream", [False, True])
def test_a_reply_that_is_too_long_is_given_up_as_it_comes(server, lane, monkeypatch, stream):
    monkeypatch.setattr(lanes, "_LARGEST_REPLY", 1000)

    def endless(handler):
        handler.wfile.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n"
        )
        try:
            while True:
                handler.wfile.write(b"64\r\n" + b"x" * 100 + b"\r\n")
        except OSError:
            pass

    server.script = [endless]
    found = send(lane, stream=stream)
    assert isinstance(found, Failure)
    assert found.text == "the answer is too long"


def test_a_compressed_reply_is_refused_with_a_clear_message(server, lane):
    packed = gzip.compress(json.dumps({"choices": []}).encode())
    server.script = [lambda handler: handler.send(200, packed, [("Content-Encoding", "gzip")])]
    found = send(lane)
    assert "expected an answer that is not compressed" in found.text
    assert "got Content-Encoding: gzip" in found.text


def test_events_come_in_order_and_anything_else_is_a_failure(server, lane):
    server.script = [events(delta("a"), delta(finish="stop")), raw(b"data: {]\n\n")]
    usage = {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}}
    assert send(lane, stream=True) == [delta("a"), delta(finish="stop"), usage]
    assert "expected events with JSON" in send(lane, stream=True).text


def test_an_organization_of_the_environment_is_for_nobody_else(server, lane, monkeypatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-mine")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-another-service")
    heads = []

    def step(handler):
        heads.append(str(handler.headers))
        handler.send(200, b'{"choices": [1]}')

    server.script = [step]
    assert send(lane) == {"choices": [1]}
    assert "org-of-mine" not in heads[0]
    assert "sk-of-another" not in heads[0]
    assert "stainless" not in heads[0].lower()


def test_the_client_below_does_not_hold_the_key(server, lane):
    send(lane)
    (client,) = lane._clients.values()
    assert KEY not in f"{vars(client)} {client.api_key} {client.auth_headers}"
    assert server.seen[0]["key"] == f"Bearer {KEY}"
