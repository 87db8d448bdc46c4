"""Tracebacks cut to the agent's own frames."""

from __future__ import annotations

import asyncio.base_events
import concurrent.futures._base
from pathlib import Path

from pytest_agentbench.agents import ask

_BETWEEN = {
    __file__,
    str(Path(__file__).with_name("plan.py")),
    asyncio.base_events.__file__,
    concurrent.futures._base.__file__,
}


_AGENTS = str(Path(ask.__file__).parent)


def from_agent(error: BaseException) -> BaseException:
    """The error with its traceback cut to the agent's own frames: ours say nothing to its author.

    One that comes from an agent in another process has none, and then no traceback at all.
    """
    trace = error.__traceback__
    while trace is not None and _is_between(trace.tb_frame.f_code.co_filename):
        trace = trace.tb_next
    return error.with_traceback(trace)


def _is_between(file: str) -> bool:
    return file in _BETWEEN or file.startswith(_AGENTS)
