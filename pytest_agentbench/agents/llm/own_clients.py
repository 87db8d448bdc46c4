"""Clients of the ``openai`` package for agents: their requests never leave the process by themselves.

Each becomes an exchange of the run's model, with its key, limits, budget, counts and cache. The clients hold no
key.
"""

from __future__ import annotations

import json
from typing import Any

import httpx2
import openai
from openai.types.chat import ChatCompletion

from pytest_agentbench.agents.llm.exchanges import Exchange, Exchanging, LLMError, events_of

_ADDRESS = "http://agentbench.invalid/v1"
_PREFIX = "/v1"
_NO_KEY = "agentbench"


def client(model: Exchanging) -> openai.OpenAI:
    """An ``OpenAI`` that asks this model."""
    return openai.OpenAI(
        api_key=_NO_KEY,
        base_url=_ADDRESS,
        max_retries=0,  # the model has its own
        http_client=httpx2.Client(transport=_Transport(model), timeout=None),
    )


def async_client(model: Exchanging) -> openai.AsyncOpenAI:
    """An ``AsyncOpenAI`` that asks this model, from any event loop."""
    return openai.AsyncOpenAI(
        api_key=_NO_KEY,
        base_url=_ADDRESS,
        max_retries=0,
        http_client=httpx2.AsyncClient(transport=_AsyncTransport(model), timeout=None),
    )


def completion(body: dict[str, Any] | None) -> ChatCompletion:
    """A reply as openai's clients give it."""
    return ChatCompletion.construct(**(body or {}))


class _Transport(httpx2.BaseTransport):
    def __init__(self, model: Exchanging) -> None:
        self._model = model

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        request.read()
        asked = _asked(request)
        if isinstance(asked, httpx2.Response):
            return asked
        try:
            return response_of(self._model.exchange(*asked, configured=True))
        except LLMError as error:
            return refusal_of(error)


class _AsyncTransport(httpx2.AsyncBaseTransport):
    def __init__(self, model: Exchanging) -> None:
        self._model = model

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        await request.aread()
        asked = _asked(request)
        if isinstance(asked, httpx2.Response):
            return asked
        try:
            return response_of(await self._model.aexchange(*asked, configured=True))
        except LLMError as error:
            return refusal_of(error)


def _asked(request: httpx2.Request) -> tuple[str, dict[str, Any]] | httpx2.Response:
    """The path and the body of a request, or why it cannot be sent on."""
    path = request.url.path.removeprefix(_PREFIX)
    try:
        body = json.loads(request.content)
    except ValueError:
        body = None
    if request.method != "POST" or not isinstance(body, dict):
        text = f"expected a POST with a JSON object, got {request.method} {path}"
        return httpx2.Response(404, json={"error": {"message": text}})
    return path, body


def response_of(exchange: Exchange) -> httpx2.Response:
    """An exchange as a server would send it; a stream as server-sent events."""
    if exchange.chunks is None:
        return httpx2.Response(200, json=exchange.body)
    return httpx2.Response(
        200,
        headers={"Content-Type": "text/event-stream"},
        content=events_of(exchange.chunks),
    )


def refusal_of(error: LLMError) -> httpx2.Response:
    """A failure with its status, so that the client raises the error that belongs to it."""
    status = error.status
    if status is None or 200 <= status < 400:
        status = 503 if error.transient else 400
    return httpx2.Response(status, json={"error": {"message": str(error)}})
