"""Agents written for asbench: what they derive from, and how they are called.

These agents keep the question on ``self``, so no two calls that overlap share an object. asbench has as many
objects as tasks at once, each of which goes on to the next task: here an idle one is taken, or a new one is
made. Agents of WebSocietySimulator are in :mod:`pytest_agentbench.agents.websociety`.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from pytest_agentbench.agents.framework_calls import STORE as _STORE
from pytest_agentbench.agents.framework_calls import Function
from pytest_agentbench.agents.framework_calls import class_of as _class
from pytest_agentbench.agents.framework_calls import derives as _derives
from pytest_agentbench.agents.framework_calls import made as _made
from pytest_agentbench.agents.framework_calls import question as _question


def framework_function(target: Any, llm: Any) -> Function | None:
    """An agent of asbench as a function of the context; None for every other shape."""
    return _individual(_class(target), llm) if _derives(target, "IndividualAgentBase") else None


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
        toolbox.set_tool(_STORE, store)
        await agent.before_forward()
        answer = agent.forward(fields)
        if inspect.isawaitable(answer):
            answer = await answer
        await agent.after_forward()
        # After an exception it is not used again: what it was doing may go on in its own tasks.
        idle.append((agent, toolbox))
        return answer

    return call


class CustomTool:
    """A named tool. Agents call it, ask it for the tool, or use it as if it were the tool."""

    def __init__(self, name: str, tool: Any, description: str = "") -> None:
        self.name = name
        self.tool = tool
        self.description = description

    def get_tool(self) -> Any:
        return self.tool

    def __call__(self, *args: Any, **options: Any) -> Any:
        return self.tool(*args, **options) if callable(self.tool) else self.tool

    def __getattr__(self, name: str) -> Any:
        if name == "tool":  # before __init__, when a copy is made
            raise AttributeError(name)
        return getattr(self.tool, name)


class Toolbox:
    """``self.toolbox`` of an asbench agent: the model, and tools by name (``uir``)."""

    environment = messager = embedding = database_writer = None

    def __init__(self, llm: Any = None, tools: Mapping[str, Any] | None = None) -> None:
        self.llm = llm
        self.custom_tools: dict[str, CustomTool] = {}
        for name, tool in (tools or {}).items():
            self.set_tool(name, tool)

    def set_tool(self, name: str, tool: Any) -> None:
        """Offers a tool under a name, or takes the name away (None)."""
        self.custom_tools.pop(name, None)
        if tool is not None:
            self.custom_tools[name] = CustomTool(name, tool)

    def add_tool(self, tool: CustomTool) -> None:
        self.custom_tools[tool.name] = tool

    def get_tool(self, name: str) -> CustomTool | None:
        return self.custom_tools.get(name)

    def get_tool_object(self, name: str) -> Any:
        tool = self.get_tool(name)
        return None if tool is None else tool.tool

    def has_tool(self, name: str) -> bool:
        return name in self.custom_tools

    __contains__ = has_tool

    def __getattr__(self, name: str) -> Any:
        tools = vars(self).get("custom_tools", {})
        if name in tools:
            return tools[name].tool
        known = ", ".join(tools) or "none"
        raise AttributeError(
            f"toolbox: expected a tool that this benchmark has ({known}), got {name!r}"
        )


class IndividualAgentBase:
    """What ``class X(IndividualAgentBase)`` of an asbench agent derives from."""

    def __init__(
        self,
        id: int = 0,  # noqa: A002 -- asbench's name for it
        name: str = "agent",
        toolbox: Any = None,
        memory: Any = None,
        agent_params: Any = None,
        blocks: Any = None,
    ) -> None:
        self._id = id
        self._name = name
        self._toolbox = Toolbox() if toolbox is None else toolbox
        self._memory = memory
        self.params = agent_params
        self.blocks = list(blocks or ())

    id = property(lambda self: self._id)
    name = property(lambda self: self._name)
    toolbox = property(lambda self: self._toolbox)
    llm = property(lambda self: self._toolbox.llm)
    memory = property(lambda self: self._memory)

    async def before_forward(self) -> None:
        """Called before each :meth:`forward`."""

    async def forward(self, task_context: dict[str, Any]) -> Any:
        raise NotImplementedError(f"expected forward(self, task_context) in {type(self).__name__}")

    async def after_forward(self) -> None:
        """Called after each :meth:`forward`."""
