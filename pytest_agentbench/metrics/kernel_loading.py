"""When the loops of :mod:`.trajectory_kernels` are compiled and loaded, and by whom.

Importing this module does not import numba. Numba caches compiled code on disk (``NUMBA_CACHE_DIR``,
else ``__pycache__`` beside the loops, else the user's cache folder), where later processes find it.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import warnings
from functools import partial
from pathlib import Path
from types import FunctionType
from typing import Any, Literal, NamedTuple

from pytest_agentbench.base import files
from pytest_agentbench.metrics import trajectory_kernels as loops

Backend = Literal["auto", "numpy", "numba"]

# Seconds until the first score when compiled code is, or is not yet, on disk.
WARM_LOAD_SECONDS = 0.5
COLD_LOAD_SECONDS = 5.0
COMPILE_WAIT_SECONDS = 60.0
# What a call of the NumPy code costs beyond what its size takes.
_NUMPY_CALL_SECONDS = 3e-4

_DAYS = "{0}[:, ::1], {0}[:, ::1], int64[::1], int64[::1], float64[::1]"
_TAKEN_SUMS = f"void({_DAYS.format('int32')}, int64, int64, int64, float64[:, ::1])"
_WARP_COSTS = f"void({_DAYS.format('int32')}, boolean, int64, int64, float64[::1])"
# Days come as int32; one pair of NumPy's default integers needs no conversion.
_WARP_COST = [
    f"float64({points}[:, ::1], {points}[:, ::1], float64[::1], boolean)"
    for points in ("int32", "int64")
]
_CACHE_FILES = 4


class Kernels(NamedTuple):
    """The compiled loops, called like the Python functions of the same names."""

    taken_sums: Any  # numba's dispatchers have no type of their own
    warp_cost: Any
    warp_costs: Any


class _Loader:
    """One process's kernels, and the NumPy seconds spent while doing without them."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.kernels: Kernels | None = None
        self.problem: ImportError | None = None
        self.numpy_seconds = 0.0


_loader = _Loader()


def loaded() -> Kernels | None:
    """Return the kernels if this process has them already."""
    return _loader.kernels


def kernels_for(backend: Backend, numpy_seconds: float) -> Kernels | None:
    """Return the kernels, or None where NumPy should do a job whose size takes it ``numpy_seconds``.

    ``auto`` loads them once the NumPy time spent so far and now asked for exceeds the time of
    loading: no job waits for a compiler longer than NumPy would have taken, and many small jobs
    still get the kernels in the end.
    """
    if backend == "numpy":
        return None
    if backend not in ("auto", "numba"):
        raise ValueError(f"backend must be 'auto', 'numpy' or 'numba', got {backend!r}")
    if _loader.kernels is not None:
        return _loader.kernels
    if backend == "numba":
        return load()
    if _loader.problem is not None:
        return None
    spent = _loader.numpy_seconds + numpy_seconds + _NUMPY_CALL_SECONDS
    if spent > WARM_LOAD_SECONDS and (spent > COLD_LOAD_SECONDS or _on_disk()):
        try:
            return load()
        except ImportError as problem:
            warnings.warn(
                f"numba cannot be imported ({problem}): scoring goes on with NumPy, about 10 times"
                " slower and to the same bits",
                RuntimeWarning,
                stacklevel=3,
            )
            return None
    _loader.numpy_seconds = spent
    return None


def load() -> Kernels:
    """Load the kernels, compiling them when no process has before; ImportError without numba."""
    with _loader.lock:
        if _loader.problem is not None:
            raise _loader.problem
        if _loader.kernels is None:
            try:
                _loader.kernels = _compile_once()
            except ImportError as problem:
                _loader.problem = problem
                raise
        return _loader.kernels


def _compile_once() -> Kernels:
    """Load or compile; of processes that find no compiled code, one compiles and the rest wait."""
    import numba  # type: ignore[import-untyped,unused-ignore]  # no annotations in some releases

    def build(cache: bool) -> Kernels:
        compiled = partial(numba.njit, nogil=True, cache=cache)
        one = compiled(_WARP_COST)(loops.warp_cost)
        # The same code, with the compiled function where it calls the Python one.
        python = loops.warp_costs
        many = FunctionType(python.__code__, vars(loops) | {"warp_cost": one}, python.__name__)
        return Kernels(compiled(_TAKEN_SUMS)(loops.taken_sums), one, compiled(_WARP_COSTS)(many))

    try:
        with _compile_turn():
            return build(cache=True)
    except Exception:
        # No writable folder, a full disk, a damaged cache file: compiling afresh needs none of
        # them, and a fault of the loops themselves comes up again here.
        return build(cache=False)


def _on_disk() -> bool:
    """Guess, without importing numba, whether an earlier process left compiled code."""
    source = Path(loops.__file__)
    names = f"{source.stem}.*.py{sys.version_info[0]}{sys.version_info[1]}*.nbc"
    try:
        if chosen := os.environ.get("NUMBA_CACHE_DIR"):
            found = [*Path(chosen).glob(f"*/{names}")]
        else:
            found = [*(source.parent / "__pycache__").glob(names)]
            found += files.user_cache("numba").glob(f"*/{names}")
        written = source.stat().st_mtime
        return sum(code.stat().st_mtime > written for code in found) >= _CACHE_FILES
    except (OSError, RuntimeError):
        return False


def _compile_turn() -> contextlib.AbstractContextManager[None]:
    """Waits until compiled code is on disk or it is this process's turn to compile it.

    Without a home folder, or when the lock cannot be had in time, every process is on its own.
    """
    with contextlib.suppress(RuntimeError):
        if not _on_disk():
            return files.one_at_a_time(
                files.cache_folder() / "kernels", COMPILE_WAIT_SECONDS, unless=_on_disk
            )
    return contextlib.nullcontext()
