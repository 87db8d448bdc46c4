"""Command line, scenario file and ini file, resolved once into one frozen :class:`Settings`."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pytest_agentbench.base import files, parse
from pytest_agentbench.base.errors import BenchmarkError, shown
from pytest_agentbench.benchmarks import registry
from pytest_agentbench.benchmarks.protocol import Benchmark
from pytest_agentbench.benchmarks.sources.partitions import is_pattern
from pytest_agentbench.settings import agent_params, asbench_config, gates, model_options
from pytest_agentbench.settings.asbench_config import AsbenchFile
from pytest_agentbench.settings.options import SettingsError, parsed
from pytest_agentbench.settings.settings import OPTIONS, Settings

if TYPE_CHECKING:
    from pytest_agentbench.agents.llm.entries import Entry

_BY_KEY = {option.key: option for option in OPTIONS if option.scenario}

Digests = Mapping[str, Mapping[str, str]]  # of files: by node id of the run, then by key
FindRun = Callable[[str, str], Path]


@dataclass(frozen=True)
class Layer:
    """Values from one place (command line, a scenario file, the ini file), by key."""

    where: Callable[[str], str]  # the key, as the user wrote it there, with its file
    values: Mapping[str, Any]
    base: Path = Path()  # where relative paths in it begin
    for_all: bool = False  # it may hold parameters of other benchmarks, which are passed over


def resolve(
    benchmark: str | None,
    nodeid: str | None,
    layers: Sequence[Layer],
    bases: Sequence[Path],
    digests: Digests = MappingProxyType({}),
    find_run: FindRun | None = None,
    model: str | None = None,
) -> Settings:
    """Settings for one run; ``layers`` from the strongest to the weakest.

    Without ``benchmark`` a layer names it; without ``nodeid`` the run is named after the benchmark.
    ``digests`` are those of the controller's files, on another host. ``find_run`` gives the folder of
    a run by its name (``last``, a saved name) and benchmark. ``model`` is the one of this run, where there
    is a run for each of several.
    """
    found = _find_benchmark(benchmark, layers)
    nodeid = nodeid or found.name
    if model is not None:
        nodeid = model_options.run_of(nodeid, model)
    for layer in layers:
        _refuse_unknown(layer, found)
    place = _Place(found, layers, bases, digests.get(nodeid, {}))
    layers, theirs = _with_files_of_asbench(layers, place)
    place = replace(place, layers=layers)
    values: dict[str, Any] = {}
    gate_layers: list[tuple[gates.Gate, ...]] = []
    params: Mapping[str, Any] | None = None
    for layer in reversed(layers):
        for key, value in layer.values.items():
            option = _BY_KEY.get(key)
            if option is not None and value is not None:
                values[key] = option.read(value, layer.where(key))
        gate_layers.append(values.pop("gates", ()))
        if (parsed_here := values.pop("agent_params", None)) is not None:
            params = agent_params.merged(params, layer.values["agent_params"], parsed_here)
    values = {key: option.default_for(found) for key, option in _BY_KEY.items()} | values
    values["gates"], values["agent_params"] = gates.combine(gate_layers), params
    values["llm"] = _asked(values, layers, model)
    _one_of("mode", values["mode"], found.modes, found.name, layers)
    _one_of("reading", values["reading"], found.readings, found.name, layers)
    _check_gates(values, found, layers)
    _either_limit_or_first(values, layers)
    if values["submission"] is not None:
        if _giving("agent", layers):
            raise SettingsError(
                f"{origin('submission', layers)}: expected either a submission or an agent, got "
                f"both ({origin('agent', layers)})"
            )
        values["submission"] = place.of("submission", values["submission"], find_run)
    elif values["llm_proxy"] and not values["llm"]:
        raise SettingsError(
            f"{origin('llm_proxy', layers)}: expected a model to serve (--model NAME, or llm: in the scenario), "
            "got none"
        )
    if values["dataset"] != "demo" and not (values["dataset"] == "hub" and found.hub_repository):
        values["dataset"] = place.of("dataset", values["dataset"])
    if values["config"] is not None:
        values["config"] = place.of("config", values["config"])
    giving_run_dir = _giving("run_dir", layers)
    if giving_run_dir is not None:
        values["run_dir"] = giving_run_dir.base / Path(values["run_dir"]).expanduser()
    return Settings(
        benchmark=found,
        nodeid=nodeid,
        of_model=model,
        parameters=_parameters(found, layers),
        bases=tuple(bases),
        notes=tuple(note for file in theirs for note in file.notes),
        agent_is_named=_giving("agent", layers) is not None,
        **values,
    )


def models_named(layers: Sequence[Layer]) -> tuple[str, ...]:
    """The models that the strongest layer names: with several, there is a run for each."""
    layer = _giving("models", layers)
    if layer is None or not _is_in_force("models", layers):
        return ()
    found: tuple[str, ...] = _BY_KEY["models"].read(layer.values["models"], layer.where("models"))
    return found


def _is_in_force(key: str, layers: Sequence[Layer]) -> bool:
    """Whether what a layer says about the model holds: not beside an ``llm`` of a stronger one."""
    giving, of_llm = _giving(key, layers), _giving("llm", layers)
    if giving is None or of_llm is None:
        return giving is not None
    return layers.index(giving) <= layers.index(of_llm)


def _asked(
    values: Mapping[str, Any], layers: Sequence[Layer], model: str | None
) -> tuple[Entry, ...]:
    """The models that the agent may ask."""
    given = {
        key: values[key] for key in model_options.KEYS if values[key] and _is_in_force(key, layers)
    }
    if model is not None:
        given = {**given, "models": (model,)}
    return model_options.entries(values["llm"], given, lambda key: origin(key, layers), os.environ)


def _with_files_of_asbench(
    layers: Sequence[Layer], place: _Place
) -> tuple[list[Layer], list[AsbenchFile]]:
    """The layers with what asbench's config and the YAML file of its agent say, weaker than all others."""
    layers, files = list(layers), []

    def add(file: AsbenchFile, but: Collection[str]) -> None:
        values = {key: value for key, value in file.values.items() if key not in but}
        layers.append(Layer(file.where, values, file.path.parent, for_all=True))
        files.append(file)

    giving = _giving("config", layers)
    if giving is not None:
        value = _BY_KEY["config"].read(giving.values["config"], giving.where("config"))
        config = asbench_config.read_config(place.of("config", value)).beside(value, place.bases)
        # Answers that exist already need no agent.
        submitted = _giving("submission", layers) is not None
        add(config, ("agent", "agent_params") if submitted else ())
    giving = _giving("agent", layers)
    agent = "" if giving is None else giving.values["agent"]
    if giving and isinstance(agent, str) and agent.lower().endswith(asbench_config.SUFFIXES):
        described = asbench_config.read_agent(place.of("agent", agent)).beside(agent, place.bases)
        its_own = {**giving.values, "agent": described.values["agent"]}
        layers[layers.index(giving)] = replace(giving, values=its_own)
        add(described, ("agent",))
    return layers, files


def _find_benchmark(name: str | None, layers: Sequence[Layer]) -> Benchmark:
    where = "--benchmark"
    if name is None:
        layer = next(layer for layer in layers if "benchmark" in layer.values)
        where, name = layer.where("benchmark"), layer.values["benchmark"]
        if not isinstance(name, str):
            raise SettingsError(f"{where}: expected the name of a benchmark, got {shown(name)}")
    try:
        return registry.get(name)
    except registry.UnknownBenchmark as error:
        raise SettingsError(f"{where}: {error}") from None


def _refuse_unknown(layer: Layer, benchmark: Benchmark) -> None:
    if layer.for_all:
        return
    parameters = [parameter.name for parameter in benchmark.parameters]
    known = ["benchmark", *_BY_KEY, *parameters]
    for key in layer.values:
        if key not in known:
            from difflib import get_close_matches  # only to explain a mistake

            close = get_close_matches(str(key), known, n=3)
            hint = f"; did you mean {' or '.join(close)}?" if close else ""
            others = [name for name in registry.available() if key in _parameter_names(name)]
            if others:
                hint = f"; it is a parameter of {' and '.join(others)}, not of {benchmark.name}"
            raise SettingsError(
                f"{layer.where(str(key))}: expected one of {', '.join(known)}; got {shown(key)}{hint}"
            )


def _parameter_names(benchmark: str) -> list[str]:
    try:
        return [parameter.name for parameter in registry.get(benchmark).parameters]
    except Exception:  # a broken package of somebody else's
        return []


def _parameters(benchmark: Benchmark, layers: Sequence[Layer]) -> dict[str, Any]:
    values = {}
    for parameter in benchmark.parameters:
        values[parameter.name] = parameter.default
        for layer in layers:
            given = layer.values.get(parameter.name)
            if given is not None:
                values[parameter.name] = parsed(
                    parameter.expected, parameter.parse, given, layer.where(parameter.name)
                )
                break
    return values


def _giving(key: str, layers: Iterable[Layer]) -> Layer | None:
    """The strongest layer that gives a key."""
    return next((layer for layer in layers if layer.values.get(key) is not None), None)


def origin(key: str, layers: Iterable[Layer]) -> str:
    """Where the value in force of a key was given."""
    layer = _giving(key, layers)
    return key if layer is None else layer.where(key)


def _either_limit_or_first(values: dict[str, Any], layers: Sequence[Layer]) -> None:
    """The stronger layer's of the two holds; both in one place contradict each other."""
    by_limit, by_first = _giving("limit", layers), _giving("first", layers)
    if by_limit is None or by_first is None:
        return
    if by_limit is by_first:
        raise SettingsError(
            f"{by_first.where('first')}: expected either the first N samples or a draw of N, got "
            f"both ({by_limit.where('limit')})"
        )
    values["first" if layers.index(by_limit) < layers.index(by_first) else "limit"] = None


def _one_of(
    key: str, value: str, allowed: Sequence[str], benchmark: str, layers: Sequence[Layer]
) -> None:
    if value not in allowed:
        raise SettingsError(
            f"{origin(key, layers)}: expected a {key} of {benchmark} ({', '.join(allowed)}), "
            f"got {shown(value)}"
        )


def _check_gates(values: dict[str, Any], benchmark: Benchmark, layers: Sequence[Layer]) -> None:
    """Refuses a gate that no run can ever pass, by the place that it was written in."""
    for gate in values["gates"]:
        why = gates.mistake(gate, benchmark, values["reading"])
        if why is not None:
            written = [one for one in layers if gate.text in _texts(one.values.get("gates"))]
            raise SettingsError(f"{origin('gates', written or layers)}: {why}")


def _texts(given: Any) -> list[str]:
    """The gates of a layer, spelt as :class:`gates.Gate` has them."""
    return [] if given is None else [" ".join(text.split()) for text in parse.texts(given)]


@dataclass(frozen=True)
class _Place:
    """Where the files that settings name are looked for."""

    benchmark: Benchmark
    layers: Sequence[Layer]
    bases: Sequence[Path]
    digests: Mapping[str, str]  # of the controller's files, by key

    def of(self, key: str, value: str, find_run: FindRun | None = None) -> Path:
        for base in self.bases:
            path = base / Path(value).expanduser()
            if path.exists() or (self.benchmark.reads_partitions and is_pattern(path)):
                return path
        looked = " and ".join(dict.fromkeys(str(base) for base in self.bases))
        where = origin(key, self.layers)
        if key in self.digests:
            return self._kept(where, value, self.digests[key], looked)
        hint = ""
        if find_run is not None:
            try:
                return find_run(value, self.benchmark.name)
            except BenchmarkError as error:
                hint = f"; {error}"
        raise SettingsError(
            f"{where}: expected a path that exists, got {value!r} (looked in {looked}){hint}"
        )

    def _kept(self, where: str, value: str, digest: str, looked: str) -> Path:
        """A file of the controller's, in the cache of another host."""
        folder = files.kept_folder(digest)
        kept = folder / Path(value).name
        if kept.exists() and files.path_digest(kept) == digest:
            return kept
        damaged = " (where it is damaged)" if kept.exists() else ""
        raise SettingsError(
            f"{where}: expected {value!r} of digest {digest}, which the controller "
            f"has; looked in {looked} and in {folder}{damaged}; copy it to one of them"
        )
