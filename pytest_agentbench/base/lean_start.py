"""Makes it cheap to import many modules at once, NumPy among them."""

from __future__ import annotations

import contextlib
import gc
import os
from collections.abc import Iterator

# How long a thread of NumPy's OpenBLAS is busy waiting for its next product: 2 to the power of this, in
# cycles of the processor. By itself it is 26: with every start it takes as long as a third of NumPy's import.
_TIMEOUT, _SHORTEST = "OPENBLAS_THREAD_TIMEOUT", "4"


@contextlib.contextmanager
def lean_start() -> Iterator[None]:
    """Within it, cycles are not collected (what modules are made of stays), and OpenBLAS starts with threads that sleep.

    Everything is as it was afterwards, the environment too.
    """
    collected, given = gc.isenabled(), os.environ.get(_TIMEOUT)
    gc.disable()
    os.environ.setdefault(_TIMEOUT, _SHORTEST)
    try:
        yield
    finally:
        if given is None:
            os.environ.pop(_TIMEOUT, None)
        if collected:
            gc.enable()
