"""The ways in which agents of several frameworks ask a model; each becomes one request.

An asynchronous request is a synchronous one in a thread of its own: there is one code path, and nothing
is bound to an event loop.
"""

from __future__ import annotations

import contextvars
import json
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeVar

from pytest_agentbench.agents.missing import asked_at, refuse
from pytest_agentbench.base import errors

if TYPE_CHECKING:
    from pytest_agentbench.agents.http_client import Reply
    from pytest_agentbench.agents.llm.embeddings import Embeddings, Vectors
    from pytest_agentbench.agents.llm.entries import Entry
    from pytest_agentbench.agents.llm.replies import Answer, Failure

Result = TypeVar("Result")


class LLMError(Exception):
    """A request that got no answer. ``transient`` says whether a later one may."""

    def __init__(self, text: str, *, status: int | None = None, transient: bool = False) -> None:
        super().__init__(text)
        self.status = status
        self.transient = transient


@dataclass(frozen=True)
class Request:
    """One question, before an entry is chosen for it."""

    messages: list[dict[str, Any]]
    options: Mapping[str, Any]  # as given; None is not sent
    defaults: Mapping[str, Any]  # where neither the call nor the entry says otherwise
    model: str | None
    timeout: float | None
    retries: int | None

    path: ClassVar[str] = "/chat/completions"

    def served_by(self, entry: Entry) -> bool:
        return True

    def read(self, reply: Reply) -> Answer | Failure:
        from pytest_agentbench.agents.llm.replies import read  # imports http and ssl

        return read(reply)

    def body(self, entry: Entry) -> bytes:
        """What is sent: the call's options, then the entry's (null takes one away), then defaults."""
        own = {} if entry.temperature is None else {"temperature": entry.temperature}
        given = {key: value for key, value in self.options.items() if value is not None}
        options = {**self.defaults, **own, **entry.parameters, **given}
        sent = {key: value for key, value in options.items() if value is not None}
        model = self.model or entry.model
        return json.dumps({"model": model, "messages": self.messages, **sent}).encode()


def request_of(
    messages: Any, options: dict[str, Any], defaults: Mapping[str, Any] | None = None
) -> Request:
    """A request from what callers give: asbench says ``dialog``, memory modules say ``prompt``."""
    __tracebackhide__ = True
    given = [messages, options.pop("dialog", None), options.pop("prompt", None)]
    asked = next((value for value in given if value is not None), None)
    if isinstance(asked, str):
        asked = [{"role": "user", "content": asked}]
    if (
        not isinstance(asked, (list, tuple))
        or not asked
        or not all(isinstance(m, Mapping) and "role" in m for m in asked)
    ):
        raise TypeError(
            f'expected messages [{{"role": …, "content": …}}], got {errors.shown(asked)}'
        )
    for name in ("tools", "tool_choice"):
        if options.pop(name, None):
            raise TypeError(f"expected a request without {name}: the reply is a text")
    if options.get("stream"):
        raise TypeError("expected a request without stream: the reply is a text")
    model, timeout, retries = (options.pop(name, None) for name in ("model", "timeout", "retries"))
    # openai's NOT_GIVEN, which asbench's agents may pass on, is no JSON.
    kept = {key: value for key, value in options.items() if type(value).__name__ != "NotGiven"}
    try:
        json.dumps([list(map(dict, asked)), kept])
    except (TypeError, ValueError) as error:
        raise TypeError(f"expected messages and options that JSON can hold, but {error}") from None
    return Request(list(map(dict, asked)), kept, defaults or {}, model, timeout, retries)


def shown(message: Mapping[str, Any]) -> str:
    """The content of a message as text, parts and all."""
    content = message.get("content")
    return content if isinstance(content, str) else json.dumps(content)


class Model:
    """The methods that agents call."""

    def _ask(self, request: Request, stop: threading.Event) -> list[str]:
        """The texts of all choices; gives up, if it can, when ``stop`` is set."""
        raise NotImplementedError

    def text_request(self, messages: Any = None, **options: Any) -> str:
        """The model's reply; ``options`` (temperature, max_tokens, …) are sent as they are."""
        __tracebackhide__ = True
        return self._ask(request_of(messages, options), threading.Event())[0]

    async def atext_request(self, messages: Any = None, **options: Any) -> str:
        """:meth:`text_request` for coroutines, as asbench's agents call it."""
        __tracebackhide__ = True
        request = request_of(messages, options)
        return (await _in_thread(lambda stop: self._ask(request, stop)))[0]

    def __call__(
        self,
        messages: Any = None,
        model: str | None = None,
        temperature: float | None = None,
        max_tokens: int | None = None,
        stop_strs: Sequence[str] | None = None,
        n: int = 1,
        **options: Any,
    ) -> str | list[str]:
        """As WebSocietySimulator's agents call it, with its defaults; a list if ``n`` is above 1."""
        __tracebackhide__ = True
        options.update(model=model, temperature=temperature, max_tokens=max_tokens)
        options.update(stop=list(stop_strs) if stop_strs else None, n=n if n > 1 else None)
        request = request_of(messages, options, {"temperature": 0.0, "max_tokens": 500})
        texts = self._ask(request, threading.Event())
        return texts if n > 1 else texts[0]

    def embeddings(self, texts: Sequence[str]) -> Vectors | None:
        """A vector for each text; None where there is nothing that makes them."""
        from pytest_agentbench.agents.llm.embeddings import offline

        return offline(texts)

    def get_embedding_model(self) -> Embeddings:
        """What WebSocietySimulator's memory modules ask for: ``embed_documents``, ``embed_query``."""
        from pytest_agentbench.agents.llm.embeddings import Embeddings

        return Embeddings(self.embeddings)

    embedding_model = property(get_embedding_model)

    @property
    def client(self) -> Any:
        """The published classes have the ``openai`` client here: it holds the key, so agents get none."""
        refuse(
            "llm.client", "ask the model through llm(messages=…), which counts and keeps the budget"
        )


class RelayedLLM(Model):
    """The model in a process that holds no key: each request is made by the process that does.

    ``remote`` is what stands there for that process's :class:`~pytest_agentbench.agents.llm.client.LLM`, anew
    for every call of the agent.
    """

    remote: Any = None

    def _ask(self, request: Request, stop: threading.Event) -> list[str]:
        __tracebackhide__ = True
        if self.remote is None:
            raise LLMError("expected a question to the model while the agent answers a context")
        own = {"model": request.model, "timeout": request.timeout, "retries": request.retries}
        texts: list[str] = self.remote.texts(
            request.messages, {**request.options, **own}, dict(request.defaults)
        )
        return texts

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

    def _ask(self, request: Request, stop: threading.Event) -> list[str]:
        __tracebackhide__ = True
        _refuse_model()

    def atext_request(self, messages: Any = None, **options: Any) -> Coroutine[Any, Any, str]:
        place = asked_at()  # now: awaited in a task, it would not know the agent's line

        async def refused() -> str:
            __tracebackhide__ = True
            _refuse_model(place)

        return refused()


def _refuse_model(place: str | None = None) -> NoReturn:
    __tracebackhide__ = True
    refuse(
        "a model, and none is configured",
        "expected the key llm in the scenario (llm: a list of model, base_url, api_key: ${NAME}) or in "
        "asbench's config (--config FILE)",
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


async def _in_thread(function: Callable[[threading.Event], Result]) -> Result:
    """Awaits a function in a daemon thread, which does not hold up the end of the process."""
    __tracebackhide__ = True
    from concurrent.futures import Future

    future: Future[Result] = Future()
    future.set_running_or_notify_cancel()  # a caller that is cancelled does not wait for its end
    stop = threading.Event()
    context = contextvars.copy_context()  # usage is counted where it was asked for

    def work() -> None:
        try:
            future.set_result(context.run(function, stop))
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=work, name="agentbench-llm", daemon=True).start()
    import asyncio

    try:
        return await asyncio.wrap_future(future)
    finally:
        stop.set()
