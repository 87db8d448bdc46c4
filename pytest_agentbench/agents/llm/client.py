"""The model that an agent may ask: ``await llm.atext_request(messages)``, ``llm(messages=…)``.

Requests take the entries of ``llm:`` in turn, keep to their rate limits, are retried after transient
errors, and are counted in the record of the sample that asked.
"""

from __future__ import annotations

import random
import threading
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import Any, ClassVar, NoReturn

from pytest_agentbench.agents.errors import BudgetExceeded
from pytest_agentbench.agents.llm import replies
from pytest_agentbench.agents.llm.cache import UNKNOWN, Cache
from pytest_agentbench.agents.llm.calls import Exchange, LLMError, Model, NoLLM
from pytest_agentbench.agents.llm.embeddings import Vectors, vectors_of
from pytest_agentbench.agents.llm.entries import HIDDEN, Entry, parse_llm
from pytest_agentbench.agents.llm.lanes import Call, Lane
from pytest_agentbench.agents.llm.nearest import unrecorded
from pytest_agentbench.agents.llm.replies import EMBEDDINGS, Data, Failure
from pytest_agentbench.agents.llm.text_requests import shown
from pytest_agentbench.agents.retry import LONGEST_WAIT, backoff, policy
from pytest_agentbench.agents.usage import Usage, current, suspects
from pytest_agentbench.base.errors import BenchmarkError

__all__ = ["LLM", "BudgetExceeded", "LLMError", "NoLLM"]

_LONGEST_BACKOFF = 30.0
_LONGEST_LOOK = 15.0  # seconds in which a server says whether it is there
_TEXTS_AT_ONCE = 128  # in one request for embeddings
_MOST_SECONDS = 2000  # calls of a sample whose time is kept
_SHORTEST_KEY = 8  # characters; local servers take any word for a key ("ollama")


class LLM(Model):
    """OpenAI-compatible endpoints as one model; may be used from many threads and event loops."""

    # What an agent in another process may call; see agents/process/wire.py.
    agentbench_methods: ClassVar[tuple[str, ...]] = ("relayed", "embeddings")

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
        cache: Cache | None = None,
    ) -> None:
        """``processes``: how many share the rate limits (xdist's workers); budgets are for this one."""
        try:
            sends = cache is None or not cache.replays
            parsed = [entry.expanded(sends=sends) for entry in parse_llm(entries)]
        except ValueError as error:
            raise BenchmarkError(f"llm: {error}") from None
        unpriced = [entry.model for entry in parsed if entry.price_input is None]
        if max_cost is not None and unpriced:
            raise BenchmarkError(
                f"max_cost: expected price_input and price_output in every entry of llm, "
                f"{unpriced[0]} has none"
            )
        self._lanes = [Lane(entry, processes, self._redacted) for entry in parsed]
        self._max_cost = max_cost
        self._max_tokens = max_tokens
        self._retries = retries
        self._backoff = backoff
        self._longest_wait = longest_wait
        self._lock = threading.Lock()
        self._turn = 0
        self._spent = Usage()
        self._flying = 0
        self._cache = cache
        if sends and find_spec("openai") is None:
            raise BenchmarkError(
                "llm: expected the openai package, which asks models, got none: pip install "
                '"pytest-agentbench[llm]"'
            )

    def __repr__(self) -> str:
        return f"LLM({', '.join(f'{x.entry.model} at {x.entry.where}' for x in self._lanes)})"

    @property
    def model(self) -> str:
        """The model of the first entry."""
        return self._lanes[0].entry.model

    @property
    def models(self) -> list[str]:
        """The models of all entries."""
        return [lane.entry.model for lane in self._lanes]

    @property
    def embeds(self) -> bool:
        """Whether an entry names a model for embeddings."""
        return any(lane.entry.embedding_model is not None for lane in self._lanes)

    @property
    def spent(self) -> dict[str, float]:
        """What this process has used so far: input_tokens, output_tokens, cost, llm_calls …"""
        with self._lock:
            return dict(self._spent.counts)

    @property
    def in_flight(self) -> int:
        """How many calls are on their way now."""
        return self._flying

    def exchange(self, path: str, body: Mapping[str, Any], **own: Any) -> Exchange:
        __tracebackhide__ = True
        call = self._call(path, body, **own)
        usage = current()
        found = self._replayed(call, usage)
        if found is not None:
            return found
        from pytest_agentbench.agents import http_loop  # imports asyncio

        return http_loop.wait(self._exchanged(call, usage))

    async def aexchange(self, path: str, body: Mapping[str, Any], **own: Any) -> Exchange:
        __tracebackhide__ = True
        call = self._call(path, body, **own)
        usage = current()
        found = self._replayed(call, usage)
        if found is not None:
            return found
        from pytest_agentbench.agents import http_loop

        return await http_loop.awaited(self._exchanged(call, usage))

    def relayed(self, path: str, body: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
        """What :class:`RelayedLLM` asks for, as JSON."""
        __tracebackhide__ = True
        found = self.exchange(path, body, **own)
        return {"body": found.body, "chunks": found.chunks, "source": found.source}

    def embeddings(self, texts: Sequence[str]) -> Vectors | None:
        """By the entries that name an embedding_model; by the offline model if none does."""
        __tracebackhide__ = True
        if not self.embeds:
            return super().embeddings(texts)
        parts = [
            list(texts[at : at + _TEXTS_AT_ONCE]) for at in range(0, len(texts), _TEXTS_AT_ONCE)
        ]
        return [
            vector
            for part in parts
            for vector in vectors_of(self.exchange(EMBEDDINGS, {"input": part}).body)
        ]

    def is_warm(self) -> bool:
        """Whether the cache holds calls of one of these models: a second run may send no request at all."""
        models = [lane.entry.model for lane in self._lanes]
        return self._cache is not None and self._cache.holds(models)

    def check(self) -> None:
        """BenchmarkError if an entry's server cannot be reached or refuses the key."""
        __tracebackhide__ = True
        from pytest_agentbench.agents import http_loop

        for lane in self._lanes:
            problem = http_loop.wait(lane.problem(min(lane.entry.timeout, _LONGEST_LOOK)))
            if problem is not None:
                raise BenchmarkError(self._redacted(f"llm {lane.entry.model}: {problem}"))

    def close(self) -> None:
        """Closes the connections that are kept open."""
        for lane in self._lanes:
            lane.close()
        if self._cache is not None and self._cache.lost is not None:
            lost, self._cache.lost = self._cache.lost, None
            warnings.warn(
                f"calls of the model could not be recorded ({lost}); the next run asks them again",
                stacklevel=2,
            )

    def _call(
        self,
        path: str,
        body: Mapping[str, Any],
        defaults: Mapping[str, Any] | None = None,
        timeout: float | None = None,
        retries: int | None = None,
        configured: bool = False,
    ) -> Call:
        known = not self.embeds if path == EMBEDDINGS else body.get("model") in self.models
        if configured and not known:
            body = {name: value for name, value in body.items() if name != "model"}
        return Call(path, body, defaults or {}, timeout, retries)

    def _replayed(self, call: Call, usage: Usage | None) -> Exchange | None:
        """What the cache has for a call: it takes no turn and costs nothing."""
        __tracebackhide__ = True
        if self._cache is None:
            return None
        question = _question_of(usage)
        lanes = call.lanes(self._lanes)
        bodies = [call.body(lane.entry) for lane in lanes]
        found = self._cache.find(call.path, bodies, question)
        if found is None:
            if self._cache.replays:
                self._refuse(call.path, bodies[0], question, usage)
            return None
        if call.path == EMBEDDINGS:
            self._count(usage, embedding_cache_hits=1)
        else:
            counts = {f"replayed_{name}": count for name, count in found.usage.items()}
            self._count(usage, llm_cache_hits=1, **counts)
            data: Data = found.reply if found.chunks is None else found.chunks  # type: ignore[assignment]
            self._keep(usage, bodies[0], [("assistant", text) for text in replies.said_in(data)])
        return Exchange(found.reply, found.chunks, f"{found.model} (recorded)")

    def _refuse(
        self, path: str, body: dict[str, Any], question: tuple[str, int], usage: Usage | None
    ) -> NoReturn:
        """Fails a sample in replay, also where the agent catches the error."""
        __tracebackhide__ = True
        assert self._cache is not None
        text = self._redacted(unrecorded(self._cache, path, body, question))
        for one in suspects():
            one.unrecorded = one.unrecorded or text
        self._count(usage, llm_errors=1)
        self._keep(usage, body, [("error", text)])
        raise LLMError(text)

    async def _exchanged(self, call: Call, usage: Usage | None) -> Exchange:
        import asyncio

        import tenacity

        self._count(usage, **{"embedding_calls" if call.path == EMBEDDINGS else "llm_calls": 1})
        tried = 0
        lane = self._lanes[0]

        async def attempt() -> Exchange | Failure:
            nonlocal tried, lane
            tried += 1
            self._require_budget(usage)
            lane, wait = self._take_turn(call)
            await asyncio.sleep(wait)
            self._require_budget(usage)  # others have asked meanwhile
            async with lane.place():
                return await self._sent(lane, call, usage)

        retries = self._retries if call.retries is None else call.retries
        rules = policy(retries, self._pause, lambda: self._count(usage, llm_retries=1))
        self._flying += 1
        try:
            found: Exchange | Failure = await tenacity.AsyncRetrying(**rules)(attempt)
        finally:
            self._flying -= 1
        if isinstance(found, Exchange):
            return found
        raise self._failed(call, usage, lane, found, tried)

    def _pause(self, failure: Failure, attempt: int) -> float:
        """Seconds. Where the server asks to wait, its lane is blocked, and another may serve at once."""
        pause = backoff(attempt, self._backoff, _LONGEST_BACKOFF)
        asked = failure.retry_after
        return pause if asked is None or asked < pause else 0.0

    def _take_turn(self, call: Call) -> tuple[Lane, float]:
        """The entry that is free first (several take turns), and the seconds until then."""
        now = time.monotonic()
        lanes = self._lanes[self._turn :] + self._lanes[: self._turn]
        self._turn = (self._turn + 1) % len(lanes)
        lane = min(call.lanes(lanes), key=lambda lane: max(now, lane.ready_at()))
        at = max(now, lane.ready_at())
        if lane.blocked_until > now:  # jitter: those who wait do not return all at once
            at += random.uniform(0, self._backoff)
        if lane.interval:
            lane.free_at = at + lane.interval
        return lane, at - now

    async def _sent(self, lane: Lane, call: Call, usage: Usage | None) -> Exchange | Failure:
        body = call.body(lane.entry)
        await lane.prepare()
        started = time.monotonic()
        data = await lane.send(call.path, body, call.timeout or lane.entry.timeout)
        if not isinstance(data, Failure):
            data = replies.flaw(call.path, body, data) or data
        if isinstance(data, Failure):
            asked = data.retry_after
            if asked is not None:
                lane.blocked_until = time.monotonic() + asked
            if asked is not None and asked > self._longest_wait:
                text = (
                    f"{data.text}; it asks to wait {asked:.0f} s (at most {self._longest_wait:g})"
                )
                return replace(data, text=text, transient=False)
            return data
        cost = self._answered(lane, call.path, body, data, usage, time.monotonic() - started)
        if isinstance(data, list):
            data = replies.handed_on(body, data)
        if self._cache is not None:
            self._cache.record(call.path, body, _question_of(usage), data, cost)
        if isinstance(data, list):
            return Exchange(None, data, lane.source)
        return Exchange(data, None, lane.source)

    def _answered(
        self,
        lane: Lane,
        path: str,
        body: Mapping[str, Any],
        data: Data,
        usage: Usage | None,
        seconds: float,
    ) -> dict[str, float]:
        """Counts a reply; what it cost."""
        counted = replies.used(path, data)
        asked, said = counted or replies.estimated(body, data)
        if path == EMBEDDINGS:  # they have a price of their own, and little of it
            self._count(usage, embedding_tokens=asked)
            return {"input_tokens": asked}
        if counted is None:  # the record says so
            self._count(usage, llm_calls_estimated=1)
        counts: dict[str, float] = {"input_tokens": asked, "output_tokens": said}
        if lane.entry.price_input is not None and lane.entry.price_output is not None:
            cost = asked * lane.entry.price_input + said * lane.entry.price_output
            counts["cost"] = cost / 1e6
        self._count(usage, **counts)
        self._keep(usage, body, [("assistant", text) for text in replies.said_in(data)])
        if usage is not None and len(usage.seconds_asked) < _MOST_SECONDS:
            usage.seconds_asked.append(seconds)
        return counts

    def _failed(
        self, call: Call, usage: Usage | None, lane: Lane, failure: Failure, attempts: int
    ) -> LLMError:
        tried = f" ({attempts} attempts)" if attempts > 1 else ""
        model = call.given.get("model") or lane.entry.model
        text = self._redacted(f"llm {model} at {lane.entry.where}: {failure.text}{tried}")
        self._count(usage, llm_errors=1)
        self._keep(usage, call.given, [("error", text)])
        return LLMError(text, status=failure.status, transient=failure.transient)

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
        self, usage: Usage | None, body: Mapping[str, Any], end: list[tuple[str, str]]
    ) -> None:
        if usage is None:
            return
        messages = body.get("messages")
        asked = [
            (str(message.get("role")), shown(message))
            for message in (messages if isinstance(messages, list) else ())
            if isinstance(message, Mapping)
        ]
        with self._lock:  # conversations that overlap are not mixed up
            for role, text in asked + end:
                usage.said(role, self._redacted(text))

    def _redacted(self, text: str) -> str:
        for lane in self._lanes:
            key = lane.entry.api_key.reveal() if lane.entry.api_key else ""
            if len(key) >= _SHORTEST_KEY:
                text = text.replace(key, HIDDEN)
        return text


def _question_of(usage: Usage | None) -> tuple[str, int]:
    return UNKNOWN if usage is None or usage.question is None else usage.question
