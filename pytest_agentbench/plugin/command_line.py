"""From the command line and the ini file to the settings of each run."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

import pytest

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.plugin import typed
from pytest_agentbench.plugin.arguments import Chosen, absolute, benchmark_in, scenario_path
from pytest_agentbench.plugin.named_runs import NamedRuns
from pytest_agentbench.plugin.option_parser import known
from pytest_agentbench.runs.plan import Plan
from pytest_agentbench.settings import scenario
from pytest_agentbench.settings.resolve import Digests, Layer, resolve
from pytest_agentbench.settings.settings import OPTIONS, Settings


def only_shows(config: pytest.Config) -> bool:
    """Whether pytest is to show what there is, and to run nothing: then no agent is imported, no file written."""
    options = ("collectonly", "showfixtures", "show_fixtures_per_test", "setupplan")
    return any(getattr(config.option, name, False) for name in options)


def check_resume(config: pytest.Config) -> None:
    given = config.getoption("agentbench_resume") is not None
    for name in ("resume-failed-only", "resume-anyway"):
        if config.getoption(f"agentbench_{name.replace('-', '_')}") and not given:
            raise BenchmarkError(f"--{name}: expected --resume beside it, got none")
    if given and config.getoption("agentbench_run_dir") is not None:
        raise BenchmarkError(
            "--run-dir: expected none beside --resume, which goes on in its folder"
        )


def requested(
    config: pytest.Config, digests: Digests, chosen: Chosen
) -> tuple[dict[str, Settings], dict[str, list[str]], dict[str, Path]]:
    """Settings of each run by node id, names pasted after ``::``, and scenario files given as paths."""
    settings: dict[str, Settings] = {}
    selected: dict[str, list[str]] = {}
    paths: dict[str, Path] = {}
    on_line, from_ini = command_line(config), ini(config)
    gate_typed = bool(typed.values(config, "gate"))
    named_runs = NamedRuns(config)
    config.pluginmanager.register(named_runs, "agentbench-named-runs")

    def add(argument: str, benchmark: str | None, path: Path | None = None) -> None:
        layers, looked, nodeid = [on_line, from_ini], bases(config), None
        if path is not None:
            layers.insert(1, scenario.read(path))
            looked.insert(0, path.resolve().parent)
            nodeid = _relative(config, path)
        new = resolve(benchmark, nodeid, layers, looked, digests, named_runs)
        if new.nodeid in settings:
            raise BenchmarkError(
                f"--benchmark: expected each benchmark once, got {new.nodeid!r} twice"
            )
        is_typed = gate_typed or argument in chosen.typed
        settings[new.nodeid] = dataclasses.replace(new, typed=is_typed)

    for value in chosen.benchmarks:
        if Path(value).suffix.lower() in scenario.SUFFIXES:
            add(value, None, scenario_path(config, value))
        else:
            add(value, value)
    for arg in chosen.arguments:
        where, colons, name = arg.partition("::")
        benchmark = benchmark_in(config, where, settings) if colons else None
        path = absolute(config, where)
        if benchmark is not None:
            selected.setdefault(benchmark, []).append(name)
            if benchmark not in settings:
                add(arg, benchmark)
        elif scenario.is_scenario(path):
            nodeid = _relative(config, path)
            if nodeid not in settings:
                add(arg, None, path)
            paths.setdefault(nodeid, path)
    _refuse_foreign_parameters(on_line, settings.values())
    if len(settings) > 1:
        settings = {n: _apart(s) for n, s in settings.items()}
    return settings, selected, paths


def narrowing(
    config: pytest.Config,
    chosen: Chosen,
    runs: Iterable[str],
    selected: Mapping[str, Sequence[str]],
    paths: Mapping[str, Path],
) -> set[str]:
    """The runs of which only a part is selected: with -k, -m, or names after ``::``."""
    if config.option.keyword or config.option.markexpr:
        return set(runs)
    named = {
        absolute(config, where)
        for where, colons, _ in (arg.partition("::") for arg in chosen.arguments)
        if colons
    }
    return {*selected, *(nodeid for nodeid, path in paths.items() if path in named)}


def _refuse_foreign_parameters(on_line: Layer, settings: Collection[Settings]) -> None:
    """Refuses an option that is a parameter of benchmarks other than those that are run."""
    parameters = [p.name for one in settings for p in one.benchmark.parameters]
    of_any_run = {option.key for option in OPTIONS}
    for key in on_line.values:
        if settings and key not in of_any_run and key not in parameters:
            names = " and ".join(one.benchmark.name for one in settings)
            raise BenchmarkError(
                f"{on_line.where(key)}: expected a parameter of {names} "
                f"({', '.join(parameters) or 'there is none'}), got one of another benchmark"
            )


def _apart(settings: Settings) -> Settings:
    """One of several runs: a common --run-dir gets a folder for each."""
    if settings.run_dir is None:
        return settings
    name = settings.nodeid.replace("/", "_")
    return dataclasses.replace(settings, run_dir=settings.run_dir / name)


def command_line(config: pytest.Config) -> Layer:
    options = {
        option.key: option
        for option in known(config)
        if option.scenario and option.command_line and config.getoption(option.dest) is not None
    }
    values = {key: config.getoption(option.dest) for key, option in options.items()}
    start = config.invocation_params.dir
    return Layer(lambda key: f"--{options[key].name}", values, start, for_all=True)


def ini(config: pytest.Config) -> Layer:
    file = config.inipath or "ini"
    names, values = {}, {}
    for option in known(config):
        if option.ini is not None:
            try:
                value = config.getini(option.dest)
            except (TypeError, ValueError, pytest.UsageError) as error:
                raise BenchmarkError(
                    f"{file}: {option.dest}: expected {option.expected}, got {error}"
                ) from None
            if value not in (None, []):
                names[option.key], values[option.key] = option.dest, value
    return Layer(lambda key: f"{file}: {names[key]}", values, config.rootpath, for_all=True)


def bases(config: pytest.Config) -> list[Path]:
    """Relative paths start where pytest was started, or in rootdir, where the ini file is."""
    return list(dict.fromkeys([config.invocation_params.dir, config.rootpath]))


def _relative(config: pytest.Config, path: Path) -> str:
    """The node id of a file, as pytest makes it."""
    try:
        return path.relative_to(config.rootpath).as_posix()
    except ValueError:
        return path.as_posix()


def check_selected(plans: dict[str, Plan], selected: dict[str, list[str]]) -> None:
    for nodeid, names in selected.items():
        plan = plans[nodeid]
        for name in names:
            if name not in plan.items and name not in plan.targets and not _names_one(name, plan):
                example = next(iter(plan.items))
                raise BenchmarkError(
                    f"{nodeid}::{name}: expected one of {len(plan.items)} samples, such as "
                    f"{nodeid}::{example}; found none of that name"
                )


def _names_one(name: str, plan: Plan) -> bool:
    """Whether a pasted name is that of a sample with parameters of other plugins: ``uid[cpu-80012]``."""
    target, _, rest = name.partition("[")
    parts = rest.rpartition("]")[0].split("-")
    spans = itertools.combinations(range(len(parts) + 1), 2)
    return any(f"{target}[{'-'.join(parts[i:j])}]" in plan.items for i, j in spans)
