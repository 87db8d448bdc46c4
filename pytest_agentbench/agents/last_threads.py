"""A session ends although an agent has left threads that never do."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Collection

GRACE = 3.0  # seconds that threads have after the last line of the session


def end_without(before: Collection[threading.Thread], status: Callable[[], int]) -> None:
    """Ends the process soon after its main thread, if threads are left that Python would wait for.

    ``before``: those that were there before any agent. ``status`` gives the exit code.
    """
    left = [one for one in threading.enumerate() if one not in before and _is_waited_for(one)]
    if left:
        code = status()
        threading.Thread(
            target=_end, args=(left, code), name="agentbench-last", daemon=True
        ).start()


def _is_waited_for(thread: threading.Thread) -> bool:
    """Whether Python waits for its end: it is no daemon, or works for a pool of ``concurrent.futures``."""
    pools = getattr(sys.modules.get("concurrent.futures.thread"), "_threads_queues", ())
    return not thread.daemon or thread in pools


def _end(left: list[threading.Thread], code: int) -> None:
    while not _waits_for_threads():
        time.sleep(0.1)
    deadline = time.monotonic() + GRACE
    for thread in left:
        thread.join(max(0.0, deadline - time.monotonic()))
    names = ", ".join(thread.name for thread in left if thread.is_alive())[:200]
    if not names:
        return
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, OSError, ValueError):  # or whatever stands there
            stream.flush()
    with contextlib.suppress(OSError):
        os.write(2, f"agentbench: ended without threads that the agent left: {names}\n".encode())
    os._exit(code)


def _waits_for_threads() -> bool:
    """Whether the main thread has run its program, and is where Python waits for the other threads."""
    frame = sys._current_frames().get(threading.main_thread().ident or 0)
    while frame is not None and frame.f_back is not None:
        frame = frame.f_back
    return frame is None or frame.f_code.co_filename == threading.__file__
