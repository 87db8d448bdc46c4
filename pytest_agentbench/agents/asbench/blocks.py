"""The parts that an asbench agent may be made of: parameters, contexts and blocks.

agentsociety's parameters are pydantic models. Where pydantic is installed, so are these: an agent that
uses its ``Field`` has it installed.
"""

from __future__ import annotations

import copy
from typing import Any

from pytest_agentbench.agents.asbench.dot_dict import DotDict

try:
    from pydantic import BaseModel
except ImportError:

    class BaseModel:  # type: ignore[no-redef]
        """The little of pydantic that parameters without ``Field`` need; types are not checked."""

        def __init__(self, **values: Any) -> None:
            for name in _fields(type(self)):
                if name not in values and not hasattr(type(self), name):
                    raise ValueError(f"expected a value for {name}, got {', '.join(values)}")
                default = copy.deepcopy(getattr(type(self), name, None))
                setattr(self, name, values.get(name, default))

        @classmethod
        def model_validate(cls, values: Any) -> Any:
            return values if isinstance(values, cls) else cls(**values)

        def model_dump(self) -> dict[str, Any]:
            return {name: getattr(self, name) for name in _fields(type(self))}

    def _fields(kind: type) -> list[str]:
        annotated = (vars(base).get("__annotations__", {}) for base in reversed(kind.__mro__))
        return [name for names in annotated for name in names]


class AgentParams(BaseModel):
    """The parameters of an agent (its ``ParamsType``)."""


class AgentContext(BaseModel):
    """What an agent keeps at hand (its ``Context``)."""


class BlockParams(BaseModel):
    """The parameters of a block (its ``ParamsType``)."""

    block_memory: Any = None


class BlockContext(BaseModel):
    """What a block keeps at hand (its ``Context``)."""


class BlockOutput(BaseModel):
    """What a block returns."""


class Block:
    """One ability of an agent: its own ``forward``, with the agent's model, tools and memory."""

    ParamsType: type = BlockParams
    Context: type = BlockContext
    OutputType: type | None = None
    NeedAgent = False
    name = ""
    description = ""

    def __init__(self, toolbox: Any, agent_memory: Any = None, block_params: Any = None) -> None:
        self.toolbox = toolbox
        self.agent_memory = agent_memory
        self.params = self.ParamsType() if block_params is None else block_params
        for key, value in self.params.model_dump().items():
            if key != "block_memory":
                setattr(self, key, value)
        self.context = DotDict(self.Context().model_dump())
        self.agent: Any = None

    llm = property(lambda self: self.toolbox.llm)
    memory = property(lambda self: self.agent_memory)
    environment = property(lambda self: self.toolbox.environment)

    def set_agent(self, agent: Any) -> None:
        self.agent = agent

    async def before_forward(self) -> None:
        """Called before the agent's own ``forward``."""

    async def after_forward(self) -> None:
        """Called after the agent's own ``forward``."""

    async def forward(self, agent_context: Any) -> Any:
        raise NotImplementedError(f"expected forward(self, agent_context) in {type(self).__name__}")
