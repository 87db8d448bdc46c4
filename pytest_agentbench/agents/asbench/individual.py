"""The base class of asbench's agents that solve tasks one by one."""

from __future__ import annotations

from typing import Any

from pytest_agentbench.agents.asbench.agent_base import Agent


class IndividualAgentBase(Agent):
    """What ``class X(IndividualAgentBase)`` of an asbench agent derives from."""

    async def forward(self, task_context: dict[str, Any]) -> Any:
        raise NotImplementedError(f"expected forward(self, task_context) in {type(self).__name__}")
