"""Every shape of agent as one function of the context.

What may happen at once: one object serves all calls of a function, a callable or a class with
``forward``, whose authors know that calls overlap under ``--concurrency``. The agents of other frameworks
keep the question on ``self``, so no two calls ever share an object of theirs: WebSocietySimulator makes an
object for each task, and so does this; asbench has as many objects as tasks at once, each of which goes
on to the next task, and here an idle one is taken, or a new one is made.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_agentbench.agents.frameworks import Toolbox
from pytest_agentbench.agents.llm.calls import Model, NoLLM
from pytest_agentbench.base.errors import BenchmarkError

EXPECTED = (
    "a function f(context), or a class or object with forward(context), forward_batch(contexts) or "
    "workflow()"
)
STORE = "uir"  # the key of a context that holds the user-item-review store

_METHODS = ("forward", "forward_batch", "workflow")
# The track of WebSocietySimulator that a base class is for, as the target of a context.
_TRACKS = {"SimulationAgent": "review_writing", "RecommendationAgent": "recommendation"}

Function = Callable[[Any], Any]


@dataclass(frozen=True)
class Tools:
    """What an agent may be handed beside the context."""

    llm: Model | None = None


def has_agent_method(value: Any) -> bool:
    """Whether a class or object is an agent by one of its methods (any function may be one)."""
    return any(callable(getattr(value, name, None)) for name in _METHODS)


def function_of(target: Any, tools: Tools = Tools()) -> Function:  # noqa: B008 -- it is frozen
    """The agent as a function of the context.

    It is a coroutine function exactly where the agent's own is one (asbench's always is), so that the
    caller knows whether a call blocks. Nothing is made before the first call. Functions, methods and constructors that take
    ``llm`` are handed the model.
    """
    llm = tools.llm or NoLLM()
    if _derives(target, "IndividualAgentBase"):
        return _individual(_class(target), llm)
    if _derives(target, *_TRACKS) or (
        callable(getattr(target, "workflow", None)) and not hasattr(target, "forward")
    ):
        return _society(_class(target), llm)
    for name in ("forward", "forward_batch"):
        if callable(getattr(target, name, None)):
            call = _method(target, name, llm)
            return call if name == "forward" else _one_of_a_batch(call)
    if not isinstance(target, type):
        if callable(target):
            return _with_llm(target, llm)
    elif any("__call__" in vars(base) for base in target.__mro__):
        return _method(target, "__call__", llm)
    raise BenchmarkError(f"--agent: expected {EXPECTED}, got {target!r}")


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


def _is_coroutine(function: Any) -> bool:
    called = function if inspect.isroutine(function) else getattr(function, "__call__", function)  # noqa: B004
    return inspect.iscoroutinefunction(called)


def _takes(function: Any, name: str) -> bool:
    """Whether a function has a parameter of this name (``**options`` does not count)."""
    try:
        parameter = inspect.signature(function).parameters.get(name)
    except (TypeError, ValueError):  # builtins without a signature
        return False
    return parameter is not None and parameter.kind is not inspect.Parameter.VAR_KEYWORD


def _with_llm(function: Any, llm: Any) -> Function:
    """A call that hands over the model, if it is taken; what does not need wrapping stays itself."""
    if not _takes(function, "llm"):
        if inspect.iscoroutinefunction(function) or not _is_coroutine(function):
            return function  # type: ignore[no-any-return]

        async def plain(context: Any) -> Any:
            __tracebackhide__ = True
            return await function(context)

        return plain
    if _is_coroutine(function):

        async def awaited(context: Any) -> Any:
            __tracebackhide__ = True
            return await function(context, llm=llm)

        return awaited

    def called(context: Any) -> Any:
        __tracebackhide__ = True
        return function(context, llm=llm)

    return called


def _method(target: Any, name: str, llm: Any) -> Function:
    """A method of an object, or of a class's one object, which the first call makes."""
    if not isinstance(target, type):
        method = getattr(target, name)
        return _with_llm(method, llm)
    owner: type = target
    lock = threading.Lock()
    made: list[Function] = []

    def ready() -> Function:
        __tracebackhide__ = True
        with lock:
            if not made:
                method = getattr(owner(llm=llm) if _takes(owner, "llm") else owner(), name)
                made.append(_with_llm(method, llm))
            return made[0]

    if _is_coroutine(getattr(owner, name)):

        async def awaited(context: Any) -> Any:
            __tracebackhide__ = True
            return await ready()(context)

        return awaited

    def called(context: Any) -> Any:
        __tracebackhide__ = True
        return ready()(context)

    return called


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


def _one_of_a_batch(call: Function) -> Function:
    """``forward_batch`` with a list of one: samples are asked, timed and recorded one by one."""

    def only(answers: Any) -> Any:
        __tracebackhide__ = True
        try:
            (answer,) = answers
        except (TypeError, ValueError):
            raise BenchmarkError(
                f"forward_batch: expected a list of one answer for one context, got {answers!r:.200}"
            ) from None
        return answer

    if inspect.iscoroutinefunction(call):

        async def awaited(context: Any) -> Any:
            __tracebackhide__ = True
            return only(await call([context]))

        return awaited

    def called(context: Any) -> Any:
        __tracebackhide__ = True
        return only(call([context]))

    return called


def _question(context: Any) -> tuple[dict[str, Any], Any]:
    """The question in plain types, which agents put into prompts as it is, and the store apart."""
    fields = dict(context) if isinstance(context, Mapping) else {"context": context}
    return fields, fields.pop(STORE, None)


def _individual(owner: type, llm: Any) -> Function:
    """asbench: ``async def forward(self, task_context)`` with ``self.toolbox`` and ``self.llm``."""
    idle: list[Any] = []
    count = 0

    def taken() -> tuple[Any, Toolbox]:
        __tracebackhide__ = True
        nonlocal count
        try:
            return idle.pop()  # type: ignore[no-any-return]
        except IndexError:
            pass
        count += 1
        toolbox = Toolbox(llm)
        offered = {"id": count, "name": f"{owner.__name__}-{count}", "toolbox": toolbox}
        agent = _made(owner, {**offered, "memory": None})
        if getattr(agent, "toolbox", None) is not toolbox:  # a constructor that passes nothing on
            agent._toolbox = toolbox
        return agent, toolbox

    async def call(context: Any) -> Any:
        __tracebackhide__ = True
        agent, toolbox = taken()
        fields, store = _question(context)
        toolbox.set_tool(STORE, store)
        await agent.before_forward()
        answer = agent.forward(fields)
        if inspect.isawaitable(answer):
            answer = await answer
        await agent.after_forward()
        # After an exception it is not used again: what it was doing may go on in its own tasks.
        idle.append((agent, toolbox))
        return answer

    return call


_DESCRIPTIONS = {
    "review_writing": "Write the review, with stars, that this user would give to this item.",
    "recommendation": "Rank the candidates by how likely this user is to choose them.",
}


class _Task:
    """A task as WebSocietySimulator's ``insert_task`` takes it."""

    def __init__(self, fields: dict[str, Any]) -> None:
        # Keys that its tasks always have, so that agents take them for granted.
        self._fields = {"loc": [-1, -1], **fields}
        self._fields.setdefault("description", _DESCRIPTIONS.get(fields.get("target", ""), ""))

    def to_dict(self) -> dict[str, Any]:
        return self._fields


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
        task = _Task(fields)
        if callable(getattr(agent, "insert_task", None)):
            agent.insert_task(task)
        else:
            agent.task = task.to_dict()
        return agent

    if inspect.iscoroutinefunction(owner.workflow):  # type: ignore[attr-defined]

        async def awaited(context: Any) -> Any:
            __tracebackhide__ = True
            return await prepared(context).workflow()

        return awaited

    def called(context: Any) -> Any:
        __tracebackhide__ = True
        return prepared(context).workflow()

    return called
