"""When the loops of :mod:`.trajectory_kernels` are compiled and loaded.

Numba takes 0.8 s to import and load, and 3 s more where it has to compile first, as on a fresh
machine or in CI. NumPy scores 1,000 users in that 0.8 s, so it serves short runs, to the same bits, and
importing this module does not import numba. Numba keeps compiled code on disk (``NUMBA_CACHE_DIR``,
else ``__pycache__`` beside the loops, else the user's cache folder), where later processes find it.
"""

from __future__ import annotations

import threading
import warnings
from functools import partial
from types import FunctionType
from typing import Any, Literal, NamedTuple

from pytest_agentbench.metrics import trajectory_kernels as loops

Backend = Literal["auto", "numpy", "numba"]

# Pairs of n-grams that one process compares with NumPy, in 0.8 s, before it loads numba.
NUMPY_PAIRS = 50_000_000
# What a call counts at least: its own overhead is that of so many pairs.
_PAIRS_OF_A_CALL = 6_000

_DAYS = "int32[:, ::1], int32[:, ::1], int64[::1], int64[::1], float64[::1]"
_TAKEN_SUMS = f"void({_DAYS}, int64, int64, int64, float64[:, ::1])"
_WARP_COSTS = f"void({_DAYS}, float64, int64, int64, float64[::1])"
# Days come as int32; one pair of NumPy's default integers needs no conversion.
_WARP_COST = [
    f"float64({points}[:, ::1], {points}[:, ::1], float64[::1], float64)"
    for points in ("int32", "int64")
]


class Kernels(NamedTuple):
    """The compiled loops, called like the Python functions of the same names."""

    taken_sums: Any  # numba's dispatchers have no type of their own
    warp_cost: Any
    warp_costs: Any


class _Loader:
    """One process's kernels, and what it compared while doing without them."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.kernels: Kernels | None = None
        self.problem: ImportError | None = None
        self.numpy_pairs = 0


_loader = _Loader()


def loaded() -> Kernels | None:
    """Return the kernels if this process has them already."""
    return _loader.kernels


def kernels_for(backend: Backend, pairs: int) -> Kernels | None:
    """Return the kernels, or None where NumPy should compare so many pairs of n-grams.

    ``auto`` loads them once this process has compared enough with NumPy: many small jobs get them
    like a large one.
    """
    if backend == "numpy":
        return None
    if backend not in ("auto", "numba"):
        raise ValueError(f"backend must be 'auto', 'numpy' or 'numba', got {backend!r}")
    if _loader.kernels is not None:
        return _loader.kernels
    if backend == "numba":
        return load()
    _loader.numpy_pairs += max(pairs, _PAIRS_OF_A_CALL)
    if _loader.problem is not None or _loader.numpy_pairs <= NUMPY_PAIRS:
        return None
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


def load() -> Kernels:
    """Load the kernels, compiling them when no process has before; ImportError without numba."""
    with _loader.lock:
        if _loader.problem is not None:
            raise _loader.problem
        if _loader.kernels is None:
            try:
                _loader.kernels = _compiled()
            except ImportError as problem:
                _loader.problem = problem
                raise
        return _loader.kernels


def _compiled() -> Kernels:
    import numba  # type: ignore[import-untyped,unused-ignore]  # no annotations in some releases

    def build(cache: bool) -> Kernels:
        compiled = partial(numba.njit, cache=cache)
        # With Python's lock: to give it up and take it back costs as much as a short day.
        one = compiled(_WARP_COST)(loops.warp_cost)
        # The same code, with the compiled function where it calls the Python one.
        python = loops.warp_costs
        many = FunctionType(python.__code__, vars(loops) | {"warp_cost": one}, python.__name__)
        return Kernels(
            compiled(_TAKEN_SUMS, nogil=True)(loops.taken_sums),
            one,
            compiled(_WARP_COSTS, nogil=True)(many),
        )

    try:
        return build(cache=True)
    except Exception:
        # No writable folder, a full disk, a damaged cache file: compiling afresh needs none of
        # them, and a fault of the loops themselves comes up again here.
        return build(cache=False)
