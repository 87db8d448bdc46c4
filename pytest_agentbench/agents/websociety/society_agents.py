"""Agents of WebSocietySimulator: what they derive from, and how they are called.

They keep the task on ``self``, so each task gets an object of its own, as it does there.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from pytest_agentbench.agents.framework_calls import class_of, derives, made, question
from pytest_agentbench.agents.llm.calls import Model
from pytest_agentbench.agents.websociety.interaction import InteractionTool, serving
from pytest_agentbench.agents.websociety.models import CallModel
from pytest_agentbench.agents.websociety.society_tasks import DESCRIPTIONS
from pytest_agentbench.base.errors import BenchmarkError

# The track that a base class is for, as the target of a context.
TRACKS = {"SimulationAgent": "review_writing", "RecommendationAgent": "recommendation"}


class SocietyAgent:
    """What the agents of WebSocietySimulator share."""

    def __init__(self, llm: Any = None) -> None:
        self.llm = llm
        self.interaction_tool: Any = None
        self.task: Any = None

    def set_interaction_tool(self, interaction_tool: Any) -> None:
        self.interaction_tool = interaction_tool

    def insert_task(self, task: Any) -> None:
        self.task = task.to_dict()

    def workflow(self) -> Any:
        raise NotImplementedError(f"expected workflow(self) in {type(self).__name__}")


class SimulationAgent(SocietyAgent):
    """Writes reviews: ``workflow()`` returns ``{"stars": …, "review": …}``."""


class RecommendationAgent(SocietyAgent):
    """Recommends: ``workflow()`` returns the candidates, best first."""


def society_function(target: Any, llm: Any) -> Callable[[Any], Any] | None:
    """An agent with ``workflow()`` as a function of the context; None for every other shape."""
    is_society = derives(target, *TRACKS) or (
        callable(getattr(target, "workflow", None)) and not hasattr(target, "forward")
    )
    if not is_society:
        return None
    owner = class_of(target)

    def called(context: Any) -> Any:
        __tracebackhide__ = True
        fields, store = question(context)
        tool = None if store is None else InteractionTool.of(store)
        with serving(tool):
            return _prepared(owner, llm, fields, tool).workflow()

    async def awaited(context: Any) -> Any:
        __tracebackhide__ = True
        fields, store = question(context)
        tool = None if store is None else InteractionTool.of(store)
        with serving(tool):
            return await _prepared(owner, llm, fields, tool).workflow()

    return awaited if inspect.iscoroutinefunction(getattr(owner, "workflow", None)) else called


def _prepared(owner: type, llm: Any, fields: dict[str, Any], tool: Any) -> Any:
    """An object for one task, with its model, its tool and its task."""
    __tracebackhide__ = True
    track = next((TRACKS[base.__name__] for base in owner.__mro__ if base.__name__ in TRACKS), None)
    if track is not None and fields.get("target", track) != track:
        raise BenchmarkError(
            f"{owner.__name__} answers {track}, got a question of {fields['target']}; select the "
            f"others away with -k {track}"
        )
    model = CallModel(llm) if isinstance(llm, Model) else llm
    agent = made(owner, {"llm": model})
    if getattr(agent, "llm", None) is None:
        agent.llm = model
    if callable(getattr(agent, "set_interaction_tool", None)):
        agent.set_interaction_tool(tool)
    else:
        agent.interaction_tool = tool
    # Keys that its tasks always have, so that agents take them for granted, and none of the other track.
    task = {"loc": [-1, -1], **{key: value for key, value in fields.items() if value is not None}}
    task.setdefault("description", DESCRIPTIONS.get(fields.get("target", ""), ""))
    if callable(getattr(agent, "insert_task", None)):
        agent.insert_task(SimpleNamespace(to_dict=lambda: task))
    else:
        agent.task = task
    return agent
