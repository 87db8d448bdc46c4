"""From what the user typed to runs: which benchmarks were asked for, and with which settings."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from pytest_agentbench import hosts, resume, scenario
from pytest_agentbench.benchmarks import registry
from pytest_agentbench.benchmarks.protocol import BenchmarkError
from pytest_agentbench.collection import BenchmarkModule, Collection
from pytest_agentbench.controller import Controller
from pytest_agentbench.datasets import progress
from pytest_agentbench.distribution import Distribution
from pytest_agentbench.options import OPTIONS
from pytest_agentbench.reports import mlflow
from pytest_agentbench.run import Run
from pytest_agentbench.settings import Digests, Layer, Settings, resolve

_MARKED = pytest.StashKey[dict[str, Run]]()


def activate(config: pytest.Config) -> None:
    """Prepares every run that was asked for; any mistake is a usage error before a sample is asked."""
    worker = getattr(config, "workerinput", None)
    told = None if worker is None else worker.get("agentbench_host")
    try:
        _check_resume(config)
        settings, selected, paths = _requested(config, hosts.digests(told) if told else {})
        if not settings:
            return
        _warn_about_rootdir(config)
        resumed = config.getoption("agentbench_resume")
        settings = {n: dataclasses.replace(s, resumed=resumed) for n, s in settings.items()}
        processes = 1 if worker is None else worker["workercount"]
        progress.listener = functools.partial(_say, config)
        runs = {nodeid: Run(one, processes) for nodeid, one in settings.items()}
        _check_selected(runs, selected)
        if worker is not None:
            if told:
                hosts.check(told, runs, config)
            resume.from_controller(worker["agentbench_resume"], runs)
        else:
            if config.getoption("agentbench_mlflow"):
                mlflow.check_installed()
            controller = Controller(config, list(runs.values()))
            config.pluginmanager.register(controller, "agentbench-controller")
            distribution = Distribution(config, controller)
            config.pluginmanager.register(distribution, "agentbench-distribution")
    except BenchmarkError as error:
        if worker is not None:
            config.pluginmanager.register(hosts.Refusal(str(error)), "agentbench-refusal")
            return
        raise pytest.UsageError(str(error)) from None
    named = [(r, frozenset(selected.get(n, ()))) for n, r in runs.items() if n not in paths]
    scenarios = {path: runs[nodeid] for nodeid, path in paths.items()}
    config.pluginmanager.register(Collection(named, scenarios), "agentbench-collection")
    config.stash[_MARKED] = {r.benchmark.name: r for r, _ in named}
    _keep_only_tests(config, runs)


def _say(config: pytest.Config, line: str) -> None:
    """A line about long work for the person who waits; pytest captures already when data are loaded."""
    reporter = config.pluginmanager.getplugin("terminalreporter")
    capture = config.pluginmanager.getplugin("capturemanager")
    with contextlib.nullcontext() if capture is None else capture.global_and_fixture_disabled():
        if reporter is None:
            sys.stderr.write(f"{line}\n")
        else:
            reporter.ensure_newline()
            reporter.write_line(line)


def _check_resume(config: pytest.Config) -> None:
    given = config.getoption("agentbench_resume") is not None
    for name in ("resume-failed-only", "resume-anyway"):
        if config.getoption(f"agentbench_{name.replace('-', '_')}") and not given:
            raise BenchmarkError(f"--{name}: expected --resume beside it, got none")
    if given and config.getoption("agentbench_run_dir") is not None:
        raise BenchmarkError(
            "--run-dir: expected none beside --resume, which goes on in its folder"
        )


def run_of(node: Any) -> Run | None:
    """The run that a test belongs to: by its place in a benchmark, or by its mark."""
    module = node.getparent(BenchmarkModule)
    if module is not None:
        run: Run = module.run
        return run
    mark = node.get_closest_marker("agentbench")
    if mark is None:
        return None
    if len(mark.args) != 1 or mark.kwargs or not isinstance(mark.args[0], str):
        pytest.fail(
            "@pytest.mark.agentbench: expected the name of a benchmark, as in "
            f"@pytest.mark.agentbench('humob'); got {mark.args} {mark.kwargs}",
            pytrace=False,
        )
    config: pytest.Config = node.config
    known = config.stash.setdefault(_MARKED, {})
    try:
        name = registry.get(mark.args[0]).name
        if name not in known:
            layers = [_command_line(config), _ini(config)]
            known[name] = Run(resolve(mark.args[0], None, layers, _bases(config)))
    except BenchmarkError as error:
        pytest.fail(f"@pytest.mark.agentbench: {error}", pytrace=False)
    return known[name]


def _requested(
    config: pytest.Config, digests: Digests
) -> tuple[dict[str, Settings], dict[str, list[str]], dict[str, Path]]:
    """Settings of each run by node id, names pasted after ``::``, and scenario files given as paths."""
    settings: dict[str, Settings] = {}
    selected: dict[str, list[str]] = {}
    paths: dict[str, Path] = {}
    layers = [_command_line(config), _ini(config)]
    for value in config.getoption("agentbench_benchmark") or []:
        if Path(value).suffix.lower() in scenario.SUFFIXES:
            path = config.invocation_params.dir / value
            _add_scenario(config, path, layers, settings, digests)
        else:
            _add(settings, resolve(value, None, layers, _bases(config), digests))
    for arg in config.args:
        where, colons, name = arg.partition("::")
        known = _benchmark_in(config, where, settings) if colons else None
        path = config.invocation_params.dir / where
        if known is not None:
            selected.setdefault(known, []).append(name)
            if known not in settings:
                _add(settings, resolve(known, None, layers, _bases(config), digests))
        elif scenario.is_scenario(path):
            nodeid = _relative(config, path)
            if nodeid not in settings:
                _add_scenario(config, path, layers, settings, digests)
            if nodeid not in paths:
                paths[nodeid] = path
    if len(settings) > 1:
        settings = {n: _apart(s) for n, s in settings.items()}
    return settings, selected, paths


def _add(settings: dict[str, Settings], new: Settings) -> None:
    if new.nodeid in settings:
        raise BenchmarkError(f"--benchmark: expected each benchmark once, got {new.nodeid!r} twice")
    settings[new.nodeid] = new


def _add_scenario(
    config: pytest.Config,
    path: Path,
    layers: list[Layer],
    settings: dict[str, Settings],
    digests: Digests,
) -> None:
    command_line, ini = layers
    layer = scenario.read(path)
    bases = [path.resolve().parent, *_bases(config)]
    nodeid = _relative(config, path)
    _add(settings, resolve(None, nodeid, [command_line, layer, ini], bases, digests))


def _apart(settings: Settings) -> Settings:
    """One of several runs: a common --run-dir gets a folder for each."""
    if settings.run_dir is None:
        return settings
    name = settings.nodeid.replace("/", "_")
    return dataclasses.replace(settings, run_dir=settings.run_dir / name)


def _command_line(config: pytest.Config) -> Layer:
    flags = {option.key: f"--{option.name}" for option in OPTIONS}
    values = {
        option.key: config.getoption(option.dest)
        for option in OPTIONS
        if option.scenario and option.command_line and config.getoption(option.dest) is not None
    }
    start = config.invocation_params.dir
    return Layer(where=lambda key: flags[key], values=values, base=start)


def _ini(config: pytest.Config) -> Layer:
    file = config.inipath or "ini"
    names = {option.key: option.dest for option in OPTIONS}
    values = {}
    for option in OPTIONS:
        if option.ini is not None:
            try:
                value = config.getini(option.dest)
            except (TypeError, ValueError, pytest.UsageError) as error:
                raise BenchmarkError(
                    f"{file}: {option.dest}: expected {option.expected}, got {error}"
                ) from None
            if value not in (None, []):
                values[option.key] = value
    return Layer(where=lambda key: f"{file}: {names[key]}", values=values, base=config.rootpath)


def _bases(config: pytest.Config) -> list[Path]:
    """Relative paths start where pytest was started, or in rootdir, where the ini file is."""
    return list(dict.fromkeys([config.invocation_params.dir, config.rootpath]))


def _relative(config: pytest.Config, path: Path) -> str:
    """The node id of a file, as pytest makes it."""
    path = path.absolute()
    try:
        return Path(path).relative_to(config.rootpath).as_posix()
    except ValueError:
        return path.as_posix()


def _benchmark_in(config: pytest.Config, where: str, active: Iterable[str]) -> str | None:
    """The benchmark in a pasted node id. Below rootdir pytest prints it as ``../humob``."""
    if (config.invocation_params.dir / where).exists():
        return None
    name = Path(where).name
    known = name if name in active else registry.match(name)
    if known is None:
        return None
    here = Path(where) == Path(known)
    from_root = (
        config.invocation_params.dir / where
    ).resolve() == config.rootpath.resolve() / known
    return known if here or from_root else None


def _check_selected(runs: dict[str, Run], selected: dict[str, list[str]]) -> None:
    for nodeid, names in selected.items():
        run = runs[nodeid]
        for name in names:
            if name not in run.items and name not in run.targets:
                example = next(iter(run.items))
                raise BenchmarkError(
                    f"{nodeid}::{name}: expected one of {len(run.items)} samples, such as "
                    f"{nodeid}::{example}; found none of that name"
                )


def _keep_only_tests(config: pytest.Config, runs: dict[str, Run]) -> None:
    """Takes node ids of ours out of pytest's arguments, and its default paths where none was given."""
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        config.args = []
    else:
        config.args = [
            arg for arg in config.args
            if "::" not in arg or _benchmark_in(config, arg.partition("::")[0], runs) not in runs
        ]  # fmt: skip


def _warn_about_rootdir(config: pytest.Config) -> None:
    """pytest takes ``--agent ../x.py`` for a test path when it looks for rootdir and the ini file."""
    agent = config.getoption("agentbench_agent")
    start = config.invocation_params.dir
    root = config.rootpath
    arguments = [str(argument) for argument in config.invocation_params.args]
    # Without an ini file, rootdir is what all paths have in common.
    moved_up = config.inipath is None and root != start and agent in arguments
    if agent and root != start and (root not in start.parents or moved_up):
        text = (
            f"rootdir is {root}, not {start}: pytest may have taken the path after --agent for a "
            f"test path; write --agent={agent}"
        )
        try:
            config.issue_config_time_warning(pytest.PytestConfigWarning(text), stacklevel=1)
        except pytest.PytestConfigWarning:  # where warnings are errors
            raise pytest.UsageError(text) from None
