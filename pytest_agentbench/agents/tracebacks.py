"""Tracebacks without our own frames, which say nothing to the agent's author."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import TracebackType

# What stands between whoever asks and the agent: our modules, and these, where they are in use at all.
_OURS = str(Path(__file__).parent) + os.sep
_PACKAGE = str(Path(__file__).parents[1]) + os.sep
_BETWEEN = ("asyncio.base_events", "bdb", "concurrent.futures._base")


def from_agent(error: BaseException) -> TracebackType | None:
    """The error's traceback from the agent's first frame on; None if it has no frame of the agent's.

    An error of an agent in another process has none.
    """
    used = (sys.modules[name].__file__ for name in _BETWEEN if name in sys.modules)
    between = (_OURS, *filter(None, used))
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(between):
        trace = trace.tb_next
    return trace


def to_agent(trace: TracebackType | None) -> TracebackType | None:
    """The traceback down to the agent's last frame, without those of ours that it called.

    It is for a mistake of the agent's that our code found. Without any frame of the agent's it stays.
    """
    last, one = None, trace
    while one is not None:
        if not one.tb_frame.f_code.co_filename.startswith(_PACKAGE):
            last = one
        one = one.tb_next
    if last is not None:
        last.tb_next = None
    return trace
