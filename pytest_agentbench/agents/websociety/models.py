"""The model as WebSocietySimulator's agents have it: handed to them, or made by themselves."""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

from pytest_agentbench.agents.llm.calls import Exchange, Model, configured
from pytest_agentbench.agents.llm.embeddings import Embeddings, Vectors
from pytest_agentbench.agents.usage import CURRENT


class CallModel(Model):
    """The model in one call: what a plain thread of the agent asks belongs to that call, too."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._context = contextvars.copy_context()

    def __bool__(self) -> bool:
        return bool(self._model)

    def __repr__(self) -> str:
        return repr(self._model)

    def __getattr__(self, name: str) -> Any:
        if name == "_model":  # before __init__, when a copy is made
            raise AttributeError(name)
        return getattr(self._model, name)

    # A copy of an agent (copy.deepcopy(self)) shares its model.
    def __copy__(self) -> CallModel:
        return self

    def __deepcopy__(self, memo: Any) -> CallModel:
        return self

    def exchange(self, path: str, body: Mapping[str, Any], **own: Any) -> Exchange:
        __tracebackhide__ = True
        found: Exchange = self._within(lambda: self._model.exchange(path, body, **own))
        return found

    async def aexchange(self, path: str, body: Mapping[str, Any], **own: Any) -> Exchange:
        __tracebackhide__ = True
        if CURRENT.get() is None:
            return await super().aexchange(path, body, **own)
        found: Exchange = await self._model.aexchange(path, body, **own)
        return found

    def atext_request(self, messages: Any = None, **options: Any) -> Coroutine[Any, Any, Any]:
        if not self._model:  # it refuses, and knows the agent's line only now
            refused: Coroutine[Any, Any, Any] = self._model.atext_request(messages, **options)
            return refused
        return super().atext_request(messages, **options)

    def embeddings(self, texts: Sequence[str]) -> Vectors | None:
        vectors: Vectors | None = self._within(lambda: self._model.embeddings(texts))
        return vectors

    def _within(self, function: Callable[[], Any]) -> Any:
        __tracebackhide__ = True
        if CURRENT.get() is not None:
            return function()
        return self._context.copy().run(function)  # a context cannot be entered twice at once


class _Offered:
    """A property that gives way to an attribute of the object: subclasses set ``self.client = OpenAI(…)``."""

    def __init__(self, get: Callable[[Any], Any]) -> None:
        self._get = get

    def __get__(self, model: Any, owner: type | None = None) -> Any:
        __tracebackhide__ = True
        return self if model is None else self._get(model)


class LLMBase:
    """A model that an agent makes itself: the model that the scenario configures, all the same.

    Its name, its key and its address are not used.
    """

    def __init__(self, model: str = "", *args: Any, **options: Any) -> None:
        self.model = model

    def __call__(self, messages: Any = None, model: str | None = None, **options: Any) -> Any:
        """As :meth:`Model.__call__ <pytest_agentbench.agents.llm.calls.Model.__call__>`."""
        __tracebackhide__ = True
        return configured()(messages=messages, **options)

    def get_embedding_model(self) -> Embeddings:
        return Embeddings(lambda texts: configured().embeddings(texts))

    embedding_model = _Offered(get_embedding_model)

    @_Offered
    def client(self) -> Any:
        return configured().client


def is_configured(model: Any) -> bool:
    """Whether a model that a script made is the configured one, and not a class of the script's own."""
    return isinstance(model, LLMBase) and type(model).__call__ is LLMBase.__call__


class KeyedLLM(LLMBase):
    """One that takes a key first: ``InfinigenceLLM(api_key, model)``."""

    def __init__(self, api_key: Any = None, model: str = "", *args: Any, **options: Any) -> None:
        super().__init__(model)


class InfinigenceLLM(KeyedLLM):
    """The challenge's own service."""


class OpenAILLM(KeyedLLM):
    """OpenAI's service."""
