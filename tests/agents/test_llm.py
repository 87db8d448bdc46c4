"""The model that agents ask, against a real server on this machine that speaks the protocol."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import pickle
import socket
import threading
import time
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from pytest_agentbench.agents.asking import is_transient
from pytest_agentbench.agents.llm import LLM, BudgetExceeded, LLMError, NoLLM
from pytest_agentbench.agents.llm_calls import RelayedLLM
from pytest_agentbench.agents.llm_entries import Secret, parse_llm
from pytest_agentbench.agents.usage import CURRENT, Usage
from pytest_agentbench.benchmarks.protocol import BenchmarkError

KEY = "sk-canary-0123456789abcdef"
HELLO = [{"role": "user", "content": "Hello"}]


def reply(*texts, usage=(7, 3)):
    data = {"choices": [{"message": {"role": "assistant", "content": text}} for text in texts]}
    if usage:
        data["usage"] = {"prompt_tokens": usage[0], "completion_tokens": usage[1]}
    return json.dumps(data).encode()


class Server(ThreadingHTTPServer):
    """Answers each request with the next step of its script, then with ``Hi``."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.script = []
        self.seen = []
        self.connections = set()
        self.lock = threading.Lock()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/v1"

    def handle_error(self, request, client_address):
        pass  # clients that give up are part of the tests


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with self.server.lock:
            self.server.seen.append(
                {
                    "path": self.path,
                    "body": json.loads(body),
                    "key": self.headers["Authorization"],
                    "at": time.monotonic(),
                }
            )
            self.server.connections.add(self.client_address)
            step = self.server.script.pop(0) if self.server.script else None
        (step or (lambda handler: handler.send(200, reply("Hi"))))(self)

    def send(self, status, body, headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


def error(status, message="no", headers=(), code=None):
    body = json.dumps({"error": {"message": message, "code": code}}).encode()
    return lambda handler: handler.send(status, body, headers)


def text(*texts, **options):
    return lambda handler: handler.send(200, reply(*texts, **options))


def raw(body, status=200):
    return lambda handler: handler.send(status, body)


def slow(seconds):
    def step(handler):
        time.sleep(seconds)
        with contextlib.suppress(OSError):
            handler.send(200, reply("late"))

    return step


def trickle(handler):
    body = reply("x" * 50)
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    with contextlib.suppress(OSError):
        for byte in body:
            handler.wfile.write(bytes([byte]))
            time.sleep(0.02)


def break_off(handler):
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"choices": [')
    handler.close_connection = True


def hang_up(handler):
    handler.close_connection = True
    handler.connection.shutdown(socket.SHUT_RDWR)


def chunked(handler):
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    body = reply("in chunks")
    for part in (body[:10], body[10:]):
        handler.wfile.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
    handler.wfile.write(b"0\r\n\r\n")


@pytest.fixture
def server():
    with Server() as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def make(server):
    made = []

    def make(*entries, **options):
        base = {"model": "m1", "base_url": server.url, "api_key": KEY}
        options.setdefault("backoff", 0.01)
        made.append(LLM([{**base, **entry} for entry in entries or ({},)], **options))
        return made[-1]

    yield make
    for llm in made:
        llm.close()


@pytest.fixture
def usage():
    token = CURRENT.set(Usage())
    yield CURRENT.get()
    CURRENT.reset(token)


def ways(llm):
    """The three ways to ask, each as a function of the messages."""
    return {
        "text_request": llm.text_request,
        "atext_request": lambda messages, **kw: asyncio.run(llm.atext_request(messages, **kw)),
        "call": lambda messages, **kw: llm(messages=messages, **kw),
    }


WAYS = ["text_request", "atext_request", "call"]


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
    server.script = [error(429, headers=[("Retry-After", "30")])]
    started = time.monotonic()
    for _ in range(4):
        llm.text_request(HELLO)
    assert time.monotonic() - started < 5
    models = [seen["body"]["model"] for seen in server.seen]
    assert models.count("a") == 1
    assert len(models) == 5


@pytest.mark.parametrize("step", [slow(1.0), trickle], ids=["slow", "trickles"])
@pytest.mark.parametrize("way", WAYS)
def test_the_time_limit_is_for_the_whole_answer(server, make, way, step):
    server.script = [step]
    started = time.monotonic()
    with pytest.raises(LLMError, match=r"no answer within 0\.2 s"):
        ways(make({"timeout": 0.2}, retries=0))[way](HELLO)
    assert time.monotonic() - started < 0.8


def test_a_timeout_is_tried_again_and_may_be_given_with_the_call(server, make):
    server.script = [slow(0.5)]
    assert make().text_request(HELLO, timeout=0.1) == "Hi"
    assert len(server.seen) == 2


def test_chunks_and_parts_are_put_together(server, make):
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    server.script = [chunked, text(parts)]
    llm = make()
    assert llm.text_request(HELLO) == "in chunks"
    assert llm.text_request(HELLO) == "ab"


@pytest.mark.parametrize("way", WAYS)
def test_a_process_without_the_key_asks_through_the_one_that_has_it(server, make, usage, way):
    relayed = RelayedLLM()
    with pytest.raises(LLMError, match="expected the key llm"):
        ways(relayed)[way](HELLO)
    relayed.remote = make()
    assert ways(relayed)[way](HELLO, temperature=0.5, retries=0) == "Hi"
    sent = server.seen[0]["body"]
    assert sent.pop("messages") == HELLO
    assert sent.pop("max_tokens", None) == (500 if way == "call" else None)
    assert sent == {"model": "m1", "temperature": 0.5}
    assert usage.counts["llm_calls"] == 1
    server.script = [text("a", "b")]
    assert relayed(messages=HELLO, n=2) == ["a", "b"]


def test_many_requests_wait_at_once(server, make):
    server.script = [slow(0.4)] * 40
    llm = make()

    async def gather():
        return await asyncio.gather(*(llm.atext_request(HELLO) for _ in range(40)))

    started = time.monotonic()
    assert asyncio.run(gather()) == ["late"] * 40
    assert time.monotonic() - started < 3  # one after the other: 16 s


def test_usage_goes_to_the_sample_that_asked(server, make):
    llm = make()

    async def sample(calls):
        usage = Usage()
        CURRENT.set(usage)
        await asyncio.gather(*(llm.atext_request(HELLO) for _ in range(calls)))
        return usage.counts["llm_calls"], usage.counts["input_tokens"]

    async def both():
        return await asyncio.gather(*(asyncio.create_task(sample(n)) for n in (1, 5)))

    assert asyncio.run(both()) == [(1, 7), (5, 35)]
    assert llm.spent["llm_calls"] == 6


def test_a_cancelled_request_is_not_tried_again(server, make):
    server.script = [error(500)] * 50
    llm = make(backoff=0.2, retries=50)

    async def cancelled():
        task = asyncio.create_task(llm.atext_request(HELLO))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    time.sleep(0.3)
    count = len(server.seen)
    time.sleep(0.6)
    assert 1 <= len(server.seen) == count


def test_requests_are_paced(server, make):
    llm = make({"requests_per_minute": 600})

    async def gather():
        await asyncio.gather(*(llm.atext_request(HELLO) for _ in range(6)))

    asyncio.run(gather())
    at = sorted(seen["at"] for seen in server.seen)
    assert 0.45 < at[-1] - at[0] < 1.5


def test_processes_share_the_rate(server, make):
    llm = make({"requests_per_minute": 600}, processes=3)
    for _ in range(3):
        llm.text_request(HELLO)
    assert server.seen[-1]["at"] - server.seen[0]["at"] > 0.55


@pytest.mark.parametrize(
    "budget", [{"max_tokens": 25}, {"max_cost": 25e-6}], ids=["tokens", "cost"]
)
@pytest.mark.parametrize("way", WAYS)
def test_a_spent_budget_ends_the_asking(server, make, usage, budget, way):
    ask = ways(make({"price_input": 1.0, "price_output": 1.0}, **budget))[way]
    assert [ask(HELLO) for _ in range(3)] == ["Hi"] * 3
    with pytest.raises(BudgetExceeded, match="budget is spent"):
        ask(HELLO)
    assert len(server.seen) == 3
    assert usage.counts["budget_exceeded"] == 1


def test_an_agent_cannot_mistake_a_spent_budget_for_an_error(make):
    llm = make(max_tokens=0)
    with pytest.raises(BudgetExceeded), contextlib.suppress(Exception):
        llm.text_request(HELLO)


def test_a_server_that_does_not_count_is_estimated(server, make, usage):
    server.script = [text("x" * 40, usage=None)]
    make().text_request([{"role": "user", "content": "y" * 80}])
    assert usage.counts == {
        "llm_calls": 1, "llm_calls_estimated": 1, "input_tokens": 20, "output_tokens": 10,
    }  # fmt: skip


def test_max_cost_needs_prices(make):
    with pytest.raises(BenchmarkError, match="max_cost: expected price_input"):
        make(max_cost=1.0)


def test_keys_come_from_the_environment(server, monkeypatch, make):
    monkeypatch.setenv("AB_TEST_KEY", KEY)
    make({"api_key": "${AB_TEST_KEY}"}).text_request(HELLO)
    assert server.seen[0]["key"] == f"Bearer {KEY}"
    monkeypatch.delenv("AB_TEST_KEY")
    with pytest.raises(
        BenchmarkError, match=r"api_key of m1 names .* AB_TEST_KEY, which is not set"
    ):
        make({"api_key": "${AB_TEST_KEY}"})


def test_no_key_sends_no_header(server):
    LLM([{"model": "m1", "base_url": server.url}]).text_request(HELLO)
    assert server.seen[0]["key"] is None


def test_the_query_of_an_address_stays_behind_the_path(server):
    LLM([{"model": "m1", "base_url": f"{server.url}/?version=2"}]).text_request(HELLO)
    assert server.seen[0]["path"] == "/v1/chat/completions?version=2"


def test_a_proxy_of_the_environment_is_used(server, monkeypatch):
    for name in ("http_proxy", "no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", f"http://user:pass@127.0.0.1:{server.server_port}")
    llm = LLM([{"model": "m1", "base_url": "http://model.invalid/v1"}])
    assert llm.text_request(HELLO) == "Hi"
    assert server.seen[0]["path"] == "http://model.invalid/v1/chat/completions"


def test_reprs_and_manifests_hide_keys(make):
    entries = parse_llm(
        [{"model": "a", "api_key": KEY}, {"model": "b", "api_key": "${B}", "temperature": 1}]
    )
    llm = make()
    shown = f"{entries!r} {llm!r} {vars(llm)!r} {llm._lanes[0].entry!r} {Secret(KEY)!s}"
    assert KEY not in shown
    assert [entry.as_json() for entry in entries] == [
        {"model": "a", "base_url": "https://api.openai.com/v1", "api_key": "***"},
        {
            "model": "b", "base_url": "https://api.openai.com/v1", "api_key": "${B}",
            "temperature": 1,
        },
    ]  # fmt: skip
    assert pickle.loads(pickle.dumps(entries)) == entries


@pytest.mark.parametrize("padding", range(270, 300, 3))
def test_a_server_that_repeats_the_key_does_not_give_it_away(server, make, usage, padding):
    # Near the end of what is shown, so that cutting must not leave a part of it.
    server.script = [error(401, f"{'x' * padding} {KEY} is wrong")]
    with pytest.raises(LLMError, match="HTTP 401") as raised:
        make().text_request(HELLO)
    assert KEY[:8] not in f"{raised.value} {usage.messages}"


LEAKY = """
import asyncio, http.client
from pytest_agentbench.agents.llm import LLM

def ask(port, **options):
    entry = {"model": "m", "base_url": f"http://127.0.0.1:{port}/v1", "api_key": "${AB_TEST_KEY}"}
    llm = LLM([{**entry, **options}], retries=1, backoff=0.01)
    return llm, [{"role": "user", "content": "Hello"}]

def test_refused(port):
    llm, messages = ask(port)
    llm.text_request(messages)

def test_coroutine(port):
    llm, messages = ask(port)
    asyncio.run(llm.atext_request(messages))

def test_slow(port):
    llm, messages = ask(port, timeout=0.05)
    llm(messages=messages)

def test_nobody():
    llm, messages = ask(1)
    llm.text_request(messages)

def test_a_fault_below(port, monkeypatch):
    def fault(self, *args, **kwargs):  # called with the key in the caller's local variables
        raise RuntimeError("deep down")
    monkeypatch.setattr(http.client.HTTPConnection, "endheaders", fault)
    llm, messages = ask(port)
    llm.text_request(messages)
"""


def test_no_traceback_shows_a_key(server, pytester, monkeypatch):
    def misbehave(handler):
        body = handler.server.seen[-1]["body"]
        assert body
        handler.send(401, json.dumps({"error": f"{handler.headers['Authorization']}"}).encode())

    server.script = [misbehave, misbehave, slow(0.3), slow(0.3)] + [misbehave] * 5
    monkeypatch.setenv("AB_TEST_KEY", KEY)
    pytester.makeconftest(
        f"import pytest\n@pytest.fixture\ndef port(): return {server.server_port}\n"
    )
    pytester.makepyfile(LEAKY)
    result = pytester.runpytest_subprocess(
        "--showlocals", "--tb=long", "--full-trace", "-vv", "-p", "no:cacheprovider"
    )
    result.assert_outcomes(failed=5)
    output = result.stdout.str() + result.stderr.str()
    assert "deep down" in output
    assert "HTTP 401" in output
    assert KEY not in output
    assert KEY[:12] not in output


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (None, "expected a list of models"),
        ([], "expected a list of models"),
        ("gpt", "expected a list of models"),
        ([{"base_url": "http://x"}], "entry 1: expected the key model, got base_url"),
        ([{"model": "m"}, {"modle": "m"}], "entry 2: expected the keys model, .*got 'modle'"),
        ([{"model": "m", "base_url": "x.org/v1"}], "entry 1: base_url: expected http"),
        ([{"model": "m", "base_url": "http://x:y/"}], "entry 1: base_url: expected http"),
        ([{"model": "m", "base_url": "http://a:b@x.org"}], "use api_key"),
        (
            [{"model": "m", "temperature": "hot"}],
            "temperature: expected a number from 0, got 'hot'",
        ),
        ([{"model": "m", "timeout": 0}], "timeout: expected a number of seconds above 0, got 0"),
        ([{"model": "m", "timeout": True}], "timeout: expected"),
        ([{"model": "m", "price_input": 1}], "price_input and price_output together"),
        ([{"model": "m", "parameters": [1]}], "parameters: expected a mapping"),
        ([{"model": 4}], "model: expected a text, got a int"),
        ([7], "entry 1: expected a mapping"),
    ],
)
def test_a_wrong_entry_is_named(value, says):
    with pytest.raises(ValueError, match=says):
        parse_llm(value)


@pytest.mark.parametrize("key", [98765432101, ["sk-canary"], "sk-canary\n", "sk-cänary"])
def test_a_wrong_key_is_not_shown(key):
    with pytest.raises(ValueError, match="api_key: expected") as raised:
        parse_llm({"model": "m", "api_key": key if key != "sk-canary\n" else "sk-can\nary"})
    assert "canary" not in str(raised.value)
    assert "98765" not in str(raised.value)


def test_without_a_configuration_the_model_says_what_to_do():
    llm = NoLLM()
    assert not llm
    with pytest.raises(LLMError, match="expected the key llm in the scenario"):
        llm(messages=HELLO)
    with pytest.raises(LLMError, match="expected the key llm in the scenario"):
        asyncio.run(llm.atext_request(HELLO))
