"""Agents written for asbench: how they are called; what they derive from is in ``asbench/``.

These agents keep the question on ``self``, so no two calls that overlap share an object. asbench has as many
objects as tasks at once, each of which goes on to the next task: here an idle one is taken, or a new one is
made. Agents of WebSocietySimulator are in :mod:`pytest_agentbench.agents.websociety`.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Mapping
from typing import Any

from pytest_agentbench.agents.asbench.memories import Memory
from pytest_agentbench.agents.asbench.toolbox import Toolbox
from pytest_agentbench.agents.framework_calls import (
    STORE,
    Function,
    class_of,
    derives,
    made,
    question,
)
from pytest_agentbench.base.errors import BenchmarkError


def framework_function(
    target: Any, llm: Any, params: Mapping[str, Any] | None = None
) -> Function | None:
    """An agent of asbench as a function of the context; None for every other shape.

    ``params`` are asbench's ``agent_params``.
    """
    if derives(target, "IndividualAgentBase"):
        return _individual(class_of(target), llm, params)
    return None


def _individual(owner: type, llm: Any, params: Mapping[str, Any] | None) -> Function:
    """asbench: ``async def forward(self, task_context)`` with ``self.toolbox`` and ``self.llm``."""
    idle: list[Any] = []
    count = itertools.count()
    agent_params = agent_params_of(owner, params)

    def taken() -> tuple[Any, Toolbox]:
        __tracebackhide__ = True
        try:
            return idle.pop()  # type: ignore[no-any-return]
        except IndexError:
            pass
        number = next(count)
        toolbox = Toolbox(llm)
        offered = {
            "id": number,
            "name": f"{owner.__name__}_{number}",
            "toolbox": toolbox,
            "memory": Memory(getattr(owner, "StatusAttributes", ())),
            "agent_params": agent_params,
            "blocks": None,
        }
        agent = made(owner, offered)
        if getattr(agent, "toolbox", None) is not toolbox:  # a constructor that passes nothing on
            agent._toolbox = toolbox
        return agent, toolbox

    async def call(context: Any) -> Any:
        __tracebackhide__ = True
        agent, toolbox = taken()
        fields, store = question(context)
        toolbox.set_tool(STORE, store)
        for step in ("before_forward", "before_blocks"):
            await _awaited(agent, step)
        answer = agent.forward(fields)
        if inspect.isawaitable(answer):
            answer = await answer
        for step in ("after_blocks", "after_forward"):
            await _awaited(agent, step)
        # After an exception it is not used again: what it was doing may go on in its own tasks.
        idle.append((agent, toolbox))
        return answer

    return call


async def _awaited(agent: Any, step: str) -> None:
    """A step around ``forward``; releases of agentsociety differ in those they have."""
    __tracebackhide__ = True
    if (method := getattr(agent, step, None)) is not None:
        await method()


def agent_params_of(owner: type, params: Mapping[str, Any] | None) -> Any:
    """What asbench hands to the constructor: the agent's ``ParamsType``, made from what was given."""
    kind = getattr(owner, "ParamsType", None)
    if kind is None:
        return params
    known, given = getattr(kind, "model_fields", None), dict(params or {})
    allowed = getattr(kind, "model_config", {}).get("extra") == "allow"
    if isinstance(known, Mapping) and not allowed:
        taken = {*known, *(one.alias for one in known.values() if getattr(one, "alias", None))}
        unknown = [key for key in given if key not in taken]
        if unknown:
            raise BenchmarkError(
                f"agent_params: expected the fields of {kind.__name__}, which {owner.__name__} has "
                f"({', '.join(known) or 'none'}); got {', '.join(map(repr, unknown))}"
            )
    try:
        return kind() if params is None else kind.model_validate(given)
    except (TypeError, ValueError) as error:
        raise BenchmarkError(
            f"agent_params: expected the fields of {kind.__name__}, which {owner.__name__} has; got "
            f"{error}"
        ) from None
