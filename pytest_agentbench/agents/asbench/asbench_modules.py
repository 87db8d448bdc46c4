"""Where asbench's agents import from, and what they find there.

Further names that look like classes may be imported and derived from; what they are is said when they are
instantiated (:mod:`pytest_agentbench.agents.framework_imports`).
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Mapping
from typing import Any

from pytest_agentbench.agents.asbench.agent_base import Agent
from pytest_agentbench.agents.asbench.citizen import (
    CitizenAgentBase,
    DailyMobilityAgent,
    HurricaneMobilityAgent,
)
from pytest_agentbench.agents.asbench.city_enums import NumberedNames, Status, TripMode
from pytest_agentbench.agents.asbench.dot_dict import DotDict
from pytest_agentbench.agents.asbench.individual import IndividualAgentBase
from pytest_agentbench.agents.asbench.json_texts import (
    clean_json_response,
    extract_dict_from_string,
    extract_json,
    prettify_document,
)
from pytest_agentbench.agents.asbench.memories import (
    KVMemory,
    Memory,
    MemoryAttribute,
    StreamMemory,
)
from pytest_agentbench.agents.asbench.poi_groups import copied_groups
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

# In modules that import the city: only for agents that name them.
_OF_CITY = {
    "Environment": "pytest_agentbench.agents.asbench.environment",
    "MapData": "pytest_agentbench.agents.asbench.city_map",
}


def _folders(names: Mapping[str, Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """The modules and the packages that they lie in."""
    found: dict[str, Mapping[str, Any]] = {}
    for name in names:
        parts = name.split(".")
        found |= {".".join(parts[:end]): {} for end in range(1, len(parts))}
    return {**found, **names}


def _of_mobility(benchmarks: str) -> dict[str, Mapping[str, Any]]:
    """The base classes of both mobility benchmarks, in each of the places where they are found."""
    daily = {"DailyMobilityAgent": DailyMobilityAgent}
    hurricane = {"HurricaneMobilityAgent": HurricaneMobilityAgent}
    return _folders(
        {
            benchmarks: {**daily, **hurricane},
            f"{benchmarks}.DailyMobility": daily,
            f"{benchmarks}.DailyMobility.template_agent": daily,
            f"{benchmarks}.HurricaneMobility": hurricane,
            f"{benchmarks}.HurricaneMobility.template_agent": hurricane,
        }
    )


def _of_enum(name: str, enum: NumberedNames) -> dict[str, Any]:
    """What a module of protobuf has: the enum, and its members by themselves."""
    return {name: enum, **dict(enum.items())}


_BENCHMARKS = "agentsociety_benchmark.benchmarks"
_TASK = f"{_BENCHMARKS}.BehaviorModeling"
MODULES: Mapping[str, Mapping[str, Any]] = {
    "agentsociety": {},
    **_of_mobility("mobisimbench.benchmarks"),
    **_of_mobility(_BENCHMARKS),
    **_folders(
        {
            "pycityproto.city.person.v2.motion_pb2": _of_enum("Status", Status),
            "pycityproto.city.trip.v2.trip_pb2": _of_enum("TripMode", TripMode),
        }
    ),
    "agentsociety.agent": {
        "Agent": Agent,
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
    "agentsociety.agent.agent_base": {"Agent": Agent, "extract_json": extract_json},
    "agentsociety.agent.block": {},
    "agentsociety.agent.context": {"DotDict": DotDict},
    "agentsociety.agent.memory_config_generator": {"MemoryAttribute": MemoryAttribute},
    "agentsociety.agent.prompt": {"FormatPrompt": FormatPrompt},
    "agentsociety.agent.toolbox": {"AgentToolbox": Toolbox, "CustomTool": CustomTool},
    "agentsociety.cityagent": {},
    "agentsociety.cityagent.blocks": {},
    "agentsociety.cityagent.blocks.utils": {
        "clean_json_response": clean_json_response,
        "extract_dict_from_string": extract_dict_from_string,
        "prettify_document": prettify_document,
    },
    "agentsociety.configs": {},
    "agentsociety.environment": {},
    "agentsociety.environment.environment": {},
    "agentsociety.environment.mapdata": {},
    "agentsociety.environment.utils": {},
    "agentsociety.environment.utils.const": {"POI_CATG_DICT": copied_groups()},
    "agentsociety.llm": {},
    "agentsociety.logger": {"get_logger": get_logger, "set_logger_level": set_logger_level},
    "agentsociety.memory": {"KVMemory": KVMemory, "Memory": Memory, "StreamMemory": StreamMemory},
    "agentsociety.taskloader": {},
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
    if module.startswith("agentsociety.environment") and name in _OF_CITY:
        return getattr(importlib.import_module(_OF_CITY[name]), name)
    if module.startswith("agentsociety.agent") and name in _OF_BLOCKS:
        return getattr(importlib.import_module(_BLOCKS), name)
    return None
