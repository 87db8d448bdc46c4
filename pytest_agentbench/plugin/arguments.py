"""The paths and node ids of a command: which of them are ours, and which runs they ask for.

A benchmark that is typed runs alone, or beside the paths that are typed. One that addopts, PYTEST_ADDOPTS or
testpaths name runs beside the project's tests, unless the command names a test or a sample.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks import registry
from pytest_agentbench.plugin import compat, typed
from pytest_agentbench.settings import model_options, scenario


@dataclass(frozen=True)
class Chosen:
    """What a command runs."""

    benchmarks: tuple[str, ...]  # values of --benchmark
    arguments: tuple[str, ...]  # paths and node ids, the project's as well as ours
    typed: frozenset[str]  # those of both that were typed
    left_out: tuple[str, ...] = ()  # benchmarks of addopts that do not run


def choose(config: pytest.Config) -> Chosen:
    """What a command runs, of what was typed and what addopts and the ini file add."""
    given: list[str] = config.getoption("agentbench_benchmark") or []
    own = typed.values(config, "benchmark")
    added = [one for one in given[: len(given) - len(own)] if not _same_as(config, one, own)]
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        return Chosen((*added, *own), () if own else tuple(config.args), frozenset(own))
    words = typed.words(config)
    paths = list(dict.fromkeys(arg for arg in config.args if arg in words))
    added_paths = [arg for arg in config.args if arg not in words]
    ours = [arg for arg in added_paths if is_ours(config, arg)]
    theirs = [arg for arg in added_paths if arg not in ours]
    told = frozenset((*own, *paths))
    if any(not _is_folder(config, arg) for arg in paths):
        kept = [one for one in added if _is_pasted(config, one, paths)]
        lost = [one for one in (*added, *ours) if one not in kept]
        left_out = [one for one in lost if not _same_as(config, one, paths)]
        return Chosen((*kept, *own), (*theirs, *paths), told.union(kept), tuple(left_out))
    # Not as paths: up to 8.4, pytest collects nothing else of a folder in which one of its paths lies.
    files = [one for one in ours if "::" not in one and not _same_as(config, one, (*added, *own))]
    samples = [one for one in ours if "::" in one]
    default = [] if own or paths or theirs else _default_paths(config)
    return Chosen((*added, *files, *own), (*default, *theirs, *samples, *paths), told)


def keep_only_tests(
    config: pytest.Config, chosen: Chosen, active: Collection[str], scenarios: Collection[Path] = ()
) -> None:
    """Gives pytest its arguments without those that are collected in our own way.

    These are node ids of samples, and ``scenarios``, which have a run for each of several models.
    """
    kept = [arg for arg in chosen.arguments if not _is_sample(config, arg, active)]
    compat.set_paths(config, [arg for arg in kept if _path_in(config, arg) not in scenarios])


def absolute(config: pytest.Config, where: str) -> Path:
    """A path on the command line, as pytest makes it: without ``..``, and with links as they are."""
    path = config.invocation_params.dir / where
    return Path(os.path.abspath(path))  # noqa: PTH100 -- resolve() would follow links


def _path_in(config: pytest.Config, arg: str) -> Path:
    return absolute(config, model_options.parted(arg.partition("::")[0])[0])


def scenario_path(config: pytest.Config, value: str) -> Path:
    """The path of a scenario file: from where pytest was started, else from rootdir, where addopts are written."""
    here = absolute(config, value)
    from_root = Path(os.path.abspath(config.rootpath / value))  # noqa: PTH100 -- as above
    return from_root if from_root.is_file() and not here.exists() else here


def benchmark_in(config: pytest.Config, where: str, active: Iterable[str] = ()) -> str | None:
    """The benchmark in a pasted node id. Below rootdir pytest prints it as ``../humob``."""
    where = model_options.parted(where)[0]
    if (config.invocation_params.dir / where).exists():
        return None
    name = Path(where).name
    known = (
        name if name in {model_options.parted(one)[0] for one in active} else registry.match(name)
    )
    if known is None:
        return None
    here = Path(where) == Path(known)
    from_root = (
        config.invocation_params.dir / where
    ).resolve() == config.rootpath.resolve() / known
    return known if here or from_root else None


def is_ours(config: pytest.Config, arg: str) -> bool:
    """Whether an argument names a scenario file, or a sample."""
    where = model_options.parted(arg.partition("::")[0])[0]
    return _is_sample(config, arg) or scenario.is_scenario(scenario_path(config, where))


def _is_sample(config: pytest.Config, arg: str, active: Collection[str] = ()) -> bool:
    where, colons, _ = arg.partition("::")
    return bool(colons) and benchmark_in(config, where, active) is not None


def _is_folder(config: pytest.Config, arg: str) -> bool:
    path = config.invocation_params.dir / arg
    return path.is_dir() or (config.option.pyargs and "::" not in arg and not path.exists())


def _same_as(config: pytest.Config, one: str, others: Iterable[str]) -> bool:
    """Whether a benchmark or scenario file is one of the others, or holds one of them."""
    if Path(one).suffix.lower() in scenario.SUFFIXES:
        wheres = (model_options.parted(other.partition("::")[0])[0] for other in others)
        return scenario_path(config, one) in {scenario_path(config, where) for where in wheres}
    return one.lower() in {other.lower() for other in others}


def _is_pasted(config: pytest.Config, benchmark: str, paths: Iterable[str]) -> bool:
    """Whether one of these node ids is a sample of this benchmark."""
    wheres = [where for where, colons, _ in (path.partition("::") for path in paths) if colons]
    if not wheres or Path(benchmark).suffix.lower() in scenario.SUFFIXES:
        return False
    try:
        name = registry.get(benchmark).name
    except BenchmarkError:  # it is said where the benchmark runs
        return False
    return any(benchmark_in(config, where, [name]) == name for where in wheres)


def _default_paths(config: pytest.Config) -> list[str]:
    """Where pytest looks for tests if no path is given."""
    start, found = config.invocation_params.dir, []
    if start == config.rootpath:
        for path in config.getini("testpaths"):
            pattern = not config.option.pyargs
            found += sorted(glob.glob(path, recursive=True)) if pattern else [path]  # noqa: PTH207 -- as pytest does
    return found or [str(start)]
