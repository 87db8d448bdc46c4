"""Python's search for reference cycles, held off where it finds nothing and takes half the time.

It looks through all lists again and again while their number grows. Answers looked up in a submission are
millions of small lists in no cycle, which go when nobody needs them any more.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def held_off() -> Iterator[None]:
    """No search meanwhile; not for code of an agent, which may count on it."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
