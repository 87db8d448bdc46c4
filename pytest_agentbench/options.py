"""Command line, scenario file and ini file, resolved once into one frozen :class:`Settings`.

The table :data:`OPTIONS` is the only list of options: the command line, the ini keys, the scenario
keys and the reference in the docs are made from it. Nothing here imports pytest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pytest_agentbench import gates
from pytest_agentbench.benchmarks import registry
from pytest_agentbench.benchmarks.protocol import Benchmark, BenchmarkError

if TYPE_CHECKING:
    from pytest_agentbench.agents.llm_entries import Entry


class SettingsError(BenchmarkError):
    """A wrong option, ini key or scenario key."""


@dataclass(frozen=True)
class Option:
    """One option: ``--NAME``, ``--agentbench-NAME``, ini ``agentbench_NAME``, scenario ``NAME``."""

    name: str  # as on the command line, with hyphens
    metavar: str
    help: str
    expected: str
    parse: Callable[[Any], Any]  # of a string (command line, ini) or a YAML value
    ini: Literal["string", "int", "float", "bool", "linelist"] | None = "string"
    default: Any = None
    repeatable: bool = False
    flag: bool = False  # takes no value on the command line
    optional: str | None = None  # the value where the option is given without one
    scenario: bool = True
    command_line: bool = True
    short: bool = True  # whether --NAME is an option beside --agentbench-NAME

    @property
    def key(self) -> str:
        """The name as a scenario key and as a field of :class:`Settings`."""
        key = self.name.replace("-", "_")
        return f"{key}s" if self.repeatable else key

    @property
    def dest(self) -> str:
        return f"agentbench_{self.name.replace('-', '_')}"


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError
    return value.strip()


def _number(least: float, whole: bool) -> Callable[[Any], float]:
    kind: Callable[[Any], float] = int if whole else float

    def parse(value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise ValueError
        number = kind(value)
        if not least <= number < float("inf") or (whole and number != float(value)):
            raise ValueError
        return number

    return parse


def _yes_or_no(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError
    return value


def _one_of_words(*words: str) -> Callable[[Any], str]:
    def parse(value: Any) -> str:
        if value not in words:
            raise ValueError
        return str(value)

    return parse


def _names(value: Any) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)) or not all(isinstance(name, str) for name in value):
        raise ValueError
    return tuple(value)


def _models(value: Any) -> tuple[Entry, ...]:
    from pytest_agentbench.agents.llm_entries import parse_llm  # only where a scenario names models

    return parse_llm(value)


def _gates(value: Any) -> tuple[gates.Gate, ...]:
    if not isinstance(value, (list, tuple)) or not all(isinstance(gate, str) for gate in value):
        raise ValueError
    return tuple(gates.parse(gate) for gate in value)


OPTIONS: tuple[Option, ...] = (
    Option(
        "benchmark", "NAME|FILE",
        "run this benchmark, or the scenario in this YAML file; may be given several times",
        "the name of a benchmark or a scenario file", _text, ini=None, repeatable=True,
        scenario=False,
    ),
    Option(
        "agent", "AGENT",
        "file.py, file.py:Name, package.module:Name, builtin:NAME, 'cmd:COMMAND' or http://… "
        "(default: the benchmark's documented baseline)",
        "file.py, file.py:Name, package.module:Name, builtin:NAME, cmd:COMMAND or http://…", _text,
    ),
    Option(
        "submission", "FILE|RUN",
        "score these answers instead of asking an agent: a submission file or an earlier run",
        "a submission file or the folder of a run", _text,
    ),
    Option("mode", "MODE", "the benchmark's mode (default: its first)", "the name of a mode", _text),
    Option(
        "dataset", "demo|hub|PATH",
        "the data: demo (synthetic, comes with the package), hub (fetched once, then kept) or a path",
        "demo, hub or a path", _text, default="demo",
    ),
    Option(
        "text-models", "SET",
        "models that score texts: offline, published, none or a folder (default: offline, if "
        "installed)",
        "offline, published, none or a folder", _text,
    ),
    Option(
        "keep-candidate-order", "", "show candidates in the order of the file, which leaks the answer",
        "true or false", _yes_or_no, ini="bool", flag=True,
    ),
    Option(
        "limit", "N", "ask only N samples, drawn with the seed; the run is marked partial",
        "a whole number from 1", _number(1, whole=True), ini="int",
    ),
    Option(
        "chunk", "N", "ask N samples in one item, for very large runs (default: 1)",
        "a whole number from 1", _number(1, whole=True), ini="int", default=1,
    ),
    Option(
        "epochs", "N", "ask every sample N times; scores are means over the epochs (default: 1)",
        "a whole number from 1", _number(1, whole=True), ini="int", default=1,
    ),
    Option(
        "concurrency", "K", "keep K calls of the agent going at once in each process (default: 1)",
        "a whole number from 1", _number(1, whole=True), ini="int", default=1,
    ),
    Option(
        "seed", "N", "the seed of everything drawn at random (default: 0)",
        "a whole number from 0", _number(0, whole=True), ini="int", default=0,
    ),
    Option(
        "agent-timeout", "SECONDS", "give up on an answer after this time; that sample fails alone",
        "a number of seconds above 0", _number(1e-3, whole=False), ini="float",
    ),
    Option(
        "agent-retries", "N",
        "try again up to N times after errors that may pass (429, 5xx, connections; default: 0)",
        "a whole number from 0", _number(0, whole=True), ini="int", default=0,
    ),
    Option(
        "agent-isolation", "none|process",
        "process: the agent lives in a child process, which is killed on a hang and replaced after "
        "a crash (default: none)",
        "none or process", _one_of_words("none", "process"), default="none",
    ),
    Option(
        "agent-memory", "MB", "with process isolation: how much memory the agent may use",
        "a whole number of megabytes from 64", _number(64, whole=True), ini="int",
    ),
    Option(
        "agent-env", "NAME",
        "with process isolation: an environment variable that the agent may see; may be repeated",
        "a list of names", _names, ini="linelist", default=(), repeatable=True,
    ),
    Option(
        "llm", "ENTRIES", "models for agents that ask one (see docs/agents.md)",
        "a list of models, each with model, base_url, api_key …", _models, ini=None, default=(),
        command_line=False,
    ),
    Option(
        "max-cost", "COST", "stop the run when its calls of models have cost this much",
        "a number above 0", _number(1e-12, whole=False), ini="float",
    ),
    Option(
        "max-tokens", "N", "stop the run when its calls of models have used N tokens",
        "a whole number from 1", _number(1, whole=True), ini="int",
    ),
    Option(
        "reading", "NAME", "the reading that gates and the headline use (default: the primary one)",
        "the name of a reading", _text,
    ),
    Option(
        "gate", "EXPR",
        "a condition on the scores, such as 'final_score >= 60'; may be given several times",
        "a list of gates", _gates, ini="linelist", default=(), repeatable=True,
    ),
    Option(
        "baseline", "RUN", "the run to compare with: a folder, its scores.json, last, or a saved name",
        "the folder of a run, its scores.json, 'last' or a saved name", _text,
    ),
    Option(
        "resume", "RUN",
        "go on with a run that was cut short (default: the last one): valid answers are kept",
        "the folder of a run or 'last'", _text, ini=None, optional="last", scenario=False,
    ),
    Option(
        "resume-failed-only", "", "with --resume: ask again what failed, and nothing new",
        "true or false", _yes_or_no, ini=None, flag=True, scenario=False,
    ),
    Option(
        "resume-anyway", "", "with --resume: go on although agent, data or settings have changed",
        "true or false", _yes_or_no, ini=None, flag=True, scenario=False,
    ),
    Option(
        "run-dir", "DIR", "write the run into DIR (default: a new folder in .agentbench/runs)",
        "a folder", _text,
    ),
    Option(
        "json", "PATH", "write the scores of all runs of the session into one JSON file",
        "a path", _text, ini=None, scenario=False, short=False,
    ),
    Option(
        "csv", "PATH", "write the scores of all runs of the session as CSV, and a row for each sample",
        "a path", _text, ini=None, scenario=False, short=False,
    ),
    Option(
        "mlflow", "", "log the runs to MLflow", "true or false", _yes_or_no,
        ini=None, flag=True, scenario=False, short=False,
    ),
)  # fmt: skip
_BY_KEY = {option.key: option for option in OPTIONS if option.scenario}


@dataclass(frozen=True)
class Settings:
    """All that decides a run. The same in every process that takes part in it."""

    benchmark: Benchmark
    nodeid: str  # what stands before "::" in the run's node ids
    mode: str
    dataset: str | Path
    agent: str
    reading: str
    submission: Path | None = None
    limit: int | None = None
    chunk: int = 1
    epochs: int = 1
    concurrency: int = 1
    seed: int = 0
    agent_timeout: float | None = None
    agent_retries: int = 0
    agent_isolation: str = "none"
    agent_memory: int | None = None
    agent_envs: tuple[str, ...] = ()
    llm: tuple[Entry, ...] = ()
    max_cost: float | None = None
    max_tokens: int | None = None
    gates: tuple[gates.Gate, ...] = (gates.COVERAGE,)
    baseline: str | None = None
    text_models: str | None = None
    keep_candidate_order: bool = False
    run_dir: Path | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    bases: tuple[Path, ...] = ()  # where relative paths are looked for, in this order

    def as_json(self) -> dict[str, Any]:
        """For the manifest."""
        return {
            "benchmark": self.benchmark.name,
            "benchmark_class": f"{type(self.benchmark).__module__}:{type(self.benchmark).__qualname__}",
            "mode": self.mode,
            "dataset": str(self.dataset),
            "agent": self.agent,
            "submission": None if self.submission is None else str(self.submission),
            "reading": self.reading,
            "limit": self.limit,
            "chunk": self.chunk,
            "epochs": self.epochs,
            "concurrency": self.concurrency,
            "seed": self.seed,
            "agent_timeout": self.agent_timeout,
            "agent_retries": self.agent_retries,
            "agent_isolation": self.agent_isolation,
            "agent_memory": self.agent_memory,
            "agent_envs": list(self.agent_envs),
            "llm": [entry.as_json() for entry in self.llm],
            "max_cost": self.max_cost,
            "max_tokens": self.max_tokens,
            "gates": [gate.text for gate in self.gates],
            "baseline": self.baseline,
            "text_models": self.text_models,
            "keep_candidate_order": self.keep_candidate_order,
            "parameters": {key: str(value) for key, value in self.parameters.items()},
        }


@dataclass(frozen=True)
class Layer:
    """Values from one place (command line, a scenario file, the ini file), by key."""

    where: Callable[[str], str]  # the key, as the user wrote it there, with its file
    values: Mapping[str, Any]


def resolve(
    benchmark: str | None,
    nodeid: str | None,
    layers: Sequence[Layer],
    bases: Sequence[Path],
) -> Settings:
    """Settings for one run; ``layers`` from the strongest to the weakest.

    Without ``benchmark`` a layer names it; without ``nodeid`` the run is called as the benchmark.
    """
    found = _find_benchmark(benchmark, layers)
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
        dataset=_dataset(found, dataset, bases, layers),
        submission=submission and _existing("submission", submission, bases, layers),
        agent=values.get("agent", f"builtin:{found.default_baseline}"),
        reading=reading,
        limit=values.get("limit"),
        chunk=values.get("chunk", 1),
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
        run_dir=None if run_dir is None else bases[-1] / run_dir,
        parameters=_parameters(found, layers),
        bases=tuple(bases),
    )


def _find_benchmark(name: str | None, layers: Sequence[Layer]) -> Benchmark:
    where = "--benchmark"
    if name is None:
        layer = next(layer for layer in layers if "benchmark" in layer.values)
        where, name = layer.where("benchmark"), layer.values["benchmark"]
        if not isinstance(name, str):
            raise SettingsError(f"{where}: expected the name of a benchmark, got {name!r}")
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
                f"{layer.where(str(key))}: expected one of {', '.join(known)}; got {key!r}{hint}"
            )


def parsed(expected: str, parse: Callable[[Any], Any], value: Any, where: str) -> Any:
    try:
        return parse(value)
    except (ValueError, TypeError, OverflowError) as error:
        if "expected" in str(error):  # it says what is wrong itself, and perhaps hides a secret
            raise SettingsError(f"{where}: {error}") from None
        raise SettingsError(f"{where}: expected {expected}, got {value!r}") from None


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


def _one_of(
    key: str, value: str, allowed: Sequence[str], benchmark: str, layers: Sequence[Layer]
) -> None:
    if value not in allowed:
        raise SettingsError(
            f"{origin(key, layers)}: expected a {key} of {benchmark} ({', '.join(allowed)}), "
            f"got {value!r}"
        )


def _dataset(
    benchmark: Benchmark, value: str, bases: Sequence[Path], layers: Sequence[Layer]
) -> str | Path:
    if value == "demo" or (value == "hub" and benchmark.hub_repository is not None):
        return value
    return _existing("dataset", value, bases, layers)


def _existing(key: str, value: str, bases: Sequence[Path], layers: Sequence[Layer]) -> Path:
    for base in bases:
        path = base / Path(value).expanduser()
        if path.exists():
            return path
    looked = " and ".join(dict.fromkeys(str(base) for base in bases))
    raise SettingsError(
        f"{origin(key, layers)}: expected a path that exists, got {value!r} (looked in {looked})"
    )
