"""Real clients of the openai package whose requests are exchanges of the model."""

from __future__ import annotations

import asyncio

import openai
import pytest
from llm_server import HELLO, KEY, delta, error, events, raw, text
from openai.types.chat import ChatCompletion

from pytest_agentbench.agents.errors import BudgetExceeded, NotProvided
from pytest_agentbench.agents.llm.calls import NoLLM, RelayedLLM

TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
CALLED = b"""{"id": "1", "object": "chat.completion", "created": 1, "model": "m1", "choices": [{"index": 0,
"finish_reason": "tool_calls", "message": {"role": "assistant", "content": null, "tool_calls": [{"id": "c1",
"type": "function", "function": {"name": "look", "arguments": "{\\"at\\": 3}"}}]}}],
"usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}}"""


def relayed(llm):
    model = RelayedLLM()
    model.remote = llm
    return model


@pytest.fixture(params=["here", "isolated"])
def llm(request, make):
    model = make()
    return model if request.param == "here" else relayed(model)


def test_the_client_asks_as_the_run_does_and_is_counted(server, llm, usage):
    found = llm.client.chat.completions.create(model="m1", messages=HELLO, temperature=0.5)
    assert found.choices[0].message.content == "Hi"
    assert server.seen[0]["body"] == {"model": "m1", "messages": HELLO, "temperature": 0.5}
    assert server.seen[0]["key"] == f"Bearer {KEY}"
    assert usage.counts == {"llm_calls": 1, "input_tokens": 7, "output_tokens": 3}
    assert llm.client is llm.client


def test_the_asynchronous_client_too_from_any_loop(server, llm, usage):
    async def ask():
        created = (
            llm.async_client.chat.completions.create(model="m1", messages=HELLO) for _ in range(3)
        )
        return [one.choices[0].message.content for one in await asyncio.gather(*created)]

    assert asyncio.run(ask()) == asyncio.run(ask()) == ["Hi"] * 3
    assert usage.counts["llm_calls"] == 6


def test_a_model_that_is_in_no_entry_is_replaced_by_the_configured_one(server, llm, usage):
    llm.client.chat.completions.create(model="gpt-4o", messages=HELLO)
    asyncio.run(llm.async_client.chat.completions.create(model="gpt-4o", messages=HELLO))
    assert [one["body"]["model"] for one in server.seen] == ["m1", "m1"]


def test_the_mark_at_the_end_of_a_stream_is_enough(server, llm, usage):
    server.script = [events(delta("a"), delta("b"))]
    assert llm.text_request(HELLO, stream=True) == "ab"
    assert len(server.seen) == 1


def test_tools_are_called_through_both_ways(server, llm, usage):
    server.script = [raw(CALLED)] * 2
    by_client = llm.client.chat.completions.create(
        model="m1", messages=HELLO, tools=TOOLS, tool_choice="auto"
    )
    whole = llm.text_request(HELLO, tools=TOOLS, tool_choice="auto", model="m1")
    assert isinstance(whole, ChatCompletion)
    for reply in (by_client, whole):
        (call,) = reply.choices[0].message.tool_calls
        assert (call.function.name, call.function.arguments) == ("look", '{"at": 3}')
    assert server.seen[0]["body"] == server.seen[1]["body"]
    assert server.seen[0]["body"]["tools"] == TOOLS
    assert "look" in usage.messages[1]["content"]


@pytest.mark.parametrize("asks_for_usage", [False, True])
def test_a_stream_is_read_to_its_end_and_handed_on(server, llm, usage, asks_for_usage):
    server.script = [events(delta("a"), delta("b"), delta(finish="stop"))]
    options = {"stream_options": {"include_usage": True}} if asks_for_usage else {}
    stream = llm.client.chat.completions.create(model="m1", messages=HELLO, stream=True, **options)
    chunks = list(stream)
    said = [chunk.choices[0].delta.content for chunk in chunks if chunk.choices]
    assert said == ["a", "b", None]
    assert len(chunks) == (4 if asks_for_usage else 3)
    assert server.seen[0]["body"]["stream_options"] == {"include_usage": True}
    assert usage.counts == {"llm_calls": 1, "input_tokens": 7, "output_tokens": 3}
    assert usage.messages[-1] == {"role": "assistant", "content": "ab"}


def test_a_stream_that_breaks_off_is_asked_again(server, llm, usage):
    failing = events(delta("a"), {"error": {"message": "overloaded", "code": 503}})
    server.script = [
        events(delta("a"), done=False), failing, error(503), raw(b"data: {\n\n"),
        events(delta("b"), delta(finish="stop")),
    ]  # fmt: skip
    assert llm.text_request(HELLO, stream=True) == "b"
    assert usage.counts["llm_retries"] == 4


def test_an_entry_may_say_that_its_server_knows_no_stream_options(server, make, usage):
    server.script = [events(delta("abcd"), delta(finish="stop"))]
    llm = make({"parameters": {"stream_options": None}})
    assert llm.text_request(HELLO, stream=True) == "abcd"
    assert "stream_options" not in server.seen[0]["body"]
    assert usage.counts["llm_calls_estimated"] == 1


@pytest.mark.parametrize(
    ("step", "kind"),
    [
        (error(429, "slow down", [("Retry-After", "600")]), openai.RateLimitError),
        (error(400, "slow down"), openai.BadRequestError),
        (error(401, "slow down"), openai.AuthenticationError),
    ],
)
def test_an_error_is_the_clients_own_and_says_what_the_server_said(server, llm, step, kind):
    server.script = [step]
    with pytest.raises(kind, match="slow down"):
        llm.client.chat.completions.create(model="m1", messages=HELLO)
    assert len(server.seen) == 1


def test_a_spent_budget_ends_the_run_and_is_no_error_of_the_client(make):
    llm = make(max_tokens=0)
    with pytest.raises(BudgetExceeded):
        llm.client.chat.completions.create(model="m1", messages=HELLO)
    with pytest.raises(BudgetExceeded):
        asyncio.run(llm.async_client.chat.completions.create(model="m1", messages=HELLO))


def test_embeddings_and_other_paths_go_the_same_way(server, make, usage):
    rows = raw(b'{"object": "list", "model": "e", "data": [{"index": 0, "embedding": [1.0]}]}')
    answer = b'{"id": "r", "output": [], "usage": {"input_tokens": 4, "output_tokens": 2}}'
    server.script = [rows, raw(answer)]
    llm = make({"embedding_model": "e"})
    found = llm.client.embeddings.create(model="e", input=["x"], encoding_format="float")
    assert found.data[0].embedding == [1.0]
    assert llm.client.responses.create(model="m1", input="x").id == "r"
    assert [seen["path"] for seen in server.seen] == ["/v1/embeddings", "/v1/responses"]
    assert (usage.counts["input_tokens"], usage.counts["output_tokens"]) == (4, 2)


def test_what_is_no_question_to_a_model_is_refused(server, make):
    with pytest.raises(openai.NotFoundError, match="expected a POST with a JSON object, got GET"):
        make().client.models.list()
    assert not server.seen


def test_the_client_holds_no_key_and_its_errors_show_none(server, make):
    llm = make()
    client = llm.client
    assert KEY not in f"{client.api_key} {client.auth_headers} {vars(client)}"
    server.script = [error(400, f"wrong: {KEY}")]
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(model="m1", messages=HELLO)
    assert KEY not in f"{caught.value} {caught.value.response.text} {caught.value.request.headers}"


def test_without_a_model_the_client_marks_the_sample():
    with pytest.raises(NotProvided, match="none is configured"):
        NoLLM().client.chat.completions.create(model="m1", messages=HELLO)


def test_several_choices_and_response_format_pass(server, make):
    server.script = [text("a", "b")]
    found = make().client.chat.completions.create(
        model="m1", messages=HELLO, n=2, response_format={"type": "json_object"}
    )
    assert [choice.message.content for choice in found.choices] == ["a", "b"]
    assert server.seen[0]["body"]["response_format"] == {"type": "json_object"}
