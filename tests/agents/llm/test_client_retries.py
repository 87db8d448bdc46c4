"""What a model's server refuses, delays or breaks off: tried again, or not, and said."""

from __future__ import annotations

import asyncio
import itertools
import socket
import time
from email.utils import formatdate

import pytest
from llm_server import HELLO, WAYS, break_off, error, hang_up, raw, slow, text, trickle, ways

from pytest_agentbench.agents.llm.client import LLM, LLMError
from pytest_agentbench.agents.retry import is_transient


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "step",
    [
        error(429), error(500), error(503), error(408), error(200, code=502),
        raw(b"<html>busy</html>"), raw(b"[]"), raw(b'{"choices": []}'), raw(b"", status=502),
        break_off, hang_up,
    ],
    ids=[
        "429", "500", "503", "408", "502 in the body", "not JSON", "not an object", "no choices",
        "empty", "breaks off", "hangs up",
    ],
)  # fmt: skip
def test_what_may_pass_is_tried_again(server, make, usage, way, step):
    server.script = [step, step]
    assert ways(make())[way](HELLO) == "Hi"
    assert len(server.seen) == 3
    assert usage.counts["llm_calls"] == 1
    assert usage.counts["llm_retries"] == 2


def test_nobody_at_the_address_is_tried_again_and_named(usage):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # not listening
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        llm = LLM([{"model": "m1", "base_url": url}], retries=2, backoff=0.01)
        with pytest.raises(LLMError, match=f"m1 at {url}: ConnectionRefused.*3 attempts") as raised:
            llm.text_request(HELLO)
    assert is_transient(raised.value)
    assert usage.counts == {"llm_calls": 1, "llm_retries": 2, "llm_errors": 1}


@pytest.mark.parametrize(
    ("step", "says"),
    [
        (error(400, "bad messages"), "HTTP 400: bad messages"),
        (error(401, "who?"), "HTTP 401: who\\?; check api_key"),
        (error(404), "check base_url"),
        (error(429, "no money", code="insufficient_quota"), "HTTP 429: no money"),
        (lambda handler: handler.send(302, b"", [("Location", "/x")]), "leads elsewhere"),
        (text(None), "max_tokens is too small"),
        (error(429, "tomorrow", [("Retry-After", "86400")]), "asks to wait 86400 s"),
    ],
    ids=["400", "401", "404", "quota", "redirect", "no text", "tomorrow"],
)
def test_what_will_not_pass_is_not_tried_again(server, make, usage, step, says):
    server.script = [step]
    with pytest.raises(LLMError, match=says) as raised:
        make().text_request(HELLO)
    assert len(server.seen) == 1
    assert not is_transient(raised.value)
    assert [message["role"] for message in usage.messages] == ["user", "error"]


def test_after_the_last_attempt_the_error_says_what_the_server_said(server, make):
    server.script = [error(503, "overloaded")] * 3
    with pytest.raises(LLMError, match=r"HTTP 503: overloaded \(3 attempts\)") as raised:
        make(retries=2).text_request(HELLO)
    assert raised.value.status == 503
    assert is_transient(raised.value)


@pytest.mark.parametrize(
    ("headers", "least"),
    [
        (lambda: [("Retry-After", "0.4")], 0.4),
        (lambda: [("retry-after-ms", "300"), ("Retry-After", "9")], 0.3),
        (lambda: [("Retry-After", formatdate(time.time() + 1.6, usegmt=True))], 0.4),
    ],
    ids=["seconds", "milliseconds", "date"],
)
def test_retry_after_is_honoured(server, make, headers, least):
    server.script = [error(429, headers=headers())]
    assert make().text_request(HELLO) == "Hi"
    first, second = (seen["at"] for seen in server.seen)
    assert least <= second - first < least + 1.5


def test_many_that_were_told_to_wait_come_back_together_and_not_before(server, make):
    server.script = [error(429, headers=[("Retry-After", "0.3")])] * 20
    llm = make(backoff=0.3)

    async def gather():
        return await asyncio.gather(*(llm.atext_request(HELLO) for _ in range(20)))

    assert asyncio.run(gather()) == ["Hi"] * 20
    at = [seen["at"] for seen in server.seen]
    assert len(at) == 40
    assert at[20] - at[0] >= 0.3
    assert at[39] - at[0] < 2.0


def test_a_server_that_asks_for_no_wait_is_not_pressed(server, make):
    server.script = [error(503, headers=[("Retry-After", "0")])] * 3
    make(backoff=0.05).text_request(HELLO)
    assert server.seen[3]["at"] - server.seen[0]["at"] > 0.5 * (0.05 + 0.1 + 0.2)


def test_a_retry_after_that_makes_no_sense_is_ignored(server, make):
    server.script = [error(429, headers=[("Retry-After", "soon")])]
    assert make().text_request(HELLO) == "Hi"
    assert server.seen[1]["at"] - server.seen[0]["at"] < 0.3


def test_pauses_grow(server, make):
    server.script = [error(500)] * 4
    make(backoff=0.04).text_request(HELLO)
    at = [seen["at"] for seen in server.seen]
    pauses = [later - sooner for sooner, later in itertools.pairwise(at)]
    assert all(p >= 0.04 * 2**n * 0.5 for n, p in enumerate(pauses))


def test_entries_are_used_in_turn_and_a_blocked_one_is_left_out(server, make):
    llm = make({"model": "a"}, {"model": "b"}, {"model": "c"})
    for _ in range(6):
        llm.text_request(HELLO)
    assert [seen["body"]["model"] for seen in server.seen] == list("abcabc")
    server.seen.clear()
    server.script = [error(429, headers=[("Retry-After", "60")])]
    started = time.monotonic()
    for _ in range(4):
        llm.text_request(HELLO)
    assert time.monotonic() - started < 30
    models = [seen["body"]["model"] for seen in server.seen]
    assert models.count("a") == 1
    assert len(models) == 5


@pytest.mark.parametrize("step", [slow(60), trickle], ids=["slow", "trickles"])
@pytest.mark.parametrize("way", WAYS)
def test_the_time_limit_is_for_the_whole_answer(server, make, way, step):
    server.script = [step]
    started = time.monotonic()
    with pytest.raises(LLMError, match=r"no answer within 0\.2 s"):
        ways(make({"timeout": 0.2}, retries=0))[way](HELLO)
    assert time.monotonic() - started < 30  # the server takes a minute


def test_a_timeout_is_tried_again_and_may_be_given_with_the_call(server, make):
    server.script = [slow(60)]
    assert make().text_request(HELLO, timeout=2) == "Hi"
    assert len(server.seen) == 2
