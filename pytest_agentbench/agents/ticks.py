"""Agents that live tick by tick: found by their shape, and made into functions of the context.

Such an agent has no answer. It acts, and the answer is the days that its person lived
(:class:`~pytest_agentbench.city.life.Life`). Two kinds are known: classes of asbench's city
(:mod:`pytest_agentbench.agents.citizens`), and any class whose constructor takes ``city`` and that has
``step(self, now)`` or ``forward(self)``. Every person has an object of its own.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Mapping
from typing import Any

from pytest_agentbench.agents.framework_calls import (
    Function,
    class_of,
    derives,
    keywords,
    made,
    takes,
)
from pytest_agentbench.base.errors import BenchmarkError


def is_ticking(target: Any) -> bool:
    """Whether a class, or the class of an object, lives tick by tick."""
    owner = target if isinstance(target, type) else type(target)
    return derives(target, "CitizenAgentBase") or _step_of(owner) is not None


def tick_function(target: Any, llm: Any, params: Mapping[str, Any] | None) -> Function | None:
    """An agent that lives tick by tick as a function of the context; None for every other shape."""
    if derives(target, "CitizenAgentBase"):
        from pytest_agentbench.agents.citizens import citizen_function  # the city imports NumPy

        return citizen_function(class_of(target), llm, params)
    step = _step_of(target if isinstance(target, type) else type(target))
    return None if step is None else _own(class_of(target), step, llm, params)


def _step_of(owner: type) -> str | None:
    """The method that such a class has for a tick."""
    if not takes(owner, "city"):
        return None
    if callable(getattr(owner, "step", None)):
        return "step"
    return "forward" if _needed(getattr(owner, "forward", None)) == 0 else None


def _needed(method: Any) -> int | None:
    """How many arguments a method must be given, beside ``self``."""
    if not inspect.isfunction(method):
        return None
    any_number = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    own = list(inspect.signature(method).parameters.values())[1:]
    return sum(one.kind not in any_number and one.default is one.empty for one in own)


def _check_step(owner: type) -> None:
    """:class:`BenchmarkError` for a ``step`` that cannot be called with the time."""
    step = inspect.getattr_static(owner, "step")
    if not inspect.isfunction(step):  # of some other kind: its call tells
        return
    signature = inspect.signature(step)
    try:
        signature.bind(None, None)
    except TypeError:
        raise BenchmarkError(
            f"--agent: expected step(self, now) in {owner.__name__}, which takes the city and so lives tick "
            f"by tick; got step{signature}"
        ) from None


def _own(owner: type, step: str, llm: Any, params: Mapping[str, Any] | None) -> Function:
    from pytest_agentbench.agents.tick_days import Day, life_of, lived, lived_now

    own = {"city", "profile", "llm"}
    keywords(owner, params, own)  # what is wrong with them is said at once

    if step == "step":
        _check_step(owner)

    def begun(context: Any) -> tuple[Day, Any]:
        """The day of a person, and what is called at each of its ticks."""
        __tracebackhide__ = True
        life = life_of(context, owner.__name__)
        day = Day(life)
        offered = {"city": life, "profile": copy.deepcopy(life.profile), "llm": llm}
        offered |= keywords(owner, copy.deepcopy(params), own)
        with day.calling(owner.__name__):
            agent = made(owner, offered)
        method = getattr(agent, step)
        day.ends_with = getattr(agent, "close", None)
        return day, (lambda: method(life.now)) if step == "step" else method

    async def awaited(context: Any) -> Any:
        __tracebackhide__ = True
        day, method = begun(context)

        async def tick() -> None:
            __tracebackhide__ = True
            with day.calling(step):
                await method()

        return await lived(day, tick)

    def called(context: Any) -> Any:
        __tracebackhide__ = True
        day, method = begun(context)

        def tick() -> None:
            __tracebackhide__ = True
            with day.calling(step):
                if inspect.isawaitable(method()):
                    raise BenchmarkError(
                        f"{step}: expected a plain function or `async def {step}`, got a function that "
                        "returns something to await"
                    )

        return lived_now(day, tick)

    return awaited if inspect.iscoroutinefunction(getattr(owner, step)) else called
