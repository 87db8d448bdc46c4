"""The model that an agent may ask: ``await llm.atext_request(messages)``, ``llm(messages=…)``.

Requests take the entries of ``llm:`` in turn, keep to their rate limits, are retried after transient
errors, and are counted in the record of the sample that asked.
"""

from __future__ import annotations

import math
import random
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from http.client import HTTPException
from typing import Any, ClassVar, NoReturn

from pytest_agentbench.agents.errors import BudgetExceeded
from pytest_agentbench.agents.http_client import Endpoint, TooLarge
from pytest_agentbench.agents.llm.calls import (
    LLMError,
    Model,
    NoLLM,
    Request,
    request_of,
    shown,
)
from pytest_agentbench.agents.llm.embeddings import EmbeddingRequest, Vectors
from pytest_agentbench.agents.llm.entries import HIDDEN, Entry, parse_llm
from pytest_agentbench.agents.llm.replies import Answer, Failure, failure_of
from pytest_agentbench.agents.retry import LONGEST_WAIT, backoff
from pytest_agentbench.agents.usage import Usage, current
from pytest_agentbench.base.errors import BenchmarkError

__all__ = ["LLM", "BudgetExceeded", "LLMError", "NoLLM"]

_LONGEST_BACKOFF = 30.0
_LARGEST_REPLY = 32 * 2**20  # bytes
_SLICE = 0.2  # seconds; sleeps are cut so short that a cancelled call ends soon
_TEXTS_AT_ONCE = 128  # in one request for embeddings
_CALLS = {Request: "llm_calls", EmbeddingRequest: "embedding_calls"}
_SHORTEST_KEY = 8  # characters; local servers take any word for a key ("ollama")


class _Stopped(Exception):
    """Nobody waits for this request any more."""


class _Lane:
    """An entry, its connections, and when it may be asked next."""

    def __init__(self, entry: Entry, processes: int) -> None:
        self.entry = entry
        address, mark, query = entry.base_url.partition("?")
        key = entry.api_key
        self.endpoints = {
            kind.path: Endpoint(
                f"{address.rstrip('/')}{kind.path}{mark}{query}",
                _LARGEST_REPLY,
                None if key is None else lambda: f"Bearer {key.reveal()}",
            )
            for kind in (Request, EmbeddingRequest)
        }
        rate = entry.requests_per_minute
        self.interval = 0.0 if rate is None else 60.0 * processes / rate
        self.free_at = 0.0  # by the rate limit
        self.blocked_until = 0.0  # by the server's Retry-After
        most = entry.concurrency
        self._places = None if most is None else threading.Semaphore(max(1, most // processes))

    def ready_at(self) -> float:
        return max(self.free_at, self.blocked_until)

    @contextmanager
    def place(self, stop: threading.Event) -> Iterator[None]:
        """One of the requests that may be in flight; waits for its turn, if it must."""
        if self._places is None:
            yield
            return
        while not self._places.acquire(timeout=_SLICE):
            if stop.is_set():
                raise _Stopped
        try:
            if stop.is_set():  # cancelled while it waited for the place that it now has
                raise _Stopped
            yield
        finally:
            self._places.release()


class LLM(Model):
    """OpenAI-compatible endpoints as one model; may be used from many threads and event loops."""

    # What an agent in another process may call; see agents/process/wire.py.
    agentbench_methods: ClassVar[tuple[str, ...]] = ("text_request", "texts", "embeddings")

    def __init__(
        self,
        entries: Sequence[Entry | Mapping[str, Any]],
        *,
        max_cost: float | None = None,
        max_tokens: int | None = None,
        retries: int = 5,
        backoff: float = 0.5,
        longest_wait: float = LONGEST_WAIT,
        processes: int = 1,
    ) -> None:
        """``processes``: how many share the rate limits (xdist's workers); budgets are for this one."""
        try:
            parsed = [entry.expanded() for entry in parse_llm(entries)]
        except ValueError as error:
            raise BenchmarkError(f"llm: {error}") from None
        unpriced = [entry.model for entry in parsed if entry.price_input is None]
        if max_cost is not None and unpriced:
            raise BenchmarkError(
                f"max_cost: expected price_input and price_output in every entry of llm, "
                f"{unpriced[0]} has none"
            )
        self._lanes = [_Lane(entry, processes) for entry in parsed]
        self._max_cost = max_cost
        self._max_tokens = max_tokens
        self._retries = retries
        self._backoff = backoff
        self._longest_wait = longest_wait
        self._lock = threading.Lock()
        self._turn = 0
        self._spent = Usage()

    def __repr__(self) -> str:
        return f"LLM({', '.join(f'{x.entry.model} at {x.entry.where}' for x in self._lanes)})"

    @property
    def model(self) -> str:
        """The model of the first entry."""
        return self._lanes[0].entry.model

    @property
    def spent(self) -> dict[str, float]:
        """What this process has used so far: input_tokens, output_tokens, cost, llm_calls …"""
        with self._lock:
            return dict(self._spent.counts)

    def texts(
        self, messages: Any, options: dict[str, Any], defaults: Mapping[str, Any] | None = None
    ) -> list[str]:
        """The texts of all choices: what :class:`RelayedLLM` asks for."""
        __tracebackhide__ = True
        return self._ask(request_of(messages, options, defaults), threading.Event())

    def embeddings(self, texts: Sequence[str]) -> Vectors | None:
        """By the entries that name an embedding_model; by the offline model if none does."""
        __tracebackhide__ = True
        if all(lane.entry.embedding_model is None for lane in self._lanes):
            return super().embeddings(texts)
        return [
            vector
            for start in range(0, len(texts), _TEXTS_AT_ONCE)
            for vector in self._ask(
                EmbeddingRequest(texts[start : start + _TEXTS_AT_ONCE]), threading.Event()
            )
        ]

    def close(self) -> None:
        """Closes the connections that are kept open."""
        for lane in self._lanes:
            for endpoint in lane.endpoints.values():
                endpoint.close()

    def _ask(self, request: Request | EmbeddingRequest, stop: threading.Event) -> list[Any]:
        __tracebackhide__ = True
        usage = current()
        retries = self._retries if request.retries is None else request.retries
        self._count(usage, **{_CALLS[type(request)]: 1})
        for attempt in range(retries + 1):
            self._require_budget(usage)
            lane, wait = self._take_turn(request)
            _sleep(wait, stop)
            self._require_budget(usage)  # others have asked meanwhile
            with lane.place(stop):
                outcome = self._send(lane, request)
            if isinstance(outcome, Answer):
                return self._answered(request, usage, lane, outcome)
            asked = outcome.retry_after
            if asked is not None and asked > self._longest_wait:
                text = f"{outcome.text}; it asks to wait {asked:.0f} s (at most {self._longest_wait:g})"
                outcome = replace(outcome, text=text, transient=False)
            if not outcome.transient or attempt == retries:
                self._fail(request, usage, lane, outcome, attempt + 1)
            self._count(usage, llm_retries=1)
            pause = backoff(attempt, self._backoff, _LONGEST_BACKOFF)
            if asked is not None:
                # All requests to this entry wait; another entry may serve this one at once.
                lane.blocked_until = time.monotonic() + asked
            if asked is None or asked < pause:
                _sleep(pause, stop)
        raise AssertionError("the last attempt returns or raises")

    def _take_turn(self, request: Request | EmbeddingRequest) -> tuple[_Lane, float]:
        """The entry that is free first (several take turns), and the seconds until then."""
        with self._lock:
            now = time.monotonic()
            lanes = self._lanes[self._turn :] + self._lanes[: self._turn]
            self._turn = (self._turn + 1) % len(lanes)
            lanes = [lane for lane in lanes if request.served_by(lane.entry)]
            lane = min(lanes, key=lambda lane: max(now, lane.ready_at()))
            at = max(now, lane.ready_at())
            if lane.blocked_until > now:  # jitter: those who wait do not return all at once
                at += random.uniform(0, self._backoff)
            if lane.interval:
                lane.free_at = at + lane.interval
            return lane, at - now

    def _send(self, lane: _Lane, request: Request | EmbeddingRequest) -> Answer | Failure:
        __tracebackhide__ = True
        body = request.body(lane.entry)
        timeout = request.timeout or lane.entry.timeout
        try:
            reply = lane.endpoints[request.path].post(body, timeout)
        except (OSError, HTTPException, TooLarge) as error:
            return failure_of(error, timeout)
        outcome = request.read(reply)
        if isinstance(outcome, Failure):  # its text is cut, perhaps in the middle of a key
            body = self._redacted(reply.body.decode("utf-8", "replace")).encode()
            outcome = request.read(replace(reply, body=body))
        return outcome

    def _answered(
        self,
        request: Request | EmbeddingRequest,
        usage: Usage | None,
        lane: _Lane,
        answer: Answer,
    ) -> list[Any]:
        asked, said = answer.input_tokens, answer.output_tokens
        if isinstance(
            request, EmbeddingRequest
        ):  # they have a price of their own, and little of it
            self._count(usage, embedding_tokens=asked or 0)
            return answer.texts
        if asked is None or said is None:
            # The server did not count. Four characters are taken for a token, and the record says so.
            asked = math.ceil(sum(len(shown(m)) for m in request.messages) / 4)
            said = math.ceil(sum(map(len, answer.texts)) / 4)
            self._count(usage, llm_calls_estimated=1)
        counts: dict[str, float] = {"input_tokens": asked, "output_tokens": said}
        if lane.entry.price_input is not None and lane.entry.price_output is not None:
            cost = asked * lane.entry.price_input + said * lane.entry.price_output
            counts["cost"] = cost / 1e6
        self._count(usage, **counts)
        self._keep(usage, request, [("assistant", text) for text in answer.texts])
        return answer.texts

    def _fail(
        self,
        request: Request | EmbeddingRequest,
        usage: Usage | None,
        lane: _Lane,
        failure: Failure,
        attempts: int,
    ) -> NoReturn:
        __tracebackhide__ = True
        tried = f" ({attempts} attempts)" if attempts > 1 else ""
        entry = lane.entry
        text = f"llm {request.model or entry.model} at {entry.where}: {failure.text}{tried}"
        text = self._redacted(text)
        self._count(usage, llm_errors=1)
        self._keep(usage, request, [("error", text)])
        raise LLMError(text, status=failure.status, transient=failure.transient) from None

    def _require_budget(self, usage: Usage | None) -> None:
        __tracebackhide__ = True
        with self._lock:
            counts = self._spent.counts
            tokens = counts.get("input_tokens", 0) + counts.get("output_tokens", 0)
            cost = counts.get("cost", 0)
        if self._max_cost is not None and cost >= self._max_cost:
            text = f"the budget is spent: cost {cost:.6g}, max_cost {self._max_cost:g}"
        elif self._max_tokens is not None and tokens >= self._max_tokens:
            text = f"the budget is spent: {tokens:.0f} tokens, max_tokens {self._max_tokens:g}"
        else:
            return
        # Recorded even if the agent catches everything.
        self._count(usage, budget_exceeded=1)
        raise BudgetExceeded(text)

    def _count(self, usage: Usage | None, **counts: float) -> None:
        with self._lock:  # an agent may ask from several threads for one sample
            self._spent.add(**counts)
            if usage is not None:
                usage.add(**counts)

    def _keep(
        self,
        usage: Usage | None,
        request: Request | EmbeddingRequest,
        end: list[tuple[str, str]],
    ) -> None:
        if usage is None:
            return
        asked = [(str(message.get("role")), shown(message)) for message in request.messages]
        with self._lock:  # conversations that overlap are not mixed up
            for role, text in asked + end:
                usage.said(role, self._redacted(text))

    def _redacted(self, text: str) -> str:
        for lane in self._lanes:
            key = lane.entry.api_key.reveal() if lane.entry.api_key else ""
            if len(key) >= _SHORTEST_KEY:
                text = text.replace(key, HIDDEN)
        return text


def _sleep(seconds: float, stop: threading.Event) -> None:
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0 and not stop.is_set():
        stop.wait(min(left, _SLICE))
    if stop.is_set():
        raise _Stopped
