"""A debugger beside agents: where it stops first, and that no time limit strikes while somebody types.

Its state belongs to the process: a ``breakpoint()`` in an agent knows no run.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import CodeType
from typing import Any, Protocol, TypeVar

from pytest_agentbench.agents.framework_calls import METHODS

_T = TypeVar("_T")

# The methods by which agents are called, in the order in which they are looked for.
_METHODS = ("step", *METHODS, "__call__")


class Debugger(Protocol):
    """What is used of :class:`pdb.Pdb`."""

    skip: set[str] | None  # modules in which it does not stop

    def set_break(
        self,
        filename: str,
        lineno: int,
        temporary: bool = False,
        cond: str | None = None,
        funcname: str | None = None,
    ) -> str | None: ...

    def set_continue(self) -> None: ...

    def runcall(self, func: Callable[[], Any], /) -> Any: ...


class _State:
    used = False
    tracer: Debugger | None = None


def enter(tracer: Debugger | None = None) -> None:
    """Somebody uses a debugger in this process; ``tracer`` is to stop in every call of an agent (``--trace``)."""
    _State.used, _State.tracer = True, tracer


def end() -> None:
    """Nobody does any more."""
    _State.used, _State.tracer = False, None


def is_used() -> bool:
    """Whether somebody has used a debugger: then calls take as long as they take."""
    return _State.used


def tracer() -> Debugger | None:
    """The debugger that stops in every call of an agent, if there is one."""
    return _State.tracer


def stopping(debugger: Debugger, target: Any, call: Callable[[], _T]) -> _T:
    """``call()``, in which the debugger stops at the first line of the agent's own function.

    It does not stop in what is called before: the agent's constructor, the wrappers of its shape.
    """
    __tracebackhide__ = True
    code = code_of(target)
    if code is None:  # written in C
        return call()
    # As `tbreak function` sets it.
    line, name = code.co_firstlineno, code.co_name
    refused = debugger.set_break(code.co_filename, line, temporary=True, funcname=name)

    former, debugger.skip = debugger.skip, {__name__, "bdb"}

    def begin() -> _T:
        __tracebackhide__ = True
        if (
            not refused
        ):  # without a source file it is; then the debugger stops at the next line of all
            debugger.set_continue()
        debugger.skip = former
        return call()

    result: _T = debugger.runcall(begin)
    return result


def code_of(target: Any) -> CodeType | None:
    """The code of the function, or of the method, that is asked."""
    if not inspect.isroutine(target) and not isinstance(target, functools.partial):
        found = (getattr(target, name, None) for name in _METHODS)
        target = next((one for one in found if inspect.isroutine(one)), None)
    while isinstance(target, functools.partial):
        target = target.func
    code = getattr(inspect.unwrap(target), "__code__", None) if callable(target) else None
    return code if isinstance(code, CodeType) else None
