"""Whether an agent can be called at all, told from its signature before any sample is asked.

Only what fails for certain is refused. A decorator is looked at as it is, not as what it wraps; whatever has no
signature, or declares one of its own, may be called. Agents of other frameworks are left alone.
"""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping
from typing import Any

from pytest_agentbench.agents.framework_calls import derives, takes
from pytest_agentbench.agents.ticks import is_ticking
from pytest_agentbench.agents.websociety.society_agents import TRACKS
from pytest_agentbench.base.errors import BenchmarkError

_MODEL = "llm"
_FRAMEWORKS = ("IndividualAgentBase", "CitizenAgentBase", *TRACKS)
_METHODS = ("forward", "forward_batch", "__call__")


def check_callable(target: Any, has_model: bool, params: Mapping[str, Any] | None = None) -> None:
    """:class:`BenchmarkError` for an agent that cannot be called with what it would be given.

    ``params`` are agent_params: a parameter of such a name is filled.
    """
    if derives(target, *_FRAMEWORKS) or (
        hasattr(target, "workflow") and not hasattr(target, "forward")
    ):
        return
    named = () if params is None else ("agent_params", *params)
    if is_ticking(target):
        if isinstance(target, type):
            _check_made(target, ("city", "profile", _MODEL, *named), has_model)
        return
    name = next((one for one in _METHODS if callable(getattr(target, one, None))), "__call__")
    if not isinstance(target, type):
        function = target if name == "__call__" else getattr(target, name)
        _check_call(function, _name_of(target, name), _signature(function), named, has_model)
        return
    if name == "__call__" and not any(name in vars(base) for base in target.__mro__):
        return  # no agent: its shape is refused elsewhere
    _check_made(target, (_MODEL, *named), has_model)
    if not _may_be_replaced(target, name):
        method, signature = getattr(target, name), _method_signature(target, name)
        _check_call(method, _name_of(target, name), signature, named, has_model)


def _check_made(owner: type, offered: Collection[str], has_model: bool) -> None:
    signature = _signature(owner)
    if signature is None:
        return
    given = [one for one in offered if takes(owner, one)]
    try:
        signature.bind(**dict.fromkeys(given))
    except TypeError as error:
        raise _refused("a class", owner.__name__, ", ".join(given), signature, error) from None
    _check_model(owner.__name__, signature, has_model)


def _check_call(
    function: Any,
    name: str,
    signature: inspect.Signature | None,
    offered: Collection[str],
    has_model: bool,
) -> None:
    if signature is None:
        return
    given = [one for one in (_MODEL, *offered) if takes(function, one)]
    try:
        signature.bind(None, **dict.fromkeys(given))
    except TypeError as error:
        said = ", ".join(("context", *given))
        raise _refused("an agent", name, said, signature, error) from None
    _check_model(name, signature, has_model)


def _check_model(name: str, signature: inspect.Signature, has_model: bool) -> None:
    parameter = signature.parameters.get(_MODEL)
    if has_model or parameter is None or parameter.default is not parameter.empty:
        return
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        return
    raise BenchmarkError(
        f"--agent: expected a model, because {name}{_spelt(signature)} takes {_MODEL}, got none; name one "
        f"with --model NAME --base-url URL, or with {_MODEL}: in the scenario ({_MODEL}=None makes it optional)"
    )


def _refused(
    what: str, name: str, given: str, signature: inspect.Signature, error: TypeError
) -> BenchmarkError:
    advice = "give what nobody fills a default, or a value with --agent-param NAME=VALUE"
    if "missing" not in str(error):
        advice = f"the context is its first argument, and the model is given by the name {_MODEL}"
    return BenchmarkError(
        f"--agent: expected {what} that can be called as {name}({given}), got {name}{_spelt(signature)}: "
        f"{error}; {advice}"
    )


def _name_of(target: Any, method: str) -> str:
    if isinstance(target, type):
        return f"{target.__name__}.{method}"
    name = getattr(target, "__name__", None)
    if method == "__call__" and isinstance(name, str):
        return name
    return f"{type(target).__name__}.{method}"


def _signature(function: Any) -> inspect.Signature | None:
    """What a call must have; None where that is not known for certain."""
    owner = function if isinstance(function, type) else type(function)
    if "__signature__" in getattr(function, "__dict__", ()):
        return None
    if any("__signature__" in vars(base) for base in owner.__mro__):
        return None
    try:
        return inspect.signature(function, follow_wrapped=False)
    except Exception:  # none, or annotations that cannot be evaluated
        return None


def _method_signature(owner: type, name: str) -> inspect.Signature | None:
    """The signature of a method as its object has it."""
    method = inspect.getattr_static(owner, name)
    if isinstance(method, (staticmethod, classmethod)):
        return _signature(getattr(owner, name))
    signature = _signature(method) if inspect.isfunction(method) else None
    if signature is None:
        return None
    own = list(signature.parameters.values())
    if own and own[0].kind in (own[0].POSITIONAL_ONLY, own[0].POSITIONAL_OR_KEYWORD):
        own = own[1:]
    elif not own or own[0].kind is not own[0].VAR_POSITIONAL:
        return None
    return signature.replace(parameters=own)


def _may_be_replaced(owner: type, method: str) -> bool:
    """Whether the object may have another method of this name than its class."""
    own: list[tuple[Any, Any]] = [
        (owner.__new__, object.__new__),
        (type(owner).__call__, type.__call__),
        (owner.__getattribute__, object.__getattribute__),
    ]
    if any(one is not usual for one, usual in own):
        return True
    codes = (getattr(vars(base).get("__init__"), "__code__", None) for base in owner.__mro__)
    return any(code is not None and method in code.co_names for code in codes)


def _spelt(signature: inspect.Signature) -> str:
    """The parameters without annotations and values, which may be long or print anything."""
    empty = inspect.Parameter.empty
    names = [
        one.replace(annotation=empty, default=empty if one.default is empty else ...)
        for one in signature.parameters.values()
    ]
    short = signature.replace(parameters=names, return_annotation=empty)
    return str(short).replace("=Ellipsis", "=…")
