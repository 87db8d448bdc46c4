"""From the command line and the ini file to the settings of each run."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from pytest_agentbench.agents import specs
from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.benchmarks import registry
from pytest_agentbench.plugin import typed
from pytest_agentbench.plugin.arguments import Chosen, absolute, benchmark_in, scenario_path
from pytest_agentbench.plugin.named_runs import NamedRuns
from pytest_agentbench.plugin.option_parser import known
from pytest_agentbench.runs.names import LAST
from pytest_agentbench.runs.plan import Plan
from pytest_agentbench.settings import model_options, scenario
from pytest_agentbench.settings.resolve import Digests, Layer, models_named, resolve
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


@dataclass
class Requested:
    """The runs that a command asks for, by node id."""

    settings: dict[str, Settings] = field(default_factory=dict)
    selected: dict[str, list[str]] = field(default_factory=dict)  # names pasted after ``::``
    paths: dict[str, Path] = field(default_factory=dict)  # scenario files that pytest collects
    # Scenario files given as paths that have a run for each of several models: we collect them.
    scenarios: dict[str, Path] = field(default_factory=dict)

    def runs_of(self, base: str) -> list[str]:
        """The runs of a benchmark or scenario file: one, or one for each of several models."""
        return [nodeid for nodeid in self.settings if model_options.parted(nodeid)[0] == base]

    def select(self, runs: Iterable[str], name: str) -> None:
        for run in runs:
            self.selected.setdefault(run, []).append(name)


def requested(config: pytest.Config, digests: Digests, chosen: Chosen) -> Requested:
    """The settings of each run, and what of it is selected."""
    found = Requested()
    on_line, from_ini = command_line(config), ini(config)
    gate_typed = bool(typed.values(config, "gate"))
    named_runs = NamedRuns(config)
    config.pluginmanager.register(named_runs, "agentbench-named-runs")
    pasted = [model_options.parted(a.partition("::")[0]) for a in chosen.arguments if "::" in a]

    def add(argument: str, benchmark: str | None, path: Path | None = None) -> None:
        layers, looked, nodeid = [on_line, from_ini], bases(config), None
        if path is not None:
            layers.insert(1, scenario.read(path))
            looked.insert(0, path.resolve().parent)
            nodeid = _relative(config, path)
        named = models_named(layers)
        own = [
            model
            for base, model in pasted
            if model is not None and _is_of(config, base, benchmark, path)
        ]
        for model in _each(named, own):
            new = resolve(benchmark, nodeid, layers, looked, digests, named_runs, model)
            if new.nodeid in found.settings:
                raise BenchmarkError(
                    f"--benchmark: expected each benchmark once, got {new.nodeid!r} twice"
                )
            if len(named) > 1:
                _check_asks(new, named)
            is_typed = gate_typed or argument in chosen.typed
            found.settings[new.nodeid] = dataclasses.replace(new, typed=is_typed)

    for value in chosen.benchmarks:
        if Path(value).suffix.lower() in scenario.SUFFIXES:
            add(value, None, scenario_path(config, value))
        else:
            add(value, value)
    whole = set()
    for arg in chosen.arguments:
        where, colons, name = arg.partition("::")
        benchmark = benchmark_in(config, where, found.settings) if colons else None
        where, model = model_options.parted(where)
        path = absolute(config, where)
        if benchmark is not None:
            if not found.runs_of(benchmark):
                add(arg, benchmark)
            runs = found.runs_of(benchmark)
            found.select(runs if model is None else [model_options.run_of(benchmark, model)], name)
        elif scenario.is_scenario(path):
            base = _relative(config, path)
            if not found.runs_of(base):
                add(arg, None, path)
            if base in found.settings:
                found.paths.setdefault(base, path)
                continue
            runs = found.runs_of(base) if model is None else [model_options.run_of(base, model)]
            found.scenarios |= dict.fromkeys(runs, path)
            if colons:
                found.select(runs, name)
            else:
                whole |= {*runs}
    found.selected = {run: names for run, names in found.selected.items() if run not in whole}
    _refuse_foreign_parameters(on_line, found.settings.values())
    if len(found.settings) > 1:
        found.settings = {n: _apart(s) for n, s in found.settings.items()}
        _check_folders(found.settings)
        _check_resumed_models(config, found.settings.values())
    return found


def _is_of(config: pytest.Config, base: str, benchmark: str | None, path: Path | None) -> bool:
    """Whether a pasted node id is of this benchmark or scenario file."""
    if path is not None:
        return absolute(config, base) == path
    return Path(base).name == registry.get(str(benchmark)).name


def _each(named: Sequence[str], pasted: Sequence[str]) -> Sequence[str | None]:
    """The models that have a run each: those of pasted node ids, or several that options name."""
    for model in pasted if named else ():
        if model not in named:
            raise BenchmarkError(
                f"@{model}: expected one of the models that --model names ({', '.join(named)}) in a node id"
            )
    return list(dict.fromkeys(pasted)) or (named if len(named) > 1 else [None])


def _check_asks(settings: Settings, named: Sequence[str]) -> None:
    """Refuses several models for what asks none: their runs would be the same."""
    is_baseline = settings.agent_is_named and specs.baseline_of(settings.agent) is not None
    if is_baseline or settings.submission is not None:
        what = settings.agent if is_baseline else f"the submission {settings.submission}"
        raise BenchmarkError(
            f"--model: expected an agent that asks a model, got {what}, which asks none of {', '.join(named)}"
        )


def _check_resumed_models(config: pytest.Config, settings: Iterable[Settings]) -> None:
    """Refuses one folder for several models."""
    resumed = config.getoption("agentbench_resume")
    if resumed in (None, LAST) or not any(one.of_model for one in settings):
        return
    raise BenchmarkError(
        f"--resume={resumed}: expected --resume alone, which goes on with the last run of each model, or the "
        "one --model of that run; got several models"
    )


def narrowing(config: pytest.Config, chosen: Chosen, asked: Requested) -> set[str]:
    """The runs of which only a part is selected: with -k, -m, or names after ``::``."""
    if config.option.keyword or config.option.markexpr:
        return {*asked.settings}
    named = {
        absolute(config, where)
        for where, colons, _ in (arg.partition("::") for arg in chosen.arguments)
        if colons
    }
    return {*asked.selected, *(nodeid for nodeid, path in asked.paths.items() if path in named)}


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
    name = re.sub(r"[^\w.@-]+", "_", settings.nodeid)
    return dataclasses.replace(settings, run_dir=settings.run_dir / name)


def _check_folders(settings: Mapping[str, Settings]) -> None:
    """Refuses two runs whose names make one folder below --run-dir."""
    owners: dict[Path, str] = {}
    for nodeid, one in settings.items():
        if one.run_dir is not None and owners.setdefault(one.run_dir, nodeid) != nodeid:
            raise BenchmarkError(
                f"--run-dir: expected a folder of its own for each run, got {one.run_dir.name} for both "
                f"{owners[one.run_dir]} and {nodeid}; start pytest once for each"
            )


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
