"""Where asbench's agents import from, and what they find there.

Further names that look like classes may be imported and derived from; what they are is said when they are
instantiated (:mod:`pytest_agentbench.agents.framework_imports`).
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Mapping
from typing import Any

from pytest_agentbench.agents.asbench.dot_dict import DotDict
from pytest_agentbench.agents.asbench.individual import CitizenAgentBase, IndividualAgentBase
from pytest_agentbench.agents.asbench.memories import (
    KVMemory,
    Memory,
    MemoryAttribute,
    StreamMemory,
)
from pytest_agentbench.agents.asbench.prompts import FormatPrompt
from pytest_agentbench.agents.asbench.toolbox import CustomTool, Toolbox


def get_logger(name: str = "agentsociety") -> logging.Logger:
    return logging.getLogger(name)


def set_logger_level(level: str) -> None:
    get_logger().setLevel(level.upper())


class BehaviorModelingAgent(IndividualAgentBase):
    """asbench's template of an agent; whoever derives from it writes ``forward``."""


# In a module of their own, which imports pydantic: only for agents that use them.
_BLOCKS = "pytest_agentbench.agents.asbench.blocks"
_OF_BLOCKS = frozenset(
    (
        "AgentContext",
        "AgentParams",
        "Block",
        "BlockContext",
        "BlockOutput",
        "BlockParams",
        "DotDict",
    )
)

_BENCHMARKS = "agentsociety_benchmark.benchmarks"
_TASK = f"{_BENCHMARKS}.BehaviorModeling"
MODULES: Mapping[str, Mapping[str, Any]] = {
    "agentsociety": {},
    "agentsociety.agent": {
        "CitizenAgentBase": CitizenAgentBase,
        "IndividualAgentBase": IndividualAgentBase,
        "AgentToolbox": Toolbox,
        "CustomTool": CustomTool,
        "DotDict": DotDict,
        "FormatPrompt": FormatPrompt,
        "MemoryAttribute": MemoryAttribute,
    },
    "agentsociety.agent.agent": {
        "CitizenAgentBase": CitizenAgentBase,
        "IndividualAgentBase": IndividualAgentBase,
    },
    "agentsociety.agent.agent_base": {},
    "agentsociety.agent.block": {},
    "agentsociety.agent.context": {"DotDict": DotDict},
    "agentsociety.agent.memory_config_generator": {"MemoryAttribute": MemoryAttribute},
    "agentsociety.agent.prompt": {"FormatPrompt": FormatPrompt},
    "agentsociety.agent.toolbox": {"AgentToolbox": Toolbox, "CustomTool": CustomTool},
    "agentsociety.configs": {},
    "agentsociety.llm": {},
    "agentsociety.logger": {"get_logger": get_logger, "set_logger_level": set_logger_level},
    "agentsociety.memory": {"KVMemory": KVMemory, "Memory": Memory, "StreamMemory": StreamMemory},
    "agentsociety.taskloader": {},
    "agentsociety_benchmark": {},
    _BENCHMARKS: {},
    _TASK: {},
    f"{_TASK}.interactiontool": {},
    f"{_TASK}.template_agent": {"BehaviorModelingAgent": BehaviorModelingAgent},
}

# Beside asbench's own agent lie the modules of its task: `from .interactiontool import InteractionTool`.
BESIDE_AN_AGENT: Mapping[str, str] = {
    name.rpartition(".")[2]: name for name in MODULES if name.startswith(f"{_TASK}.")
}


def further(module: str, name: str) -> Any:
    """What is made only where an agent asks for it; None for all that has no stand-in."""
    if module.startswith("agentsociety.agent") and name in _OF_BLOCKS:
        return getattr(importlib.import_module(_BLOCKS), name)
    return None
