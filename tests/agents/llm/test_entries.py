"""The models of a scenario: addresses, keys that stay hidden, mistakes in an entry."""

from __future__ import annotations

import json
import pickle

import pytest
from llm_server import HELLO, KEY, WAYS, error, slow, text, ways

from pytest_agentbench.agents.errors import NotProvided
from pytest_agentbench.agents.llm.calls import RelayedLLM
from pytest_agentbench.agents.llm.client import LLM, LLMError, NoLLM
from pytest_agentbench.agents.llm.entries import Secret, parse_llm
from pytest_agentbench.base.errors import BenchmarkError


@pytest.mark.parametrize("way", WAYS)
def test_a_process_without_the_key_asks_through_the_one_that_has_it(server, make, usage, way):
    relayed = RelayedLLM()
    with pytest.raises(LLMError, match="while the agent answers"):
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
import asyncio
import httpcore2
from pytest_agentbench.agents.llm.client import LLM

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
    async def fault(self, request):  # called with the key in the caller's local variables
        assert any(b"sk-canary" in value for _, value in request.headers)
        raise RuntimeError("deep down")
    monkeypatch.setattr(httpcore2.AsyncConnectionPool, "handle_async_request", fault)
    llm, messages = ask(port)
    llm.text_request(messages)


def test_a_client(port):
    llm, messages = ask(port)
    llm.client.chat.completions.create(model="m", messages=messages)


def test_a_stream(port):
    llm, messages = ask(port)
    llm.text_request(messages, stream=True)


def test_a_check(port):
    llm, messages = ask(port)
    llm.check()


"""


def test_no_traceback_shows_a_key(server, pytester, monkeypatch):
    def misbehave(handler):
        body = handler.server.seen[-1]["body"]
        assert body
        handler.send(401, json.dumps({"error": f"{handler.headers['Authorization']}"}).encode())

    server.script = [misbehave, misbehave, slow(0.3), slow(0.3)] + [misbehave] * 7
    server.on_look = lambda handler: handler.send(401, handler.headers["Authorization"].encode())
    monkeypatch.setenv("AB_TEST_KEY", KEY)
    pytester.makeconftest(
        f"import pytest\n@pytest.fixture\ndef port(): return {server.server_port}\n"
    )
    pytester.makepyfile(LEAKY)
    result = pytester.runpytest_subprocess(
        "--showlocals",
        "--tb=long",
        "--full-trace",
        "-vv",
        "-p",
        "no:cacheprovider",
        "--log-level=DEBUG",
    )
    result.assert_outcomes(failed=8)
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
    for way in ways(llm).values():
        with pytest.raises(
            NotProvided,
            match=r"expected --model NAME .*the key llm in the scenario.*asked at .*\.py:[0-9]+$",
        ):
            way(HELLO)
