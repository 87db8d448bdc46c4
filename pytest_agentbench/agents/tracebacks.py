"""Tracebacks without our own frames, which say nothing to the agent's author."""

from __future__ import annotations

import asyncio.base_events
import bdb
import concurrent.futures._base
import os
from pathlib import Path
from types import TracebackType

# What stands between whoever asks and the agent.
_BETWEEN = (
    str(Path(__file__).parent) + os.sep,
    asyncio.base_events.__file__,
    bdb.__file__,
    concurrent.futures._base.__file__,
)


def from_agent(error: BaseException) -> TracebackType | None:
    """The error's traceback from the agent's first frame on; None if it has no frame of the agent's.

    An error of an agent in another process has none.
    """
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(_BETWEEN):
        trace = trace.tb_next
    return trace
