"""The proxy in front of a model, asked by the real ``openai`` client, with a real server behind it."""

from __future__ import annotations

import asyncio
import http.client
import json
import threading
import warnings

import openai
import pytest
from llm_server import HELLO, KEY, break_off, error, reply, slow

from pytest_agentbench.agents.http_agent import HttpAgent
from pytest_agentbench.agents.llm.proxy import Proxy
from pytest_agentbench.agents.usage import Usage, counting

TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]


def chunk(end=None, **delta):
    return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m1",
            "choices": [{"index": 0, "delta": delta, "finish_reason": end}]}  # fmt: skip


USED = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m1", "choices": [],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}}  # fmt: skip


def stream(*chunks):
    text = "".join(f"data: {json.dumps(one)}\n\n" for one in chunks) + "data: [DONE]\n\n"
    headers = [("Content-Type", "text/event-stream")]
    return lambda handler: handler.send(200, text.encode(), headers)


def data(**parts):
    return lambda handler: handler.send(
        200, json.dumps(parts).encode(), [("Content-Type", "application/json")]
    )


@pytest.fixture
def start(make):
    """A proxy in front of a model in front of the server."""
    started = []

    def start(*entries, **options):
        started.append(Proxy(make(*entries, **options)))
        return started[-1]

    yield start
    for proxy in started:
        proxy.close()


@pytest.fixture
def client(start):
    with openai_client(start()) as client:
        yield client


def openai_client(proxy, key=None, kind=openai.OpenAI):
    return kind(base_url=proxy.base_url, api_key=(key or proxy.keys.here).token)


def say(client, model="m1", **options):
    return client.chat.completions.create(model=model, messages=HELLO, **options)


def test_the_model_answers_and_the_server_sees_the_real_key_alone(client, server):
    assert say(client, temperature=0.5).choices[0].message.content == "Hi"
    (seen,) = server.seen
    assert seen["path"] == "/v1/chat/completions"
    assert seen["key"] == f"Bearer {KEY}"
    assert seen["body"] == {"model": "m1", "messages": HELLO, "temperature": 0.5}


def test_an_asynchronous_client_is_served_in_parallel(start, server):
    together = threading.Barrier(3)

    def step(handler):
        together.wait(30)
        handler.send(200, reply("Hi"))

    server.usual = step

    async def main():
        async with openai_client(start(), kind=openai.AsyncOpenAI) as client:
            return await asyncio.gather(*(say(client) for _ in range(3)))

    assert [one.choices[0].message.content for one in asyncio.run(main())] == ["Hi"] * 3


def test_a_stream_arrives_as_a_stream(client, server):
    server.usual = stream(chunk(role="assistant", content="Hel"), chunk("stop", content="lo"), USED)
    parts = list(say(client, stream=True, stream_options={"include_usage": True}))
    assert [part.choices[0].delta.content for part in parts if part.choices] == ["Hel", "lo"]
    assert parts[-1].usage.total_tokens == 10


def test_tools_reach_the_model_and_its_calls_come_back(client, server):
    call = {"id": "1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    server.usual = data(choices=[{"index": 0, "message": message, "finish_reason": "tool_calls"}])
    found = say(client, tools=TOOLS, tool_choice="auto").choices[0].message
    assert found.tool_calls[0].function.name == "look"
    assert server.seen[0]["body"]["tools"] == TOOLS


def test_embeddings_and_responses_are_served_too(client, server):
    vector = {"object": "embedding", "index": 0, "embedding": [0.5, 0.25]}
    server.script = [
        data(object="list", data=[vector], usage={"prompt_tokens": 2, "total_tokens": 2}),
        data(
            id="r1", object="response", created_at=1, model="m1", status="completed",
            output=[{"type": "message", "id": "m", "role": "assistant", "status": "completed",
                     "content": [{"type": "output_text", "text": "Hi", "annotations": []}]}],
            usage={"input_tokens": 3, "output_tokens": 1, "total_tokens": 4},
        ),
    ]  # fmt: skip
    found = client.embeddings.create(model="e", input="Hello", encoding_format="float")
    assert found.data[0].embedding == [0.5, 0.25]
    assert client.responses.create(model="m1", input="Hello").output_text == "Hi"
    assert [one["path"] for one in server.seen] == ["/v1/embeddings", "/v1/responses"]
    assert server.seen[0]["body"]["model"] == "e"


def test_the_events_of_a_streamed_response_keep_their_names(client, server):
    event = {"type": "response.output_text.delta", "delta": "Hi", "item_id": "m", "output_index": 0,
             "content_index": 0, "sequence_number": 0, "logprobs": []}  # fmt: skip
    server.usual = stream(event)
    with client.responses.create(model="m1", input="Hello", stream=True) as events:
        assert [(one.type, one.delta) for one in events] == [("response.output_text.delta", "Hi")]


def test_a_model_that_is_not_configured_is_replaced_by_the_one_that_is(start, server):
    first, second = {"model": "small"}, {"model": "large", "embedding_model": "vectors"}
    vector = {"object": "embedding", "index": 0, "embedding": [0.5]}
    with openai_client(start(first, second)) as client:
        for _ in range(3):
            say(client, "large")
        say(client, "gpt-4o")
        server.usual = data(object="list", data=[vector], usage={"prompt_tokens": 1})
        client.embeddings.create(
            model="text-embedding-3-small", input="Hello", encoding_format="float"
        )
        assert [one.id for one in client.models.list()] == ["small", "large"]
        assert client.models.retrieve("large").id == "large"
    *asked, other, embedded = [one["body"]["model"] for one in server.seen]
    assert asked == ["large"] * 3
    assert other in ("small", "large")
    assert embedded == "vectors"


def test_what_the_server_refuses_for_a_moment_is_retried_here(client, server):
    server.script = [error(429, headers=[("Retry-After", "0")]), break_off, error(503)]
    usage = Usage()
    with counting(usage):
        assert say(client).choices[0].message.content == "Hi"
    assert len(server.seen) == 4
    assert usage.counts["llm_calls"] == 1
    assert usage.counts["llm_retries"] == 3


def test_a_broken_stream_is_asked_for_again_before_anything_is_handed_on(client, server):
    server.script = [break_off]
    server.usual = stream(chunk("stop", role="assistant", content="whole"), USED)
    (part,) = say(client, stream=True)  # the usage is for the record alone
    assert part.choices[0].delta.content == "whole"
    assert len(server.seen) == 2


@pytest.mark.parametrize(
    ("step", "kind", "status", "sent"),
    [
        (error(400, "no such parameter"), openai.BadRequestError, 400, 1),
        (error(401, "wrong key"), openai.AuthenticationError, 401, 1),
        (error(429, "slow down"), openai.RateLimitError, 429, 2),
        (error(503, "away"), openai.InternalServerError, 503, 2),
        (slow(5), openai.InternalServerError, 502, 2),
    ],
    ids=["refused", "key", "busy", "away", "slow"],
)
def test_an_error_is_the_clients_own_and_is_not_retried_again(
    start, server, step, kind, status, sent
):
    server.usual = step
    with openai_client(start({"timeout": 0.3}, retries=1)) as client, pytest.raises(kind) as caught:
        say(client)
    assert caught.value.status_code == status
    assert "llm m1 at http://127.0.0.1" in caught.value.message
    assert KEY not in caught.value.message
    assert len(server.seen) == sent


def test_a_spent_budget_is_an_error_that_nobody_retries_and_marks_the_sample(start, server):
    usage = Usage()
    with openai_client(start(max_tokens=10)) as client, counting(usage):
        say(client)
        with pytest.raises(openai.APIStatusError, match="the budget is spent") as caught:
            say(client)
    assert caught.value.status_code == 402
    assert usage.counts["budget_exceeded"] == 1
    assert len(server.seen) == 1


def ask_plainly(proxy, path="/v1/chat/completions", body=b"{}", method="POST", **headers):
    host, _, port = proxy.base_url.removeprefix("http://").removesuffix("/v1").partition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=30)
    key = f"Bearer {proxy.keys.here.token}"
    try:
        connection.request(method, path, body, {"Authorization": key, **headers})
        reply = connection.getresponse()
        return reply.status, json.loads(reply.read())["error"]["message"], reply.headers
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("request_", "status", "message"),
    [
        ({"Authorization": ""}, 401, "expected the key that agentbench hands to the agent"),
        ({"Authorization": "Bearer sk-agentbench"}, 401, "got none or another one"),
        ({"Host": "evil.example:80"}, 403, "expected the host 127.0.0.1 or localhost"),
        ({"path": "/v2/chat/completions"}, 404, "expected a path that begins with /v1/"),
        ({"path": "/v1/files"}, 404, "expected one of /v1/chat/completions"),
        ({"path": "/v1/../admin"}, 404, "expected one of /v1/chat/completions"),
        ({"path": "/v1/nothing", "method": "GET"}, 404, "expected GET /v1/models"),
        ({"body": b"[]"}, 400, "expected a JSON object"),
        ({"body": b"{" * 9999}, 400, "expected a JSON object"),
        ({"Content-Length": "many"}, 411, "expected a Content-Length"),
        ({"method": "DELETE"}, 501, "DELETE"),
        ({"body": bytes(2**25 + 1)}, 413, "expected a body of at most 33554432 bytes"),
    ],
)
def test_what_is_no_request_to_the_model_is_refused(start, server, request_, status, message):
    got, text, headers = ask_plainly(start(), **request_)
    assert (got, headers["x-should-retry"]) == (status, "false")
    assert message in text
    assert not [name for name in headers if name.lower().startswith("access-control")]
    assert not server.seen


def test_only_this_machine_is_listened_to(start):
    proxy = start()
    assert proxy.base_url.startswith("http://127.0.0.1:")
    assert proxy._server.socket.getsockname()[0] == "127.0.0.1"


def test_its_end_leaves_no_thread_and_no_open_connection(make, server):
    before = set(threading.enumerate())
    with warnings.catch_warnings(), openai_client(proxy := Proxy(make())) as client:
        warnings.simplefilter("error")
        say(client)  # its connection is kept open
        proxy.close()
        left = {one.name for one in set(threading.enumerate()) - before}
        assert not {name for name in left if name.startswith("agentbench-proxy")}
        with pytest.raises(openai.APIConnectionError):
            say(client.with_options(max_retries=0))


@pytest.mark.parametrize(
    ("host", "is_told"),
    [("localhost", True), ("127.0.0.1", True), ("example.org", False), ("10.0.0.1", False)],
)
def test_an_endpoint_on_another_machine_is_not_told_of_it(start, host, is_told):
    agent = HttpAgent(f"http://{host}:8000/", proxy=start())
    assert (agent._proxy is not None) is is_told
