"""Finds benchmarks by name. All, the built-in ones too, come from one entry-point group."""

from __future__ import annotations

import contextlib
import functools
import importlib
import sys
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks.protocol import Benchmark

GROUP = "agentbench.benchmarks"


class UnknownBenchmark(BenchmarkError):
    """No benchmark has this name."""


def available() -> dict[str, EntryPoint]:
    """The installed benchmarks by name, in alphabetical order."""
    return dict(_installed(tuple(sys.path)))


@functools.lru_cache(maxsize=1)
def _installed(_path: tuple[str, ...]) -> list[tuple[str, EntryPoint]]:
    """Read once for each ``sys.path``, from the files of all distributions on it."""
    found = {entry.name: entry for entry in entry_points(group=GROUP)}
    return sorted(found.items(), key=lambda pair: pair[0].lower())


def match(name: str) -> str | None:
    """The full name of the benchmark that ``name`` means, whatever its case."""
    entry = _entry(name)
    return None if entry is None else entry.name


def installed(name: str) -> Benchmark | None:
    """The benchmark that is registered under this name; nothing that the name itself says is imported."""
    entry = _entry(name)
    return None if entry is None else _made(entry.load(), entry.value)


def _entry(name: str) -> EntryPoint | None:
    known = available().values()  # read once: it looks through every package that is installed
    return next((entry for entry in known if entry.name.lower() == name.lower()), None)


def get(name: str) -> Benchmark:
    """The benchmark of this name, or the one at ``package.module:Class``; for names that a user gives."""
    known = installed(name)
    if known is not None:
        return known
    module, colon, attribute = name.partition(":")
    if colon:
        if str(Path.cwd()) not in sys.path:
            sys.path.append(str(Path.cwd()))  # as `python -m pytest` does
        try:
            return _made(getattr(importlib.import_module(module), attribute), name)
        except (ImportError, AttributeError, ValueError, TypeError) as error:  # ":x", ".a:b"
            raise UnknownBenchmark(
                f"expected package.module:Class, got {name!r}: {error}"
            ) from None
    from difflib import get_close_matches  # only to explain a mistake

    names = list(available())
    folded = {known.lower(): known for known in names}
    close = [folded[n] for n in get_close_matches(name.lower(), list(folded), n=3, cutoff=0.5)]
    hint = f"; did you mean {' or '.join(close)}?" if close else ""
    raise UnknownBenchmark(
        f"expected a benchmark ({', '.join(names)}) or a scenario file (*.yaml), got {name!r}{hint}"
    )


def simulating(package: str) -> Benchmark | None:
    """The benchmark whose data the scripts of a published simulator use."""
    for name in available():
        with contextlib.suppress(Exception):  # a broken package of somebody else's
            benchmark = get(name)
            if package in benchmark.simulations:
                return benchmark
    return None


def _made(cls: object, where: str) -> Benchmark:
    made = cls() if isinstance(cls, type) else cls
    if not isinstance(made, Benchmark):
        raise UnknownBenchmark(f"{where}: expected a subclass of Benchmark, got {cls!r}")
    return made
