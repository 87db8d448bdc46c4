"""Replies of a chat-completions server, by themselves."""

from __future__ import annotations

import http.client
import json
import ssl

import pytest

from pytest_agentbench.agents.http_client import Reply, TooLarge
from pytest_agentbench.agents.llm.replies import Answer, Failure, failure_of, read


def reply(body, status=200, **headers):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Reply(status, "", {k.replace("_", "-"): v for k, v in headers.items()}, data)


def choices(*contents, **more):
    return {"choices": [{"message": {"content": content}} for content in contents], **more}


def test_an_answer_has_the_texts_of_all_choices_and_the_tokens():
    usage = {"prompt_tokens": 7, "completion_tokens": 3}
    assert read(reply(choices("a", "b", usage=usage))) == Answer(["a", "b"], 7, 3)


@pytest.mark.parametrize("usage", [None, [], {"prompt_tokens": "7"}, {"prompt_tokens": -1}, {"prompt_tokens": True}], ids=repr)  # fmt: skip
def test_tokens_that_are_no_counts_are_unknown(usage):
    assert read(reply(choices("a", usage=usage))) == Answer(["a"], None, None)


def test_a_text_in_parts_is_put_together():
    parts = [{"type": "text", "text": "a"}, {"type": "image"}, "?", {"type": "text", "text": "b"}]
    assert read(reply(choices(parts))) == Answer(["ab"], None, None)


@pytest.mark.parametrize(
    ("body", "says", "transient"),
    [
        (b"<html>", "expected JSON, got '<html>'", True),
        (b"[1]", "expected JSON, got '[1]'", True),
        (b"[" * 100_000, "expected JSON, got '[[[", True),
        ({"choices": []}, 'expected choices in the answer, got {"choices": []}', True),
        (choices(None), "got none (finish_reason None)", False),
        ({"choices": [{"finish_reason": "length"}]}, "got none (finish_reason 'length')", False),
    ],
    ids=["html", "list", "deep", "no choices", "no text", "too short"],
)
def test_a_reply_without_an_answer_says_what_came(body, says, transient):
    failure = read(reply(body))
    assert isinstance(failure, Failure)
    assert says in failure.text
    assert (failure.status, failure.transient) == (200, transient)


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
        (http.client.RemoteDisconnected("x"), "closed the connection without an answer", True),
        (http.client.IncompleteRead(b""), "the answer broke off before its end", True),
        (TooLarge(200), "the answer is too long", True),
        (ConnectionRefusedError("nobody"), "ConnectionRefusedError: nobody", True),
        (ssl.SSLCertVerificationError("x"), "the certificate was refused", False),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
def test_a_request_without_a_reply_says_why(error, text, transient):
    if isinstance(error, ssl.SSLCertVerificationError):
        error.verify_message = "self-signed"
    failure = failure_of(error, 1.5)
    assert text in failure.text
    assert (failure.status, failure.transient) == (None, transient)
