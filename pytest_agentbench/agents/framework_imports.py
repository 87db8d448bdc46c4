"""Imports of agents written for asbench and WebSocietySimulator, without those packages installed.

While an agent's file is imported (:func:`available`), ``from agentsociety.agent import
IndividualAgentBase`` and the like find the classes of :mod:`pytest_agentbench.agents.asbench` and
:mod:`pytest_agentbench.agents.frameworks`, unless the real package is installed: our finder is asked last.
Afterwards the finder and its modules are gone, so that a test which asks whether ``agentsociety`` is
installed gets a true answer.
"""

from __future__ import annotations

import functools
import importlib.abc
import importlib.machinery
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from pytest_agentbench.agents.asbench import asbench_modules
from pytest_agentbench.agents.frameworks import (
    PlanningBase,
    ReasoningBase,
    RecommendationAgent,
    SimulationAgent,
    SocietyAgent,
)


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
    """A memory module: baselines make one and never use it, so creating one must not fail."""

    def __init__(self, *args: Any, **options: Any) -> None:
        pass

    def __call__(self, *args: Any, **options: Any) -> Any:
        super().__init__()


_AGENTS = {
    "Agent": SocietyAgent,
    "SimulationAgent": SimulationAgent,
    "RecommendationAgent": RecommendationAgent,
}
_MODULES_OF_AGENTS = {"PlanningBase": PlanningBase, "ReasoningBase": ReasoningBase}
# Where published agents import from, and what is there beside classes without a stand-in.
_MODULES: Mapping[str, Mapping[str, Any]] = {
    **asbench_modules.MODULES,
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
        found = asbench_modules.further(module, name)
        if found is not None:
            return found
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

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        module.__dict__.update(_MODULES[name], __getattr__=_module_getattr(name))
        self.made[name] = module


_lock = threading.RLock()  # two agents at once would take each other's modules away


@contextmanager
def available() -> Iterator[None]:
    """Within it, agents of asbench and WebSocietySimulator can be imported, whether or not their packages are installed."""
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
