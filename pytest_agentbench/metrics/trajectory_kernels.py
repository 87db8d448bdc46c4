"""The compiled loops over days of points: loops, loading, when to load.

The loops are ordinary Python that numba compiles on demand, so this module imports without numba.
Compiled code is cached on disk by numba (``NUMBA_CACHE_DIR``, else ``__pycache__`` beside this
file, else the user's cache folder) and shared by every later process.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import FunctionType
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_agentbench.metrics.trajectory_days import Floats, Ints

Backend = Literal["auto", "numpy", "numba"]
Cells = NDArray[np.int32]

# Seconds until the first score when compiled code is, or is not yet, on disk.
WARM_LOAD_SECONDS = 0.5
COLD_LOAD_SECONDS = 5.0
COMPILE_WAIT_SECONDS = 60.0
_NUMPY_CALL_SECONDS = 3e-4  # of a job of NumPy's beyond what its size takes

_DAYS = "{0}[:, ::1], {0}[:, ::1], int64[::1], int64[::1], float64[::1]"
_TAKEN_SUMS = f"void({_DAYS.format('int32')}, int64, int64, int64, float64[:, ::1])"
_WARP_COSTS = f"void({_DAYS.format('int32')}, boolean, int64, int64, float64[::1])"
# Days come as int32; one pair of NumPy's default integers needs no conversion.
_WARP_COST = [
    f"float64({points}[:, ::1], {points}[:, ::1], float64[::1], boolean)"
    for points in ("int32", "int64")
]
_CACHE_FILES = 4


def taken_sums(
    gen: Cells,
    ref: Cells,
    gen_at: Ints,
    ref_at: Ints,
    proximity: Floats,
    orders: int,
    first: int,
    last: int,
    sums: Floats,
) -> None:
    """Write the sum of greedily taken n-gram proximities, per day (row) and order (column).

    ``proximity[k]`` belongs to the squared distance k, must lie in [0, 1] and fall with k.
    """
    tall = wide = 0
    for day in range(first, last):
        tall = max(tall, gen_at[day + 1] - gen_at[day])
        wide = max(wide, ref_at[day + 1] - ref_at[day])
    near = np.empty((tall, wide), np.float64)
    product = np.empty((tall, wide), np.float64)
    # Non-negative doubles sort like their bit patterns, and only integer maxima vectorise.
    bits = product.view(np.int64)
    free = np.empty(wide, np.int64)
    bound = np.empty(tall, np.int64)
    owner = np.empty(tall, np.int64)
    one = np.int64(0x3FF0000000000000)
    for day in range(first, last):
        g = gen_at[day]
        r = ref_at[day]
        n = gen_at[day + 1] - g
        m = ref_at[day + 1] - r
        for i in range(n):
            x = gen[g + i, 0]
            y = gen[g + i, 1]
            for j in range(m):
                dx = ref[r + j, 0] - x
                dy = ref[r + j, 1] - y
                value = proximity[np.uint32(dx * dx + dy * dy)]
                near[i, j] = value
                product[i, j] = value
        for order in range(min(orders, n, m)):
            rows = n - order
            cols = m - order
            if order > 0:
                for i in range(rows):
                    for j in range(cols):
                        product[i, j] *= near[i + order, j + order]
            total = 0.0
            left = min(rows, cols)
            for j in range(cols):
                free[j] = -1
            # Nothing beats proximity 1, so equal n-grams pair off first-fit; the other rows wait,
            # ordered by an upper bound of their maximum (ties: lower row), repaired when reached.
            waiting = 0
            for i in range(rows):
                best = np.int64(0)
                for j in range(cols):
                    seen = bits[i, j] & free[j]
                    best = seen if seen > best else best
                if best == one:
                    j = 0
                    while (bits[i, j] & free[j]) != one:
                        j += 1
                    free[j] = 0
                    total += 1.0
                    left -= 1
                else:
                    slot = waiting
                    while slot > 0 and bound[slot - 1] < best:
                        bound[slot] = bound[slot - 1]
                        owner[slot] = owner[slot - 1]
                        slot -= 1
                    bound[slot] = best
                    owner[slot] = i
                    waiting += 1
            head = 0
            # A zero bound means every pair still open adds zero: the sum is final.
            while left > 0 and bound[head] != 0:
                best = bound[head]
                i = owner[head]
                j = 0
                while j < cols and (bits[i, j] & free[j]) != best:
                    j += 1
                if j < cols:
                    total += product[i, j]
                    free[j] = 0
                    left -= 1
                    head += 1
                else:
                    best = np.int64(0)
                    for j in range(cols):
                        seen = bits[i, j] & free[j]
                        best = seen if seen > best else best
                    slot = head
                    while slot + 1 < waiting and (
                        bound[slot + 1] > best or (bound[slot + 1] == best and owner[slot + 1] < i)
                    ):
                        bound[slot] = bound[slot + 1]
                        owner[slot] = owner[slot + 1]
                        slot += 1
                    bound[slot] = best
                    owner[slot] = i
            sums[day, order] = total


def warp_cost(gen: Cells, ref: Cells, distance: Floats, start_anywhere: bool) -> float:
    """Return a day's dynamic time warping cost, NaN for what are not (x, y) within reach.

    ``distance[k]`` belongs to the squared distance k.
    """
    n = len(gen)
    m = len(ref)
    if n == 0 or m == 0 or gen.shape[1] != 2 or ref.shape[1] != 2:
        return np.nan
    least = most = gen[0, 0]
    for i in range(n):
        least = min(least, gen[i, 0], gen[i, 1])
        most = max(most, gen[i, 0], gen[i, 1])
    for j in range(m):
        least = min(least, ref[j, 0], ref[j, 1])
        most = max(most, ref[j, 0], ref[j, 1])
    # Bounded first, so that the square cannot overflow.
    if least < -(2**30) or most > 2**30 or 2 * (int(most) - int(least)) ** 2 >= len(distance):
        return np.nan
    row = np.empty(m + 1, np.float64)
    row[0] = 0.0
    row[1:] = 0.0 if start_anywhere else np.inf
    # Two rows a sweep: each is a chain of dependent additions, two chains overlap. The second row
    # of an odd last sweep repeats the first and is dropped.
    for i in range(0, n, 2):
        second = min(i + 1, n - 1)
        x = gen[i, 0]
        y = gen[i, 1]
        x2 = gen[second, 0]
        y2 = gen[second, 1]
        a = np.inf
        b = np.inf
        corner = row[0]
        row[0] = np.inf
        for j in range(m):
            above = row[j + 1]
            low = above if above < corner else corner
            corner = above
            dx = ref[j, 0] - x
            dy = ref[j, 1] - y
            before = a
            a = (low if low < a else a) + distance[np.uint32(dx * dx + dy * dy)]
            low = a if a < before else before
            dx = ref[j, 0] - x2
            dy = ref[j, 1] - y2
            b = (low if low < b else b) + distance[np.uint32(dx * dx + dy * dy)]
            row[j + 1] = b
        if second == i:
            row[m] = a
    return row[m]  # type: ignore[no-any-return]  # an element of an array


def warp_costs(
    gen: Cells,
    ref: Cells,
    gen_at: Ints,
    ref_at: Ints,
    distance: Floats,
    start_anywhere: bool,
    first: int,
    last: int,
    costs: Floats,
) -> None:
    """Write :func:`warp_cost` of each day."""
    for day in range(first, last):
        generated = gen[gen_at[day] : gen_at[day + 1]]
        reference = ref[ref_at[day] : ref_at[day + 1]]
        costs[day] = warp_cost(generated, reference, distance, start_anywhere)


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
        one = compiled(_WARP_COST)(warp_cost)
        # The same code, with the compiled function where it calls the Python one.
        scope = warp_costs.__globals__ | {"warp_cost": one}
        many = FunctionType(warp_costs.__code__, scope, warp_costs.__name__)
        return Kernels(compiled(_TAKEN_SUMS)(taken_sums), one, compiled(_WARP_COSTS)(many))

    try:
        with _compile_turn():
            return build(cache=True)
    except Exception:
        # No writable folder, a full disk, a damaged cache file: compiling afresh needs none of
        # them, and a fault of the loops themselves comes up again here.
        return build(cache=False)


def _user_cache(name: str) -> Path:
    """Return a folder of the user's cache."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / name
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / name
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / name


def _on_disk() -> bool:
    """Guess, without importing numba, whether an earlier process left compiled code."""
    source = Path(__file__)
    names = f"{source.stem}.*.py{sys.version_info[0]}{sys.version_info[1]}*.nbc"
    try:
        if chosen := os.environ.get("NUMBA_CACHE_DIR"):
            found = [*Path(chosen).glob(f"*/{names}")]
        else:
            found = [*(source.parent / "__pycache__").glob(names)]
            found += _user_cache("numba").glob(f"*/{names}")
        written = source.stat().st_mtime
        return sum(code.stat().st_mtime > written for code in found) >= _CACHE_FILES
    except (OSError, RuntimeError):
        return False


@contextlib.contextmanager
def _compile_turn() -> Iterator[None]:
    """Wait until compiled code is on disk or it is this process's turn to compile it.

    Without a home folder, or when the lock cannot be had in time, every process is on its own.
    """
    with contextlib.ExitStack() as stack:
        # Closing the file gives the lock back, as does the end of the process.
        with contextlib.suppress(OSError, RuntimeError):
            folder = _user_cache("pytest-agentbench")
            folder.mkdir(parents=True, exist_ok=True)
            lock = stack.enter_context((folder / "compile.lock").open("a+b"))
            deadline = time.monotonic() + COMPILE_WAIT_SECONDS
            while not (_on_disk() or _try_lock(lock.fileno())) and time.monotonic() < deadline:
                time.sleep(0.05)
        yield


def _try_lock(descriptor: int) -> bool:
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(descriptor, 0, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def over_days(run: Callable[[int, int], None], days: int, threads: int) -> None:
    """Call ``run(first, last)`` over all days, in pieces on ``threads`` threads."""
    if threads < 1:
        raise ValueError(f"threads must be at least 1, got {threads}")
    # A piece allocates its own scratch rows: below some hundred days a thread costs more than it
    # saves; several pieces a thread even out days of different lengths.
    pieces = min(threads * 4, days // 200)
    if threads == 1 or pieces < 2:
        run(0, days)
        return
    cuts = [days * piece // pieces for piece in range(pieces + 1)]
    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(run, cuts[p], cuts[p + 1]) for p in range(pieces)]:
            done.result()
