"""Agents written for asbench and WebSocietySimulator: what they derive from, and how they are called.

These agents keep the question on ``self``, so no two calls that overlap share an object. WebSocietySimulator
makes an object for each task, and so does this. asbench has as many objects as tasks at once, each of which
goes on to the next task: here an idle one is taken, or a new one is made.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import re
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

from pytest_agentbench.agents.asbench.memories import Memory
from pytest_agentbench.agents.asbench.toolbox import Toolbox
from pytest_agentbench.base.errors import BenchmarkError

Function = Callable[[Any], Any]

_STORE = "uir"  # the key of a context that holds the user-item-review store
# The track that a base class of WebSocietySimulator is for, as the target of a context.
_TRACKS = {"SimulationAgent": "review_writing", "RecommendationAgent": "recommendation"}
_DESCRIPTIONS = {
    "review_writing": "Write the review, with stars, that this user would give to this item.",
    "recommendation": "Rank the candidates by how likely this user is to choose them.",
}


def framework_function(
    target: Any, llm: Any, params: Mapping[str, Any] | None = None
) -> Function | None:
    """An agent of a framework as a function of the context; None for every other shape.

    ``params`` are asbench's ``agent_params``.
    """
    if _derives(target, "IndividualAgentBase"):
        return _individual(_class(target), llm, params)
    if _derives(target, *_TRACKS) or (
        callable(getattr(target, "workflow", None)) and not hasattr(target, "forward")
    ):
        return _society(_class(target), llm)
    return None


def adapted(call: Function, awaits: bool, then: Function = lambda answer: answer) -> Function:
    """``call``, and ``then`` on its answer: a coroutine function where ``call`` is to be awaited."""

    async def awaited(context: Any) -> Any:
        __tracebackhide__ = True
        return then(await call(context))

    def called(context: Any) -> Any:
        __tracebackhide__ = True
        return then(call(context))

    return awaited if awaits else called


def _derives(target: Any, *names: str) -> bool:
    """Whether a base class has one of these names: the real package's or the stand-in."""
    owner = target if isinstance(target, type) else type(target)
    return any(base.__name__ in names for base in owner.__mro__[1:])


def _class(target: Any) -> type:
    if isinstance(target, type):
        return target
    name = type(target).__name__
    raise BenchmarkError(
        f"--agent: expected the class {name}, got an object of it: its calls may overlap, and each "
        f"needs an object of its own; name the class (file.py:{name})"
    )


def _made(owner: type, offered: Mapping[str, Any]) -> Any:
    """An object of the class, made with those of the offered arguments that its constructor takes."""
    __tracebackhide__ = True
    try:
        parameters = inspect.signature(owner).parameters.values()
    except (TypeError, ValueError):
        return owner()
    anything = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters)
    names = {parameter.name for parameter in parameters}
    return owner(**{key: value for key, value in offered.items() if anything or key in names})


def _question(context: Any) -> tuple[dict[str, Any], Any]:
    """The question in plain types, which agents put into prompts as it is, and the store apart."""
    fields = dict(context) if isinstance(context, Mapping) else {"context": context}
    return fields, fields.pop(_STORE, None)


def _individual(owner: type, llm: Any, params: Mapping[str, Any] | None) -> Function:
    """asbench: ``async def forward(self, task_context)`` with ``self.toolbox`` and ``self.llm``."""
    idle: list[Any] = []
    count = itertools.count()
    agent_params = _agent_params(owner, params)

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
        agent = _made(owner, offered)
        if getattr(agent, "toolbox", None) is not toolbox:  # a constructor that passes nothing on
            agent._toolbox = toolbox
        return agent, toolbox

    async def call(context: Any) -> Any:
        __tracebackhide__ = True
        agent, toolbox = taken()
        fields, store = _question(context)
        toolbox.set_tool(_STORE, store)
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


def _agent_params(owner: type, params: Mapping[str, Any] | None) -> Any:
    """What asbench hands to the constructor: the agent's ``ParamsType``, made from what was given."""
    kind = getattr(owner, "ParamsType", None)
    if kind is None:
        return params
    try:
        return kind() if params is None else kind.model_validate(dict(params))
    except (TypeError, ValueError) as error:
        raise BenchmarkError(
            f"agent_params: expected the fields of {kind.__name__}, which {owner.__name__} has; got "
            f"{error}"
        ) from None


def _society(owner: type, llm: Any) -> Function:
    """WebSocietySimulator: ``workflow()`` with ``self.task``, ``self.interaction_tool``, ``self.llm``."""

    def prepared(context: Any) -> Any:
        __tracebackhide__ = True
        fields, store = _question(context)
        track = next((_TRACKS[b.__name__] for b in owner.__mro__ if b.__name__ in _TRACKS), None)
        if track is not None and fields.get("target", track) != track:
            raise BenchmarkError(
                f"{owner.__name__} answers {track}, got a question of {fields['target']}; select the "
                f"others away with -k {track}"
            )
        agent = _made(owner, {"llm": llm})
        if getattr(agent, "llm", None) is None:
            agent.llm = llm
        if callable(getattr(agent, "set_interaction_tool", None)):
            agent.set_interaction_tool(store)
        else:
            agent.interaction_tool = store
        # Keys that its tasks always have, so that agents take them for granted.
        task = {"loc": [-1, -1], **fields}
        task.setdefault("description", _DESCRIPTIONS.get(fields.get("target", ""), ""))
        if callable(getattr(agent, "insert_task", None)):
            agent.insert_task(SimpleNamespace(to_dict=lambda: task))
        else:
            agent.task = task
        return agent

    is_async = inspect.iscoroutinefunction(owner.workflow)  # type: ignore[attr-defined]
    return adapted(lambda context: prepared(context).workflow(), is_async)


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


class PlanningBase:
    """A planning module: asks the model for a plan, which it writes as Python dicts."""

    def __init__(self, llm: Any) -> None:
        self.llm = llm
        self.plan: list[Any] = []

    def create_prompt(self, task_type: Any, task_description: Any, feedback: Any, few_shot: Any) -> str:  # fmt: skip
        raise NotImplementedError(f"expected create_prompt in {type(self).__name__}")

    def __call__(
        self, task_type: Any, task_description: Any, feedback: Any = "", few_shot: Any = "few_shot"
    ) -> list[Any]:
        prompt = self.create_prompt(task_type, task_description, feedback, few_shot)
        reply = self.llm(messages=[{"role": "user", "content": prompt}], temperature=0.1)
        self.plan = [ast.literal_eval(part) for part in re.findall(r"\{[^{}]*\}", reply)]
        return self.plan


class ReasoningBase:
    """A reasoning module; what it does is up to the agent's own class."""

    def __init__(self, profile_type_prompt: Any, memory: Any, llm: Any) -> None:
        self.profile_type_prompt = profile_type_prompt
        self.memory = memory
        self.llm = llm
