"""Every shape of agent as one function of the context.

One object serves all calls of a function, a callable or a class with ``forward``. Their calls overlap
under ``--concurrency``, which their authors know. Agents of other frameworks are in
:mod:`pytest_agentbench.agents.frameworks` and :mod:`pytest_agentbench.agents.websociety`, those that live
tick by tick in :mod:`pytest_agentbench.agents.ticks`.
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Mapping
from typing import Any

from pytest_agentbench.agents.framework_calls import METHODS, Function, adapted, keywords, takes
from pytest_agentbench.agents.frameworks import framework_function
from pytest_agentbench.agents.llm.calls import Model, NoLLM
from pytest_agentbench.agents.ticks import is_ticking, tick_function
from pytest_agentbench.agents.websociety.society_agents import society_function
from pytest_agentbench.base.errors import BenchmarkError, shown

EXPECTED = (
    "a function f(context), or a class or object with forward(context), forward_batch(contexts) or "
    "workflow(), or a class with step(now) or forward() that takes the city"
)


def has_agent_method(value: Any) -> bool:
    """Whether a class or object is an agent by one of its methods (any function may be one)."""
    return any(callable(getattr(value, name, None)) for name in METHODS) or is_ticking(value)


def function_of(
    target: Any, model: Model | None = None, params: Mapping[str, Any] | None = None
) -> Function:
    """The agent as a function of the context.

    It is a coroutine function exactly where the agent's own is one (asbench's always is), so that the
    caller knows whether a call blocks. No object is made before the first call. Functions, methods and
    constructors that take ``llm`` are given the model. ``params`` go to the constructor of a class, else to
    the function.
    """
    llm = NoLLM() if model is None else model
    call = (
        framework_function(target, llm, params)
        or society_function(target, llm, params)
        or tick_function(target, llm, params)
    )
    if call is not None:
        return call
    for name in ("forward", "forward_batch"):
        if callable(getattr(target, name, None)):
            method = _method(target, name, llm, params)
            return method if name == "forward" else _one_of_a_batch(method)
    if not isinstance(target, type):
        if callable(target):
            return _given(target, llm, params)
    elif any("__call__" in vars(base) for base in target.__mro__):
        return _method(target, "__call__", llm, params)
    raise BenchmarkError(f"--agent: expected {EXPECTED}, got {target!r}")


def _is_coroutine(function: Any) -> bool:
    called = function if inspect.isroutine(function) else getattr(function, "__call__", function)  # noqa: B004
    return inspect.iscoroutinefunction(called)


def _given(function: Any, llm: Any, params: Mapping[str, Any] | None = None) -> Function:
    """A function with the model, if it takes ``llm``, and parameters; wraps nothing that needs no wrapping."""
    awaits = _is_coroutine(function)
    given = keywords(function, params, skipped=1)
    if takes(function, "llm"):
        given["llm"] = llm
    if given:
        return adapted(functools.partial(function, **given), awaits)
    if awaits and not inspect.iscoroutinefunction(function):
        return adapted(function, awaits)
    return function  # type: ignore[no-any-return]


def _method(target: Any, name: str, llm: Any, params: Mapping[str, Any] | None) -> Function:
    """A method of an object, or of a class's one object, which the first call makes."""
    if not isinstance(target, type):
        return _given(getattr(target, name), llm, params)
    owner: type = target
    given = keywords(owner, params)
    if takes(owner, "llm"):
        given["llm"] = llm
    lock = threading.Lock()
    made: list[Function] = []

    def call(context: Any) -> Any:
        __tracebackhide__ = True
        with lock:
            if not made:
                method = getattr(owner(**given), name)
                made.append(_given(method, llm))
        return made[0](context)

    return adapted(call, _is_coroutine(getattr(owner, name)))


def _one_of_a_batch(call: Function) -> Function:
    """``forward_batch`` with a list of one: samples are asked, timed and recorded one by one."""

    def only(answers: Any) -> Any:
        __tracebackhide__ = True
        try:
            (answer,) = answers
        except (TypeError, ValueError):
            raise BenchmarkError(
                f"forward_batch: expected a list of one answer for one context, got {shown(answers)}"
            ) from None
        return answer

    return adapted(lambda context: call([context]), inspect.iscoroutinefunction(call), only)
