"""The base class of asbench's agents that solve tasks one by one, and of those that do not run here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytest_agentbench.agents.asbench.absent import not_here
from pytest_agentbench.agents.asbench.dot_dict import DotDict
from pytest_agentbench.agents.asbench.memories import Memory
from pytest_agentbench.agents.asbench.toolbox import Toolbox


class IndividualAgentBase:
    """What ``class X(IndividualAgentBase)`` of an asbench agent derives from."""

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
        """Called before each :meth:`forward`."""

    async def before_blocks(self) -> None:
        for block in self.blocks:
            await block.before_forward()

    async def forward(self, task_context: dict[str, Any]) -> Any:
        raise NotImplementedError(f"expected forward(self, task_context) in {type(self).__name__}")

    async def after_blocks(self) -> None:
        for block in self.blocks:
            await block.after_forward()

    async def after_forward(self) -> None:
        """Called after each :meth:`forward`."""

    async def reset(self) -> None:
        """Nobody resets an agent between tasks."""

    async def close(self) -> None:
        """Called by nobody here: a run ends without it."""


class CitizenAgentBase:
    """What agents of agentsociety's city derive from, which move tick by tick. They do not run here yet."""

    def __init__(self, *args: Any, **options: Any) -> None:
        __tracebackhide__ = True
        not_here(
            "CitizenAgentBase",
            "agents that move tick by tick do not run yet: answer a context (`agentbench new-agent BENCHMARK`)",
        )
