"""Replies of a chat-completions server, by themselves."""

from __future__ import annotations

import json

import pytest
from llm_server import HELLO, delta

from pytest_agentbench.agents.http_transport import NoReply, Reply, TooLarge
from pytest_agentbench.agents.llm import replies
from pytest_agentbench.agents.llm.replies import Failure, failure_of, refusal_or_data

CHAT, EMBEDDINGS = "/chat/completions", "/embeddings"


def reply(body, status=200, **headers):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Reply(status, "", {k.replace("_", "-"): v for k, v in headers.items()}, data)


def choices(*contents, **more):
    return {"choices": [{"message": {"content": content}} for content in contents], **more}


def read(reply, asked=None):
    """What is made of a reply to a chat."""
    data = refusal_or_data(reply)
    return data if isinstance(data, Failure) else replies.flaw(CHAT, asked or {}, data) or data


def test_an_answer_has_the_texts_of_all_choices_and_the_tokens():
    usage = {"prompt_tokens": 7, "completion_tokens": 3}
    data = read(reply(choices("a", "b", usage=usage)))
    assert replies.said_in(data) == ["a", "b"]
    assert replies.used(CHAT, data) == (7, 3)


def test_other_paths_and_streams_count_in_their_own_places():
    counts = {"input_tokens": 5, "output_tokens": 2}
    assert replies.used("/responses", {"usage": counts}) == (5, 2)
    ended = {"type": "response.completed", "response": {"usage": counts}}
    assert replies.used("/responses", [{"type": "response.created"}, ended]) == (5, 2)
    last = {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}}
    assert replies.used(CHAT, [delta("a"), last]) == (7, 3)
    assert replies.used(EMBEDDINGS, {"usage": {"prompt_tokens": 4}}) == (4, 0)


@pytest.mark.parametrize("usage", [None, [], {"prompt_tokens": "7"}, {"prompt_tokens": -1}, {"prompt_tokens": True}, {"prompt_tokens": 7}], ids=repr)  # fmt: skip
def test_tokens_that_are_no_counts_are_unknown_and_estimated(usage):
    data = read(reply(choices("a" * 9, usage=usage)))
    assert replies.used(CHAT, data) is None
    assert replies.estimated({"messages": HELLO}, data) == (2, 3)
    assert replies.estimated({"input": ["abcd", "ef"]}, {}) == (2, 0)


def test_calls_of_tools_are_said_as_json():
    calls = [{"function": {"name": "look", "arguments": "{}"}}]
    data = {"choices": [{"message": {"content": None, "tool_calls": calls}}]}
    assert [json.loads(text) for text in replies.said_in(data)] == [calls]


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"<html>", "expected JSON, got '<html>'"),
        (b"[1]", "expected JSON, got '[1]'"),
        (b"[" * 100_000, "expected JSON, got '[[["),
        ({"choices": []}, 'expected choices in the answer, got {"choices": []}'),
    ],
    ids=["html", "list", "deep", "no choices"],
)
def test_a_reply_without_an_answer_says_what_came(body, says):
    failure = read(reply(body))
    assert isinstance(failure, Failure)
    assert says in failure.text
    assert (failure.status, failure.transient) == (200, True)


def test_a_stream_that_breaks_off_is_no_answer():
    whole = [delta("a"), delta(finish="stop")]
    assert replies.ended(CHAT, whole) == whole
    for events in ([], [delta("a")]):
        assert replies.ended(CHAT, events).transient
    assert replies.ended("/responses", [{"type": "x"}]) == [{"type": "x"}]
    assert replies.flaw(CHAT, {}, []).transient
    assert replies.flaw("/responses", {}, [{"type": "x"}]) is None
    assert replies.flaw("/responses", {}, []).transient


@pytest.mark.parametrize(
    ("asked", "rows", "expected"),
    [("a", 1, None), (["a", "b"], 2, None), ([1, 2, 3], 1, None), (["a", "b"], 1, 2), ("a", 0, 1)],
)
def test_there_are_as_many_embeddings_as_inputs(asked, rows, expected):
    found = replies.flaw(EMBEDDINGS, {"input": asked}, {"data": [{}] * rows})
    if expected is None:
        assert found is None
    else:
        assert found.text == f"expected {expected} embeddings in data, got {rows}"


def test_only_who_asked_for_the_usage_gets_its_event():
    usage = {"choices": [], "usage": {"prompt_tokens": 7}}
    assert replies.handed_on({}, [delta("a"), usage]) == [delta("a")]
    asked = {"stream_options": {"include_usage": True}}
    assert replies.handed_on(asked, [delta("a"), usage]) == [delta("a"), usage]


def test_what_is_quoted_is_cleaned_before_it_is_cut():
    body = {"error": {"message": "x" * 295 + "secret-key"}}
    said = refusal_or_data(reply(body, 400), lambda text: text.replace("secret-key", "***"))
    assert said.text == f"HTTP 400: {'x' * 295}***"


@pytest.mark.parametrize(
    ("status", "code", "transient", "says"),
    [
        (429, None, True, "HTTP 429: slow down"),
        (429, "insufficient_quota", False, "HTTP 429: slow down"),
        (409, None, True, "HTTP 409: slow down"),
        (503, None, True, "HTTP 503: slow down"),
        (400, None, False, "HTTP 400: slow down"),
        (401, None, False, "HTTP 401: slow down; check api_key"),
        (404, None, False, "check base_url (it ends before /chat/completions) and model"),
        (307, None, False, "base_url leads elsewhere"),
        (200, 502, True, "HTTP 502: slow down"),
        (200, 400, False, "HTTP 400: slow down"),
    ],
)
def test_a_refusal_says_whether_to_ask_again(status, code, transient, says):
    body = {"error": {"message": "slow\n  down", "code": code}}
    failure = read(reply(body, status, retry_after="2"))
    assert says in failure.text
    assert failure.transient is transient
    assert failure.retry_after == (2.0 if transient else None)


def test_the_servers_words_are_cut():
    failure = read(reply({"error": "x" * 301}, 500))
    assert failure.text == f"HTTP 500: {'x' * 300}…"


@pytest.mark.parametrize(
    ("error", "text", "transient"),
    [
        (TimeoutError(), "no answer within 1.5 s", True),
        (TooLarge(200), "the answer is too long", True),
        (NoReply("ConnectionRefusedError: nobody"), "ConnectionRefusedError: nobody", True),
        (NoReply("x", untrusted="self-signed"), "the certificate was refused: self-signed", False),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
def test_a_request_without_a_reply_says_why(error, text, transient):
    failure = failure_of(error, 1.5)
    assert text in failure.text
    assert (failure.status, failure.transient) == (None, transient)
