"""Command line, scenario file and ini file, resolved once into one frozen :class:`Settings`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pytest_agentbench.base import files
from pytest_agentbench.base.errors import shown
from pytest_agentbench.benchmarks import registry
from pytest_agentbench.benchmarks.protocol import Benchmark
from pytest_agentbench.benchmarks.sources.partitions import is_pattern
from pytest_agentbench.settings import gates
from pytest_agentbench.settings.options import SettingsError, parsed
from pytest_agentbench.settings.settings import OPTIONS, Settings

_BY_KEY = {option.key: option for option in OPTIONS if option.scenario}

Digests = Mapping[str, Mapping[str, str]]  # of files: by node id of the run, then by key


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
) -> Settings:
    """Settings for one run; ``layers`` from the strongest to the weakest.

    Without ``benchmark`` a layer names it; without ``nodeid`` the run is called as the benchmark.
    ``digests`` are those of the controller's files, on another host.
    """
    found = _find_benchmark(benchmark, layers)
    known = digests.get(nodeid or found.name, {})
    for layer in layers:
        _refuse_unknown(layer, found)
    values: dict[str, Any] = {}
    gate_layers: list[tuple[gates.Gate, ...]] = []
    for layer in reversed(layers):
        for key, value in layer.values.items():
            option = _BY_KEY.get(key)
            if option is not None and value is not None:
                values[key] = option.read(value, layer.where(key))
        gate_layers.append(values.pop("gates", ()))
    values = {key: option.default_for(found) for key, option in _BY_KEY.items()} | values
    values["gates"] = gates.combine(gate_layers)
    _one_of("mode", values["mode"], found.modes, found.name, layers)
    _one_of("reading", values["reading"], found.readings, found.name, layers)
    if values["submission"] is not None:
        if _giving("agent", layers):
            raise SettingsError(
                f"{origin('submission', layers)}: expected either a submission or an agent, got "
                f"both ({origin('agent', layers)})"
            )
        values["submission"] = _existing(
            found, "submission", values["submission"], bases, layers, known
        )
    values["dataset"] = _dataset(found, values["dataset"], bases, layers, known)
    giving_run_dir = _giving("run_dir", layers)
    if giving_run_dir is not None:
        values["run_dir"] = giving_run_dir.base / Path(values["run_dir"]).expanduser()
    return Settings(
        benchmark=found,
        nodeid=nodeid or found.name,
        parameters=_parameters(found, layers),
        bases=tuple(bases),
        **values,
    )


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
            raise SettingsError(
                f"{layer.where(str(key))}: expected one of {', '.join(known)}; got {shown(key)}{hint}"
            )


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


def _one_of(
    key: str, value: str, allowed: Sequence[str], benchmark: str, layers: Sequence[Layer]
) -> None:
    if value not in allowed:
        raise SettingsError(
            f"{origin(key, layers)}: expected a {key} of {benchmark} ({', '.join(allowed)}), "
            f"got {shown(value)}"
        )


def _dataset(
    benchmark: Benchmark,
    value: str,
    bases: Sequence[Path],
    layers: Sequence[Layer],
    digests: Mapping[str, str],
) -> str | Path:
    if value == "demo" or (value == "hub" and benchmark.hub_repository is not None):
        return value
    return _existing(benchmark, "dataset", value, bases, layers, digests)


def _existing(
    benchmark: Benchmark,
    key: str,
    value: str,
    bases: Sequence[Path],
    layers: Sequence[Layer],
    digests: Mapping[str, str],
) -> Path:
    for base in bases:
        path = base / Path(value).expanduser()
        if path.exists() or (benchmark.reads_partitions and is_pattern(path)):
            return path
    looked = " and ".join(dict.fromkeys(str(base) for base in bases))
    if key not in digests:
        raise SettingsError(
            f"{origin(key, layers)}: expected a path that exists, got {value!r} (looked in {looked})"
        )
    folder = files.kept_folder(digests[key])
    kept = folder / Path(value).name
    if kept.exists() and files.path_digest(kept) == digests[key]:
        return kept
    damaged = " (where it is damaged)" if kept.exists() else ""
    raise SettingsError(
        f"{origin(key, layers)}: expected {value!r} of digest {digests[key]}, which the controller "
        f"has; looked in {looked} and in {folder}{damaged}; copy it to one of them"
    )
