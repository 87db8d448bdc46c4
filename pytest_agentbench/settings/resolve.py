"""Command line, scenario file and ini file, resolved once into one frozen :class:`Settings`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pytest_agentbench.base import files
from pytest_agentbench.base.errors import BenchmarkError, shown
from pytest_agentbench.benchmarks import registry
from pytest_agentbench.benchmarks.protocol import Benchmark
from pytest_agentbench.benchmarks.sources.partitions import is_pattern
from pytest_agentbench.settings import gates
from pytest_agentbench.settings.options import OPTIONS
from pytest_agentbench.settings.settings import Settings

if TYPE_CHECKING:
    pass


class SettingsError(BenchmarkError):
    """A wrong option, ini key or scenario key."""


_BY_KEY = {option.key: option for option in OPTIONS if option.scenario}


Digests = Mapping[str, Mapping[str, str]]  # of files: by node id of the run, then by key


@dataclass(frozen=True)
class Layer:
    """Values from one place (command line, a scenario file, the ini file), by key."""

    where: Callable[[str], str]  # the key, as the user wrote it there, with its file
    values: Mapping[str, Any]
    base: Path = Path()  # where what is written there is, if it is relative


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
                values[key] = parsed(option.expected, option.parse, value, layer.where(key))
        gate_layers.append(values.pop("gates", ()))
    mode = values.get("mode", found.modes[0])
    _one_of("mode", mode, found.modes, found.name, layers)
    reading = values.get("reading", found.readings[0])
    _one_of("reading", reading, found.readings, found.name, layers)
    dataset = values.get("dataset", "demo")
    run_dir = values.get("run_dir")
    submission = values.get("submission")
    if submission is not None and "agent" in values:
        raise SettingsError(
            f"{origin('submission', layers)}: expected either a submission or an agent, got both "
            f"({origin('agent', layers)})"
        )
    return Settings(
        benchmark=found,
        nodeid=nodeid or found.name,
        mode=mode,
        dataset=_dataset(found, dataset, bases, layers, known),
        submission=submission and _existing(found, "submission", submission, bases, layers, known),
        agent=values.get("agent", f"builtin:{found.default_baseline}"),
        reading=reading,
        limit=values.get("limit"),
        chunk=values.get("chunk"),
        epochs=values.get("epochs", 1),
        concurrency=values.get("concurrency", 1),
        agent_retries=values.get("agent_retries", 0),
        agent_isolation=values.get("agent_isolation", "none"),
        agent_memory=values.get("agent_memory"),
        agent_envs=values.get("agent_envs", ()),
        llm=values.get("llm", ()),
        max_cost=values.get("max_cost"),
        max_tokens=values.get("max_tokens"),
        seed=values.get("seed", 0),
        agent_timeout=values.get("agent_timeout"),
        gates=gates.combine(gate_layers),
        baseline=values.get("baseline"),
        text_models=values.get("text_models"),
        keep_candidate_order=bool(values.get("keep_candidate_order")),
        run_dir=None
        if run_dir is None
        else _base_of("run_dir", layers) / Path(run_dir).expanduser(),
        parameters=_parameters(found, layers),
        bases=tuple(bases),
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


def parsed(expected: str, parse: Callable[[Any], Any], value: Any, where: str) -> Any:
    try:
        return parse(value)
    except (ValueError, TypeError, OverflowError) as error:
        if "expected" in str(error):  # it says what is wrong itself, and perhaps hides a secret
            raise SettingsError(f"{where}: {error}") from None
        raise SettingsError(f"{where}: expected {expected}, got {shown(value)}") from None


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


def origin(key: str, layers: Iterable[Layer]) -> str:
    """Where the value in force of a key was given."""
    for layer in layers:
        if layer.values.get(key) is not None:
            return layer.where(key)
    return key


def _base_of(key: str, layers: Iterable[Layer]) -> Path:
    return next(layer.base for layer in layers if layer.values.get(key) is not None)


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
