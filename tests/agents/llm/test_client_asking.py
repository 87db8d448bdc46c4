"""What a model is asked, and what comes back, against a real server on this machine that speaks the protocol."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading

import pytest
from llm_server import HELLO, KEY, WAYS, chunked, error, hang_up, slow, text, ways

from pytest_agentbench.agents.llm import client
from pytest_agentbench.agents.llm.cache import REPLAY, Cache
from pytest_agentbench.agents.llm.client import LLMError
from pytest_agentbench.base.errors import BenchmarkError


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


def test_a_model_that_is_named_goes_to_the_entries_that_have_it(server, make):
    llm = make({"model": "a"}, {"model": "b"})
    for model in ("b", "b", "a", "unknown", "unknown"):
        llm.text_request(HELLO, model=model)
    assert [seen["body"]["model"] for seen in server.seen] == ["b", "b", "a", "unknown", "unknown"]


def test_calls_on_their_way_are_counted(server, make):
    together, answered = threading.Barrier(4, timeout=60), threading.Event()

    def step(handler):
        together.wait()
        answered.wait(60)
        text("Hi")(handler)

    server.script = [step] * 3
    llm = make()

    async def look():
        asking = [asyncio.create_task(llm.atext_request(HELLO)) for _ in range(3)]
        await asyncio.to_thread(together.wait)
        found = llm.in_flight
        answered.set()
        await asyncio.gather(*asking)
        return found

    assert llm.in_flight == 0
    assert asyncio.run(look()) == 3
    assert llm.in_flight == 0


def test_the_seconds_of_calls_that_were_answered_are_kept(server, make, usage):
    server.script = [error(503), text("Hi"), error(400)]
    llm = make()
    llm.text_request(HELLO)
    with pytest.raises(LLMError):
        llm.text_request(HELLO)
    assert len(usage.seconds_asked) == 1
    assert 0 < usage.seconds_asked[0] < 60
    usage.seconds_asked.extend([0.0] * 1999)
    llm.text_request(HELLO)
    assert len(usage.seconds_asked) == 2000


@pytest.mark.parametrize("status", [200, 404, 500])
def test_a_server_that_is_there_passes_the_check(server, make, status):
    server.on_look = lambda handler: handler.send(status, b"{}")
    make().check()
    assert server.looked == [{"path": "/v1/models", "key": f"Bearer {KEY}"}]
    assert not server.seen


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_does_not(server, make, status):
    server.on_look = lambda handler: handler.send(status, KEY.encode())
    with pytest.raises(
        BenchmarkError, match=f"m1: {server.url} refuses the key .HTTP {status}.*api_key"
    ):
        make().check()


def test_the_variable_of_a_refused_key_is_named_and_one_that_is_missing(server, make, monkeypatch):
    monkeypatch.setenv("MINE", KEY)
    server.on_look = lambda handler: handler.send(401, KEY.encode())
    with pytest.raises(BenchmarkError, match=r"refuses the key .*check \$\{MINE\}$"):
        make({"api_key": "${MINE}"}).check()
    with pytest.raises(BenchmarkError, match=r"wants a key .HTTP 401.*none is sent.*--api-key-env"):
        make({"api_key": None}).check()


@pytest.mark.parametrize("step", [hang_up, slow(60)], ids=["hangs up", "silent"])
def test_nor_does_a_server_that_is_silent_or_not_there(server, make, step):
    server.on_look = step
    with pytest.raises(BenchmarkError, match=r"expected a server at .*, got .*check base_url"):
        make({"timeout": 0.3}).check()
    with pytest.raises(BenchmarkError, match="got ConnectionRefusedError"):
        make({"base_url": "http://127.0.0.1:1/v1"}).check()


def test_without_the_package_that_asks_the_command_to_install_it_is_said(
    make, monkeypatch, tmp_path
):
    monkeypatch.setattr(client, "find_spec", lambda name: None)
    with pytest.raises(BenchmarkError, match=r'pip install "pytest-agentbench\[llm\]"'):
        make()
    make(cache=Cache(tmp_path, REPLAY))  # which sends nothing


def test_a_replay_imports_nothing_that_asks(tmp_path):
    code = f"""
import pathlib, sys
from pytest_agentbench.agents.llm.cache import Cache
from pytest_agentbench.agents.llm.client import LLM
cache = Cache(pathlib.Path({str(tmp_path)!r}))
body = {{"model": "m", "messages": [{{"role": "user", "content": "Hello"}}]}}
reply = {{"choices": [{{"message": {{"content": "Hi"}}}}]}}
cache.record("/chat/completions", body, ("", 0), reply, {{}})
llm = LLM([{{"model": "m"}}], cache=Cache(pathlib.Path({str(tmp_path)!r}), "replay"))
print(llm.text_request("Hello"))
print(sorted({{"asyncio", "http.client", "httpx2", "openai", "ssl", "tenacity"}} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=90)
    assert done.stdout.splitlines() == ["Hi", "[]"], done.stderr
