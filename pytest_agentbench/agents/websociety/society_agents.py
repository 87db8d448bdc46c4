"""Agents of WebSocietySimulator: what they derive from, and how they are called.

They keep the task on ``self``, so each task gets an object of its own, as it does there.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from pytest_agentbench.agents.framework_calls import class_of, derives, keywords, made, question
from pytest_agentbench.agents.llm.calls import Model
from pytest_agentbench.agents.websociety.interaction import InteractionTool, serving
from pytest_agentbench.agents.websociety.models import CallModel, is_configured
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


def track_of(owner: type) -> str | None:
    """The target of the questions that a class answers; None where its bases do not tell."""
    return next((TRACKS[base.__name__] for base in owner.__mro__ if base.__name__ in TRACKS), None)


def task_of(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The task that an agent is given: with keys that its tasks always have, without the other track's."""
    task = {"loc": [-1, -1], **{key: value for key, value in fields.items() if value is not None}}
    task.setdefault("description", DESCRIPTIONS.get(fields.get("target", ""), ""))
    return task


def in_turn(owner: type, models: Sequence[Any]) -> Callable[..., Any]:
    """The agent as a function of the context, with the models that a script gave it, one after another.

    Those that stand in for a published one are the model that is configured.
    """
    turns = itertools.count()

    def answer(context: Any, llm: Any) -> Any:
        __tracebackhide__ = True
        own = models[next(turns) % len(models)] if models else None
        function = society_function(owner, llm if own is None or is_configured(own) else own)
        assert function is not None
        return function(context)

    return answer


def society_function(
    target: Any, llm: Any, params: Mapping[str, Any] | None = None
) -> Callable[[Any], Any] | None:
    """An agent with ``workflow()`` as a function of the context; None for every other shape."""
    is_society = derives(target, *TRACKS) or (
        callable(getattr(target, "workflow", None)) and not hasattr(target, "forward")
    )
    if not is_society:
        return None
    owner = class_of(target)
    given = keywords(owner, params)

    def called(context: Any) -> Any:
        __tracebackhide__ = True
        fields, store = question(context)
        tool = None if store is None else InteractionTool.of(store)
        with serving(tool):
            return _prepared(owner, llm, given, fields, tool).workflow()

    async def awaited(context: Any) -> Any:
        __tracebackhide__ = True
        fields, store = question(context)
        tool = None if store is None else InteractionTool.of(store)
        with serving(tool):
            return await _prepared(owner, llm, given, fields, tool).workflow()

    return awaited if inspect.iscoroutinefunction(getattr(owner, "workflow", None)) else called


def _prepared(
    owner: type, llm: Any, given: Mapping[str, Any], fields: dict[str, Any], tool: Any
) -> Any:
    """An object for one task, with its model, its tool and its task."""
    __tracebackhide__ = True
    track = track_of(owner)
    if track is not None and fields.get("target", track) != track:
        raise BenchmarkError(
            f"{owner.__name__} answers {track}, got a question of {fields['target']}; select the "
            f"others away with -k {track}"
        )
    model = CallModel(llm) if isinstance(llm, Model) else llm
    agent = made(owner, {**given, "llm": model})
    if getattr(agent, "llm", None) is None:
        agent.llm = model
    if callable(getattr(agent, "set_interaction_tool", None)):
        agent.set_interaction_tool(tool)
    else:
        agent.interaction_tool = tool
    task = task_of(fields)
    if callable(getattr(agent, "insert_task", None)):
        agent.insert_task(SimpleNamespace(to_dict=lambda: task))
    else:
        agent.task = task
    return agent
