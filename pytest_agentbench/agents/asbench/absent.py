"""What the stand-ins for agentsociety do not have, said where an agent asks for it."""

from __future__ import annotations

from typing import NoReturn

from pytest_agentbench.agents.missing import refuse


def not_here(name: str, instead: str) -> NoReturn:
    """A part of agentsociety without a stand-in, and what to do instead."""
    refuse(name, f"it is not part of what stands in for agentsociety here; {instead}")
