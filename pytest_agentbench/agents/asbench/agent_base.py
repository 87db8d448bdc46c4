"""What all agents of asbench share: the model, the tools, the memory, and the steps around ``forward``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytest_agentbench.agents.asbench.absent import not_here
from pytest_agentbench.agents.asbench.dot_dict import DotDict
from pytest_agentbench.agents.asbench.memories import Memory
from pytest_agentbench.agents.asbench.toolbox import Toolbox


class Agent:
    """The common base. What runs derives from one of its subclasses."""

    ParamsType: type | None = None  # agentsociety's is AgentParams, which has no fields
    Context: type | None = None
    StatusAttributes: Sequence[Any] = ()
    description = ""

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
        self._memory = Memory(self.StatusAttributes) if memory is None else memory
        self.params = agent_params
        if agent_params is None and self.ParamsType is not None:
            self.params = self.ParamsType()
        self.blocks = list(blocks or ())
        for block in self.blocks:
            if block.NeedAgent:
                block.set_agent(self)
        self.context = DotDict({} if self.Context is None else self.Context().model_dump())

    id = property(lambda self: self._id)
    name = property(lambda self: self._name)
    toolbox = property(lambda self: self._toolbox)
    llm = property(lambda self: self._toolbox.llm)
    environment = property(lambda self: self._toolbox.environment)
    messager = property(lambda self: self._toolbox.messager)
    database_writer = property(lambda self: self._toolbox.database_writer)
    memory = property(lambda self: self._memory)
    status = property(lambda self: self._memory.status)
    stream = property(lambda self: self._memory.stream)

    @property
    def dispatcher(self) -> Any:
        not_here("self.dispatcher", "call the block that you want")

    async def before_forward(self) -> None:
        """Called before each ``forward``."""

    async def before_blocks(self) -> None:
        for block in self.blocks:
            await block.before_forward()

    async def after_blocks(self) -> None:
        for block in self.blocks:
            await block.after_forward()

    async def after_forward(self) -> None:
        """Called after each ``forward``."""

    async def reset(self) -> None:
        """Called by nobody here."""

    async def close(self) -> None:
        """Called at the end of a citizen's days; by nobody for an agent that solves tasks."""
