"""The ways in which agents of several frameworks ask a model; each is one exchange with a server."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextvars import ContextVar
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from pytest_agentbench.agents.llm.exchanges import Exchange, LLMError
from pytest_agentbench.agents.llm.text_requests import (
    CHAT,
    TextRequest,
    finish_reason,
    request_of,
    texts_of,
)
from pytest_agentbench.agents.missing import asked_at, refuse
from pytest_agentbench.agents.usage import current

if TYPE_CHECKING:
    from pytest_agentbench.agents.llm.embeddings import Embeddings, Vectors

__all__ = ["Exchange", "LLMError", "Model", "NoLLM", "RelayedLLM", "configured", "configured_as"]

Result = TypeVar("Result")


class Model:
    """The methods that agents call."""

    def exchange(
        self,
        path: str,
        body: Mapping[str, Any],
        *,
        defaults: Mapping[str, Any] | None = None,
        timeout: float | None = None,
        retries: int | None = None,
        configured: bool = False,
    ) -> Exchange:
        """Sends a JSON object to ``path`` ("/chat/completions", "/embeddings" …) of the model's server.

        ``body`` without ``model`` asks the configured one. ``defaults`` hold where neither the body nor the
        entry says otherwise. With ``configured`` a model that is in no entry is replaced by one that is. Raises :class:`LLMError`, BudgetExceeded.
        """
        raise NotImplementedError

    async def aexchange(self, path: str, body: Mapping[str, Any], **own: Any) -> Exchange:
        """:meth:`exchange` for coroutines."""
        __tracebackhide__ = True
        return await _in_thread(lambda: self.exchange(path, body, **own))

    def text_request(self, messages: Any = None, **options: Any) -> Any:
        """The model's reply; ``options`` (temperature, max_tokens, …) are sent as they are.

        With ``tools`` it is openai's ``ChatCompletion``, as asbench's agents expect it.
        """
        __tracebackhide__ = True
        request = request_of(messages, options)
        return _given(request, self.exchange(CHAT, request.body, **request.own))

    async def atext_request(self, messages: Any = None, **options: Any) -> Any:
        """:meth:`text_request` for coroutines, as asbench's agents call it."""
        __tracebackhide__ = True
        request = request_of(messages, options)
        return _given(request, await self.aexchange(CHAT, request.body, **request.own))

    def __call__(
        self,
        messages: Any = None,
        model: str | None = None,
        temperature: float | None = None,
        max_tokens: int | None = None,
        stop_strs: Sequence[str] | None = None,
        n: int = 1,
        **options: Any,
    ) -> Any:
        """As WebSocietySimulator's agents call it, with its defaults; a list if ``n`` is above 1."""
        __tracebackhide__ = True
        options.update(model=model, temperature=temperature, max_tokens=max_tokens)
        options.update(stop=list(stop_strs) if stop_strs else None, n=n if n > 1 else None)
        request = request_of(messages, options, {"temperature": 0.0, "max_tokens": 500})
        exchange = self.exchange(CHAT, request.body, **request.own)
        return _texts(exchange) if n > 1 else _given(request, exchange)

    def embeddings(self, texts: Sequence[str]) -> Vectors | None:
        """A vector for each text; None where there is nothing that makes them."""
        from pytest_agentbench.agents.llm.embeddings import offline

        return offline(texts)

    def get_embedding_model(self) -> Embeddings:
        """What WebSocietySimulator's memory modules ask for: ``embed_documents``, ``embed_query``."""
        from pytest_agentbench.agents.llm.embeddings import Embeddings

        return Embeddings(self.embeddings)

    embedding_model = property(get_embedding_model)

    @cached_property
    def client(self) -> Any:
        """An ``openai.OpenAI`` whose requests are exchanges of this model; it holds no key."""
        from pytest_agentbench.agents.llm.own_clients import client

        return client(self)

    @cached_property
    def async_client(self) -> Any:
        """The same as ``openai.AsyncOpenAI``."""
        from pytest_agentbench.agents.llm.own_clients import async_client

        return async_client(self)


def _given(request: TextRequest, exchange: Exchange) -> Any:
    """What the caller of a text request gets."""
    __tracebackhide__ = True
    if request.has_tools:
        from pytest_agentbench.agents.llm.own_clients import completion

        return completion(exchange.body)
    return _texts(exchange)[0]


def _texts(exchange: Exchange) -> list[str]:
    __tracebackhide__ = True
    texts = texts_of(exchange.body, exchange.chunks)
    if texts and None not in texts:
        return texts
    reason = finish_reason(exchange.body, texts.index(None) if texts else 0)
    text = (
        f"llm {exchange.source}: expected a text in message.content, got none (finish_reason "
        f"{reason!r}); where that is 'length', max_tokens is too small"
    )
    usage = current()
    if usage is not None:
        usage.add(llm_errors=1)
        usage.said("error", text)
    raise LLMError(text, status=200)


class RelayedLLM(Model):
    """The model in a process that holds no key: each request is made by the process that does.

    ``remote`` is what stands there for that process's :class:`~pytest_agentbench.agents.llm.client.LLM`, anew
    for every call of the agent.
    """

    remote: Any = None

    def exchange(self, path: str, body: Mapping[str, Any], **own: Any) -> Exchange:
        __tracebackhide__ = True
        if self.remote is None:
            raise LLMError("expected a question to the model while the agent answers a context")
        try:
            return Exchange(**self.remote.relayed(path, dict(body), own))
        except Exception as error:
            transient = getattr(error, "transient", None)
            if transient is None:
                raise
            status = getattr(error, "status", None)
            raise LLMError(str(error), status=status, transient=bool(transient)) from None

    def embeddings(self, texts: Sequence[str]) -> Vectors | None:
        vectors: Vectors | None = self.remote.embeddings(list(texts))
        return vectors


class NoLLM(Model):
    """What an agent is given where no ``llm:`` is configured: asking it marks the sample as an error."""

    model = "none"

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "NoLLM()"

    def exchange(self, path: str, body: Mapping[str, Any], **own: Any) -> Exchange:
        __tracebackhide__ = True
        _refuse_model()

    def aexchange(
        self, path: str, body: Mapping[str, Any], **own: Any
    ) -> Coroutine[Any, Any, Exchange]:
        return self.atext_request()

    def atext_request(self, messages: Any = None, **options: Any) -> Coroutine[Any, Any, Any]:
        place = asked_at()  # now: awaited in a task, it would not know the agent's line

        async def refused() -> Any:
            __tracebackhide__ = True
            _refuse_model(place)

        return refused()


def _refuse_model(place: str | None = None) -> NoReturn:
    __tracebackhide__ = True
    refuse(
        "a model, and none is configured",
        "expected --model NAME --base-url URL, the key llm in the scenario (llm: a list of model, base_url, "
        "api_key: ${NAME}) or in asbench's config (--config FILE)",
        place,
    )


# The model of the run whose agent this thread calls, for what an agent makes itself. The last one serves
# threads that inherit no context variable.
_CONFIGURED: ContextVar[Model | None] = ContextVar("agentbench_model", default=None)
_last: list[Model] = []


class configured_as:  # noqa: N801 -- a class as those of contextlib: a generator costs every call of an agent more
    """Within it, :func:`configured` gives this model."""

    __slots__ = ("_given", "_token")

    def __init__(self, model: Model | None) -> None:
        self._given = NoLLM() if model is None else model

    def __enter__(self) -> None:
        self._token = _CONFIGURED.set(self._given)
        _last[:] = [self._given]

    def __exit__(self, *raised: object) -> None:
        _CONFIGURED.reset(self._token)


def configured() -> Model:
    """The model that the scenario configures, wherever in the agent's code this is asked."""
    own = _CONFIGURED.get()
    if own is not None:
        return own
    return _last[0] if _last else NoLLM()


async def _in_thread(function: Callable[[], Result]) -> Result:
    """Awaits a function in a daemon thread, which does not hold up the end of the process."""
    __tracebackhide__ = True
    import asyncio
    from concurrent.futures import Future

    future: Future[Result] = Future()
    future.set_running_or_notify_cancel()  # a caller that is cancelled does not wait for its end
    context = contextvars.copy_context()  # usage is counted where it was asked for

    def work() -> None:
        try:
            future.set_result(context.run(function))
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=work, name="agentbench-llm", daemon=True).start()
    return await asyncio.wrap_future(future)
