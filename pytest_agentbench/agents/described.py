"""An exception of an agent's as bounded text, for where the object itself cannot go or is not safe."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from typing import Any

from pytest_agentbench.agents import retry
from pytest_agentbench.agents.errors import DayEnded, RemoteAgentError, TransientError
from pytest_agentbench.agents.tracebacks import from_agent
from pytest_agentbench.base.errors import LONGEST_TOLD, class_name, shortened, told
from pytest_agentbench.base.redaction import NO_SECRETS, Secrets

_MOST_LINKED = 50  # exceptions behind one another (``raise … from``, groups)
_PLAIN = (str, bytes, int, float, complex, type(None))


def described(error: BaseException) -> dict[str, Any]:
    """What an exception says, as plain JSON; nothing in it raises, whatever the exception is."""
    if isinstance(error, RemoteAgentError):  # described before
        names = ("message", "traceback", "status", "transient", "retry_after")
        return {"types": list(error.types), **{name: getattr(error, name) for name in names}}
    kinds = [kind for kind in type(error).__mro__ if kind not in (BaseException, object)]
    asked = error.retry_after if isinstance(error, (DayEnded, TransientError)) else None
    return {
        "types": [_name(kind) for kind in kinds],
        "message": told(error),
        "traceback": _formatted(error),
        "status": _status(error),
        "transient": retry.is_transient(error),
        "retry_after": asked if isinstance(asked, (int, float)) else None,
    }


def harmless(error: BaseException) -> BaseException:
    """The exception itself, if whoever prints it gets a text of some length; else one that is text."""
    return error if all(_prints_well(one) for one in _linked(error)) else as_text(error)


def as_text(error: BaseException, secrets: Secrets = NO_SECRETS) -> RemoteAgentError:
    """An exception that says all that this one says but the secrets, and does nothing that it does."""
    parts = secrets.cleaned_json(described(error))
    return RemoteAgentError(**{**parts, "types": tuple(parts["types"])})


def _linked(error: BaseException) -> Iterator[BaseException | None]:
    """The exception and those behind it; a None where there are too many."""
    waiting, seen = [error], {id(error)}
    while waiting:
        one = waiting.pop()
        yield one
        behind = (one.__cause__, one.__context__, *getattr(one, "exceptions", ()))
        for other in behind:
            if isinstance(other, BaseException) and id(other) not in seen:
                seen.add(id(other))
                waiting.append(other)
        if len(seen) > _MOST_LINKED:
            yield None
            return


def _prints_well(error: BaseException | None) -> bool:
    if error is None:
        return False
    try:
        if type(error).__str__ in (BaseException.__str__, KeyError.__str__):
            # It prints what it was given, by code that this may bring: a list, an object.
            if not all(type(arg) in _PLAIN for arg in error.args):
                return False
            if any(isinstance(arg, (str, bytes)) and len(arg) > LONGEST_TOLD for arg in error.args):
                return False
        return len(str(error)) <= LONGEST_TOLD
    except BaseException:
        return False


def _name(kind: type) -> str:
    module, name = str(kind.__module__), class_name(kind)
    return name if module == "builtins" else f"{module}.{name}"


def _formatted(error: BaseException) -> str:
    try:
        if all(_prints_well(one) for one in _linked(error)):
            lines = traceback.format_exception(type(error), error, from_agent(error))
        else:
            last = f"{_name(type(error))}: {told(error)}"
            lines = ["Traceback (most recent call last):\n"]
            lines += [*traceback.format_tb(from_agent(error), limit=100), last]
        return shortened("".join(lines), LONGEST_TOLD)
    except Exception as problem:
        return f"<its traceback could not be made: {type(problem).__name__}>"


def _status(error: BaseException) -> int | None:
    found = (one for one in retry.statuses_of(error) if type(one) is int and 100 <= one < 600)
    return next(found, None)
