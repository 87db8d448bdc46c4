"""One entry of ``llm:`` at work: its client of the ``openai`` package, and when it may be asked next."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_agentbench.agents.llm.entries import Entry
from pytest_agentbench.agents.llm.replies import (
    EMBEDDINGS,
    Data,
    Failure,
    ended,
    failure_of,
    refusal_or_data,
)

if TYPE_CHECKING:
    import asyncio

    import openai

    from pytest_agentbench.agents.http_transport import Transport

_LARGEST_REPLY = 32 * 2**20  # bytes
# Requests whose usage comes with the last event of a stream, if that is asked for.
_COUNTED = {"/chat/completions", "/completions"}
_AS_JSON: Any = {"headers": {"Content-Type": "application/json"}}
_NO_KEY = "the key is added where requests are sent"


@dataclass(frozen=True)
class Call:
    """One question, before an entry is chosen for it."""

    path: str
    given: Mapping[str, Any]
    defaults: Mapping[str, Any]
    timeout: float | None
    retries: int | None

    def body(self, entry: Entry) -> dict[str, Any]:
        """What is sent: what is given, then the entry's (null takes one away), then defaults."""
        given = {key: value for key, value in self.given.items() if value is not None}
        if self.path == EMBEDDINGS:
            return {"model": entry.embedding_model, **given}
        own = {} if entry.temperature is None else {"temperature": entry.temperature}
        options = {**self.defaults, **own, **entry.parameters, **given}
        sent = {key: value for key, value in options.items() if value is not None}
        return {"model": entry.model, **sent}

    def lanes(self, lanes: list[Lane]) -> list[Lane]:
        """Those that can be asked: where the question names the model of some, these."""
        model = self.given.get("model")
        if self.path == EMBEDDINGS:
            lanes = [lane for lane in lanes if model or lane.entry.embedding_model is not None]
            return [lane for lane in lanes if lane.entry.embedding_model == model] or lanes
        return [lane for lane in lanes if lane.entry.model == model] or lanes


class Lane:
    """An entry, its connections, and when it may be asked next. Used on the loop of HTTP requests alone."""

    def __init__(self, entry: Entry, processes: int, clean: Callable[[str], str]) -> None:
        """``processes``: how many share the rate limit and the places. ``clean`` takes keys out of a text."""
        self.entry = entry
        self._clean = clean
        rate = entry.requests_per_minute
        self.interval = 0.0 if rate is None else 60.0 * processes / rate
        self.free_at = 0.0  # by the rate limit
        self.blocked_until = 0.0  # by the server's Retry-After
        most = entry.concurrency
        self._most = None if most is None else max(1, most // processes)
        self._places: dict[asyncio.AbstractEventLoop, asyncio.Semaphore] = {}
        self._transport: Transport | None = None
        self._clients: dict[asyncio.AbstractEventLoop, openai.AsyncOpenAI] = {}

    @property
    def source(self) -> str:
        """The entry for people: model and address."""
        return f"{self.entry.model} at {self.entry.where}"

    def ready_at(self) -> float:
        return max(self.free_at, self.blocked_until)

    def place(self) -> AbstractAsyncContextManager[Any]:
        """One of the requests that may be in flight; entering it waits for its turn, if it must."""
        if self._most is None:
            return nullcontext()
        import asyncio

        loop = asyncio.get_running_loop()
        if loop not in self._places:
            self._places[loop] = asyncio.Semaphore(self._most)
        return self._places[loop]

    async def prepare(self) -> None:
        """Imports the package, which takes most of a second and is none of the server's time."""
        self._client()

    async def send(self, path: str, body: Mapping[str, Any], timeout: float) -> Data | Failure:
        """The JSON object of the reply, or the list of its events; a failure with what the server said."""
        from pytest_agentbench.agents.http_transport import NoReply, TooLarge, within

        ask = self._streamed if body.get("stream") else self._asked
        try:
            return await within(ask(path, dict(body)), timeout)
        except (TimeoutError, TooLarge, NoReply) as error:
            return failure_of(error, timeout)

    async def problem(self, timeout: float) -> str | None:
        """Why the server will not answer: it cannot be reached, or refuses the key; None where it may."""
        found, entry = await self._look(timeout), self.entry
        if isinstance(found, Failure):
            return f"expected a server at {entry.where}, got {found.text}; check base_url"
        if found not in (401, 403):
            return None
        if entry.api_key is None:
            return (
                f"{entry.where} wants a key (HTTP {found}), and none is sent; for --model it is in OPENAI_API_KEY or in "
                "what --api-key-env names, in an entry of llm it is api_key"
            )
        return f"{entry.where} refuses the key (HTTP {found}); check {entry.api_key.named}"

    async def _look(self, timeout: float) -> int | Failure:
        """The status with which the server answers a question for its models."""
        from pytest_agentbench.agents.http_transport import NoReply, TooLarge, within

        self._client()
        try:
            return await within(self._looked(), timeout)
        except TooLarge as error:
            return error.status
        except (TimeoutError, NoReply) as error:
            return failure_of(error, timeout)

    def close(self) -> None:
        """Closes the connections that are kept open."""
        if self._transport is not None:
            self._transport.close()

    async def _looked(self) -> int:
        import httpx2
        import openai

        from pytest_agentbench.agents.http_transport import no_reply, replying

        with replying():
            try:
                reply = await self._client().get("/models", cast_to=httpx2.Response)
                return reply.status_code
            except openai.APIStatusError as error:
                return error.status_code
            except openai.APIConnectionError as error:
                raise no_reply(error) from None

    async def _asked(self, path: str, body: dict[str, Any]) -> Data | Failure:
        import httpx2
        import openai

        from pytest_agentbench.agents.http_transport import Reply, no_reply, replying

        with replying():
            try:
                response = await self._client().post(
                    path, cast_to=httpx2.Response, content=_encoded(body), options=_AS_JSON
                )
            except openai.APIStatusError as error:
                response = error.response
            except openai.APIConnectionError as error:
                raise no_reply(error) from None
            reply = Reply.of(response)
        return refusal_or_data(reply, self._clean)

    async def _streamed(self, path: str, body: dict[str, Any]) -> Data | Failure:
        import openai

        from pytest_agentbench.agents.http_transport import READ, Reply, no_reply, replying

        if path in _COUNTED and "stream_options" not in {**self.entry.parameters, **body}:
            body["stream_options"] = {"include_usage": True}
        with replying():
            try:
                stream = await self._client().post(
                    path,
                    cast_to=object,
                    content=_encoded(body),
                    options=_AS_JSON,
                    stream=True,
                    stream_cls=openai.AsyncStream[object],
                )
                events = [event async for event in stream if isinstance(event, dict)]
                whole = b"[DONE]" in stream.response.extensions[READ].end
                return events if whole else ended(path, events)
            except openai.APIStatusError as error:
                return refusal_or_data(Reply.of(error.response), self._clean)
            except openai.APIConnectionError as error:
                raise no_reply(error) from None
            except openai.APIError as error:  # an event that says so, after others
                text = json.dumps({"error": error.body}).encode()
                return refusal_or_data(Reply(200, "OK", {}, text), self._clean)
            except (ValueError, RecursionError) as error:  # an event that is no JSON
                return Failure(f"expected events with JSON, got others ({error})", 200, True)

    def _client(self) -> openai.AsyncOpenAI:
        """The client of the present loop; after a fork there is another."""
        import asyncio

        import openai

        from pytest_agentbench.agents.http_transport import Transport

        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            if self._transport is None:
                key = self.entry.api_key
                self._transport = Transport(
                    self.entry.base_url,
                    _LARGEST_REPLY,
                    None if key is None else lambda: f"Bearer {key.reveal()}",
                )
            self._clients[loop] = openai.AsyncOpenAI(
                api_key=_NO_KEY,
                base_url=self.entry.where,
                max_retries=0,
                timeout=None,
                http_client=self._transport.client(),
            )
        return self._clients[loop]


def _encoded(body: Mapping[str, Any]) -> bytes:
    """By ourselves: the package would refuse lone surrogates, which texts from the web have."""
    return json.dumps(body).encode("ascii")
