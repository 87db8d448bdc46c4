"""Where published agents import from, and what they find there."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from pytest_agentbench.agents.llm.calls import configured
from pytest_agentbench.agents.llm.embeddings import Embeddings
from pytest_agentbench.agents.websociety import (
    interaction,
    memory,
    models,
    planning,
    reasoning,
    society_agents,
    society_tasks,
    tooluse,
)

ROOT = "websocietysimulator"
_AGENTS = {
    "Agent": society_agents.SocietyAgent,
    "SimulationAgent": society_agents.SimulationAgent,
    "RecommendationAgent": society_agents.RecommendationAgent,
}


def _named(module: Any, prefix: str) -> dict[str, Any]:
    """The classes of a module that agents know."""
    return {name: value for name, value in vars(module).items() if name.startswith(prefix)}


_PLANNING = _named(planning, "Planning")
_REASONING = _named(reasoning, "Reasoning")
_MEMORY = _named(memory, "Memory")
_TOOL_USE = {**_named(tooluse, "ToolUse"), "tooluse_pool": tooluse.tooluse_pool}
_MODELS = {
    "LLMBase": models.LLMBase,
    "InfinigenceLLM": models.InfinigenceLLM,
    "OpenAILLM": models.OpenAILLM,
}
_TOOLS = {
    "InteractionTool": interaction.InteractionTool,
    "CacheInteractionTool": interaction.CacheInteractionTool,
}
_TASKS = {
    "SimulationTask": society_tasks.SimulationTask,
    "RecommendationTask": society_tasks.RecommendationTask,
}
_LOGGER = {"logger": logging.getLogger(ROOT)}

# Names that are not here are classes without a stand-in, if they look like classes.
MODULES: Mapping[str, Mapping[str, Any]] = {
    ROOT: _LOGGER,
    f"{ROOT}.agent": _AGENTS,
    f"{ROOT}.agent.agent": _AGENTS,
    f"{ROOT}.agent.simulation_agent": _AGENTS,
    f"{ROOT}.agent.recommendation_agent": _AGENTS,
    f"{ROOT}.agent.modules": {**_PLANNING, **_REASONING, **_MEMORY, **_TOOL_USE},
    f"{ROOT}.agent.modules.planning_modules": _PLANNING,
    f"{ROOT}.agent.modules.reasoning_modules": _REASONING,
    f"{ROOT}.agent.modules.memory_modules": _MEMORY,
    f"{ROOT}.agent.modules.tooluse_modules": _TOOL_USE,
    f"{ROOT}.agent.modules.tooluse_pool": _TOOL_USE,
    f"{ROOT}.llm": _MODELS,
    f"{ROOT}.llm.llm": _MODELS,
    f"{ROOT}.llm.infinigence_embeddings": {},
    f"{ROOT}.simulator": _LOGGER,
    f"{ROOT}.tasks": _TASKS,
    f"{ROOT}.tasks.simulation_task": _TASKS,
    f"{ROOT}.tasks.recommendation_task": _TASKS,
    f"{ROOT}.tools": _TOOLS,
    f"{ROOT}.tools.interaction_tool": _TOOLS,
    f"{ROOT}.tools.cache_interaction_tool": _TOOLS,
    f"{ROOT}.tools.evaluation_tool": {},
}


def further(module: str, name: str) -> type | None:
    """A class that participants' versions of the package have beside the published ones."""
    if not module.startswith(f"{ROOT}.llm"):
        return None
    if name.endswith("LLM"):  # of another provider: the configured model, like the rest
        return type(name, (models.KeyedLLM,), {"__module__": module})
    if name.endswith("Embeddings"):

        class Made(Embeddings):
            def __init__(self, *args: Any, **options: Any) -> None:
                super().__init__(lambda texts: configured().embeddings(texts))

        return type(name, (Made,), {"__module__": module})
    return None
