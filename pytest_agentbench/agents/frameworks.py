"""Imports of agents written for asbench and WebSocietySimulator, without those packages installed.

While an agent's file is imported (:func:`available`), ``from agentsociety.agent import
IndividualAgentBase`` and the like find the small classes below, unless the real package is there: the
finder stands last, so that it is asked only for what nobody else has. Afterwards it is gone, and so are
its modules: a test that asks whether ``agentsociety`` is installed gets a true answer.
"""

from __future__ import annotations

import ast
import functools
import importlib.abc
import importlib.machinery
import logging
import re
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any


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


class _SocietyAgent:
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


class SimulationAgent(_SocietyAgent):
    """Writes reviews: ``workflow()`` returns ``{"stars": …, "review": …}``."""


class RecommendationAgent(_SocietyAgent):
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


class _Unavailable:
    """A class of the real package that has no stand-in. It may be derived from and named in types."""

    _full_name = ""

    def __init__(self, *args: Any, **options: Any) -> None:
        package = self._full_name.partition(".")[0]
        raise NotImplementedError(
            f"{self._full_name} is not part of what stands in for {package} here; install {package}, "
            f"or use what the agent is handed (self.llm, its tools)"
        )


class _UnusedMemory(_Unavailable):
    """A memory module: baselines make one and never use it, so that making one must not fail."""

    def __init__(self, *args: Any, **options: Any) -> None:
        pass

    def __call__(self, *args: Any, **options: Any) -> Any:
        super().__init__()


def _get_logger(name: str = "agentsociety") -> logging.Logger:
    return logging.getLogger(name)


_AGENTS = {
    "Agent": _SocietyAgent,
    "SimulationAgent": SimulationAgent,
    "RecommendationAgent": RecommendationAgent,
}
_MODULES_OF_AGENTS = {"PlanningBase": PlanningBase, "ReasoningBase": ReasoningBase}
# Where published agents import from, and what is there beside classes without a stand-in.
_MODULES: Mapping[str, Mapping[str, Any]] = {
    "agentsociety": {},
    "agentsociety.agent": {
        "IndividualAgentBase": IndividualAgentBase,
        "AgentToolbox": Toolbox,
        "CustomTool": CustomTool,
    },
    "agentsociety.llm": {},
    "agentsociety.logger": {"get_logger": _get_logger},
    "agentsociety.memory": {},
    "websocietysimulator": {},
    "websocietysimulator.agent": _AGENTS,
    "websocietysimulator.agent.agent": _AGENTS,
    "websocietysimulator.agent.simulation_agent": _AGENTS,
    "websocietysimulator.agent.recommendation_agent": _AGENTS,
    "websocietysimulator.agent.modules": _MODULES_OF_AGENTS,
    "websocietysimulator.agent.modules.planning_modules": _MODULES_OF_AGENTS,
    "websocietysimulator.agent.modules.reasoning_modules": _MODULES_OF_AGENTS,
    "websocietysimulator.agent.modules.memory_modules": {},
    "websocietysimulator.agent.modules.tooluse_modules": {},
    "websocietysimulator.llm": {},
    "websocietysimulator.llm.llm": {},
    "websocietysimulator.simulator": {},
    "websocietysimulator.tasks": {},
    "websocietysimulator.tools": {},
    "websocietysimulator.tools.interaction_tool": {},
    "websocietysimulator.tools.cache_interaction_tool": {},
}


def _module_getattr(module: str) -> Any:
    @functools.cache  # the same class each time
    def get(name: str) -> Any:
        # Only what looks like a class: `hasattr(module, "__path__")` and the like stay as they are.
        if not name[:1].isupper():
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        if name.endswith(("Error", "Exception")):  # to be caught, never raised
            return type(name, (Exception,), {"__module__": module})
        in_modules = module.startswith("websocietysimulator.agent.modules")
        base = _UnusedMemory if in_modules and name.startswith("Memory") else _Unavailable
        return type(name, (base,), {"__module__": module, "_full_name": f"{module}.{name}"})

    return get


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the stand-ins, where the package that they stand in for is absent."""

    def __init__(self) -> None:
        self.made: dict[str, ModuleType] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname not in _MODULES:
            return None
        root = fullname.partition(".")[0]
        if root != fullname and sys.modules.get(root) is not self.made.get(root):
            return None  # a module that the real package does not have
        is_package = any(name.startswith(f"{fullname}.") for name in _MODULES)
        return importlib.machinery.ModuleSpec(fullname, self, is_package=is_package)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        module.__dict__.update(_MODULES[name], __getattr__=_module_getattr(name))
        self.made[name] = module


_lock = threading.RLock()  # two agents at once would take each other's modules away


@contextmanager
def available() -> Iterator[None]:
    """Within it, agents of asbench and WebSocietySimulator can be imported, their packages or not."""
    with _lock:
        finder = _Finder()
        sys.meta_path.append(finder)
        try:
            yield
        finally:
            sys.meta_path.remove(finder)
            for name, module in finder.made.items():
                if sys.modules.get(name) is module:
                    del sys.modules[name]
