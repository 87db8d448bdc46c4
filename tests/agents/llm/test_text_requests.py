"""What callers give becomes one body, and a reply a text."""

from __future__ import annotations

import json

import pytest
from llm_server import HELLO, delta

from pytest_agentbench.agents.llm.text_requests import finish_reason, request_of, shown, texts_of


def test_what_is_for_the_client_is_not_sent():
    request = request_of(HELLO, {"timeout": 3.0, "retries": 0, "seed": None}, {"temperature": 0.0})
    assert request.own == {"timeout": 3.0, "retries": 0, "defaults": {"temperature": 0.0}}
    assert request.body == {"messages": HELLO}


@pytest.mark.parametrize("name", ["NotGiven", "Omit"])
def test_an_option_that_the_caller_left_to_openai_is_not_sent(name):
    left_out = type(name, (), {})()
    assert request_of(HELLO, {"seed": left_out, "tools": None}).body == {"messages": HELLO}


@pytest.mark.parametrize(
    "given", [(HELLO, {}), ("Hello", {}), (None, {"dialog": HELLO}), (None, {"prompt": "Hello"})]
)
def test_messages_have_several_names(given):
    assert request_of(*given).body == {"messages": HELLO}


@pytest.mark.parametrize("messages", [None, [], {}, [{"content": "x"}], ["Hello"], 7], ids=repr)
def test_what_are_no_messages_is_refused(messages):
    with pytest.raises(TypeError, match="expected messages"):
        request_of(messages, {})


@pytest.mark.parametrize("value", [object(), float("nan"), {1, 2}], ids=["object", "nan", "set"])
def test_what_json_cannot_hold_is_refused(value):
    with pytest.raises(TypeError, match="that JSON can hold"):
        request_of(HELLO, {"metadata": value})


def test_with_tools_the_whole_reply_is_wanted_and_no_stream():
    request = request_of(HELLO, {"tools": [{"type": "function"}], "stream": True})
    assert request.has_tools
    assert "stream" not in request.body
    assert not request_of(HELLO, {"stream": True}).has_tools


def test_a_message_in_parts_is_shown_as_json():
    assert shown({"role": "user", "content": "Hello"}) == "Hello"
    parts = [{"type": "text", "text": "a"}]
    assert json.loads(shown({"role": "user", "content": parts})) == parts


def test_a_text_in_parts_is_put_together():
    parts = [{"type": "text", "text": "a"}, {"type": "image"}, "?", {"type": "text", "text": "b"}]
    body = {"choices": [{"message": {"content": parts}}, {"finish_reason": "length"}, 7]}
    assert texts_of(body, None) == ["ab", None, None]
    assert [finish_reason(body, n) for n in range(4)] == [None, "length", None, None]


def test_events_are_put_together_by_choice():
    second = {"choices": [{"index": 1, "delta": {"content": "y"}}, "?"]}
    empty = {"choices": [{"index": 2, "delta": {}}]}
    assert texts_of(None, [delta("a"), second, delta("b"), delta(finish="stop"), empty, {}]) == [
        "ab", "y", None,
    ]  # fmt: skip
