"""What the calls of agents of several frameworks share."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from typing import Any

from pytest_agentbench.base.errors import BenchmarkError

Function = Callable[[Any], Any]

# By these a class or object is an agent; one with ``step`` only if it takes the city.
METHODS = ("forward", "forward_batch", "workflow")
STORE = "uir"  # the key of a context that holds the user-item-review store


def adapted(call: Function, awaits: bool, then: Function = lambda answer: answer) -> Function:
    """``call``, and ``then`` on its answer: a coroutine function where ``call`` is to be awaited."""

    async def awaited(context: Any) -> Any:
        __tracebackhide__ = True
        return then(await call(context))

    def called(context: Any) -> Any:
        __tracebackhide__ = True
        return then(call(context))

    return awaited if awaits else called


def derives(target: Any, *names: str) -> bool:
    """Whether a base class has one of these names: the real package's or the stand-in."""
    owner = target if isinstance(target, type) else type(target)
    return any(base.__name__ in names for base in owner.__mro__[1:])


def class_of(target: Any) -> type:
    """The class of an agent; :class:`BenchmarkError` for an object of it."""
    if isinstance(target, type):
        return target
    name = type(target).__name__
    raise BenchmarkError(
        f"--agent: expected the class {name}, got an object of it: its calls may overlap, and each "
        f"needs an object of its own; name the class (file.py:{name})"
    )


def takes(function: Any, name: str) -> bool:
    """Whether a function has a parameter of this name (``**options`` does not count)."""
    try:
        parameter = inspect.signature(function).parameters.get(name)
    except (TypeError, ValueError):  # builtins without a signature
        return False
    return parameter is not None and parameter.kind is not inspect.Parameter.VAR_KEYWORD


def keywords(
    function: Any,
    params: Mapping[str, Any] | None,
    ours: Collection[str] = ("llm",),
    skipped: int = 0,
) -> dict[str, Any]:
    """``params`` as arguments of a function or class: by name, or whole where it takes ``agent_params``.

    ``ours`` are arguments that it gets from us, as are the first ``skipped`` ones. :class:`BenchmarkError`
    names those that it takes beside them.
    """
    if params is None:
        return {}
    if takes(function, "agent_params"):
        return {"agent_params": params}
    try:
        every = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # builtins without a signature
        every = []
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    known = [o.name for o in every[skipped:] if o.kind in by_name and o.name not in ours]
    anything = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in every)
    taken = {one.name for one in every} | {*ours}
    unknown = [key for key in params if key not in known and (key in taken or not anything)]
    if unknown:
        name = getattr(function, "__qualname__", type(function).__name__)
        kind = "constructor" if isinstance(function, type) else "function"
        raise BenchmarkError(
            f"agent_params: expected parameters of the {kind} of the agent, {name} "
            f"({', '.join(known) or 'it has none'}), got {', '.join(map(repr, unknown))}"
        )
    return dict(params)


def made(owner: type, offered: Mapping[str, Any]) -> Any:
    """An object of the class, made with those of the offered arguments that its constructor takes."""
    __tracebackhide__ = True
    try:
        parameters = inspect.signature(owner).parameters.values()
    except (TypeError, ValueError):
        return owner()
    anything = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters)
    names = {parameter.name for parameter in parameters}
    return owner(**{key: value for key, value in offered.items() if anything or key in names})


def question(context: Any) -> tuple[dict[str, Any], Any]:
    """The question in plain types, which agents put into prompts as it is, and the store apart."""
    fields = dict(context) if isinstance(context, Mapping) else {"context": context}
    return fields, fields.pop(STORE, None)
