"""The list of options, and the frozen settings of one run that they are resolved into."""

# setting() makes a field of a dataclass.
# ruff: noqa: RUF009

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any

from pytest_agentbench.agents import specs
from pytest_agentbench.base import parse
from pytest_agentbench.settings import agent_params, gates
from pytest_agentbench.settings.gates import COVERAGE, Gate
from pytest_agentbench.settings.model_options import names, variable
from pytest_agentbench.settings.options import Option, options_of, parsed, setting
from pytest_agentbench.settings.sharding import Shard

if TYPE_CHECKING:
    from pytest_agentbench.agents.llm.entries import Entry
    from pytest_agentbench.benchmarks.protocol import Benchmark, Parameter


def _data_source(value: str) -> str | Path:
    return value if value in ("demo", "hub") else Path(value)


def _models(value: Any) -> tuple[Entry, ...]:
    # Only where a scenario names models.
    from pytest_agentbench.agents.llm.entries import parse_llm

    return parse_llm(value)


def _paths(value: Any) -> tuple[str, ...]:
    return tuple(parse.path(path) for path in parse.texts(value))


def _gates(value: Any) -> tuple[gates.Gate, ...]:
    return tuple(gates.parse(gate) for gate in parse.texts(value))


@dataclass(frozen=True, kw_only=True)
class Settings:
    """All that decides a run. The same in every process that takes part in it.

    A field that is a ``setting`` is an option: command line, ini key, scenario key, manifest, the checks
    of --resume and of hosts, `agentbench score` and docs/reference.md know it from here alone.
    """

    benchmark: Benchmark
    nodeid: str  # what stands before "::" in the run's node ids
    agent: str = setting(Option(
        "AGENT",
        "file.py, file.py:Name, package.module:Name, builtin:NAME, 'cmd:COMMAND', http://… or asbench's "
        "agent.yml "
        "(default: the benchmark's documented baseline)",
        specs.EXPECTED, parse.text,
        default_of=lambda benchmark: specs.builtin(benchmark.default_baseline),
        to_json=specs.shown, from_json=lambda value: specs.shown(parse.text(value)),
    ))  # fmt: skip
    agent_params: Mapping[str, Any] | None = setting(Option(
        "KEY=VALUE",
        "a parameter of the agent, by name: of its constructor, or of its function; may be repeated",
        "a mapping that JSON can hold", agent_params.parse, ini="linelist", repeatable=True,
        to_json=agent_params.without_secrets, decides_questions=True,
    ))  # fmt: skip
    config: Path | None = setting(Option(
        "FILE",
        "asbench's config.yml: its llm, mode, agent_class, agent_params and number, where nothing else "
        "says otherwise",
        "a file", parse.path,
        to_json=lambda path: None if path is None else str(path), from_json=Path,
        differs_by_host=True,
    ))  # fmt: skip
    submission: Path | None = setting(Option(
        "FILE|RUN",
        "score these answers instead of asking an agent: a submission file or an earlier run",
        "a submission file or the folder of a run", parse.path,
        to_json=lambda path: None if path is None else str(path), from_json=Path,
        decides_questions=True, decides_scores=True, differs_by_host=True,
    ))  # fmt: skip
    mode: str = setting(Option(
        "MODE", "the benchmark's mode (default: its first)", "the name of a mode", parse.text,
        default_of=lambda benchmark: benchmark.modes[0],
        decides_questions=True, decides_scores=True,
    ))  # fmt: skip
    dataset: str | Path = setting(Option(
        "demo|hub|PATH",
        "the data: demo (synthetic, comes with the package), hub (fetched once, then kept) or a path",
        "demo, hub or a path", parse.path, default="demo",
        to_json=str, from_json=_data_source, decides_scores=True, differs_by_host=True,
    ))  # fmt: skip
    limit: int | None = setting(Option(
        "N",
        "ask only N samples of those selected, drawn with the seed; the run is marked partial",
        "a whole number from 1", parse.number(1), ini="int",
        decides_questions=True, decides_scores=True,
    ))  # fmt: skip
    first: int | None = setting(Option(
        "N", "ask only the first N samples of those selected, in the order of the data",
        "a whole number from 1", parse.number(1), ini="int",
        decides_questions=True, decides_scores=True,
    ))  # fmt: skip
    chunk: int | None = setting(Option(
        "N",
        "ask N samples in one item (default: 1, and 1,000 where a submission answers over 5,000)",
        "a whole number from 1", parse.number(1), ini="int",
    ))  # fmt: skip
    epochs: int = setting(Option(
        "N", "ask every sample N times; scores are means over the epochs (default: 1)",
        "a whole number from 1", parse.number(1), default=1, ini="int",
        decides_questions=True, decides_scores=True,
    ))  # fmt: skip
    concurrency: int = setting(Option(
        "K", "keep K calls of the agent going at once in each process (default: 1)",
        "a whole number from 1", parse.number(1), default=1, ini="int",
    ))  # fmt: skip
    seed: int = setting(Option(
        "N", "the seed of everything drawn at random (default: 0)",
        "a whole number from 0", parse.number(0), default=0, ini="int",
        decides_questions=True, decides_scores=True,
    ))  # fmt: skip
    agent_timeout: float | None = setting(Option(
        "SECONDS", "give up on an answer after this time; that sample fails alone",
        "a number of seconds from 0.001 to 1,000,000", parse.number(1e-3, 1e6, whole=False),
        ini="float",
    ))  # fmt: skip
    agent_retries: int = setting(Option(
        "N",
        "try again up to N times after errors that may pass (429, 500, 503, connections …; default: 0)",
        "a whole number from 0", parse.number(0), default=0, ini="int",
    ))  # fmt: skip
    agent_isolation: str = setting(Option(
        "none|process",
        "process: the agent lives in a child process, kept from the truth, killed on a hang and replaced "
        "after a crash; for agents that you do not trust (default: none)",
        "none or process", parse.one_of("none", "process"), default="none",
    ))  # fmt: skip
    agent_memory: int | None = setting(Option(
        "MB", "with process isolation: how much memory the agent may use",
        "a whole number of megabytes from 64", parse.number(64), ini="int",
    ))  # fmt: skip
    agent_envs: tuple[str, ...] = setting(Option(
        "NAME",
        "with process isolation: an environment variable that the agent may see; may be repeated",
        "a list of names", parse.texts, default=(), ini="linelist", repeatable=True, to_json=list,
    ))  # fmt: skip
    agent_reads: tuple[str, ...] = setting(Option(
        "PATH",
        "with process isolation: a file or folder that the agent may read beyond Python, its packages and "
        "its own folder, such as ~/.cache/huggingface; may be repeated",
        "a list of files and folders", _paths, default=(), ini="linelist", repeatable=True, to_json=list,
        differs_by_host=True,
    ))  # fmt: skip
    llm: tuple[Entry, ...] = setting(Option(
        "ENTRIES", "models for agents that ask one (see docs/agents.md)",
        "a list of models, each with model, base_url, api_key …", _models, default=(),
        ini=None, command_line=False, to_json=lambda entries: [entry.as_json() for entry in entries],
        decides_questions=True,
    ))  # fmt: skip
    # These three become entries of llm: nothing else reads them.
    models: tuple[str, ...] = setting(Option(
        "NAME",
        "the model that the agent asks; with several, a run for each, and at the end their comparison",
        "the name of a model", names, default=(), ini="linelist", repeatable=True, manifest=False,
    ))  # fmt: skip
    base_url: str | None = setting(Option(
        "URL", "where the model of --model is asked (default: OpenAI)",
        "http://… or https://…", parse.text, manifest=False,
    ))  # fmt: skip
    api_key_env: str | None = setting(Option(
        "NAME",
        "the environment variable that holds the key for --model (default: OPENAI_API_KEY, where it is set)",
        "the name of an environment variable", variable, manifest=False,
    ))  # fmt: skip
    llm_cache: str = setting(Option(
        "read-write|replay|off",
        "calls of models that were made before: read-write gives their replies again and records new ones, "
        "replay sends nothing and fails a sample that asks something new, off asks every time (default: read-write)",
        "read-write, replay or off", parse.one_of("read-write", "replay", "off"), default="read-write",
    ))  # fmt: skip
    llm_proxy: bool = setting(Option(
        "", "serve the models to agents that bring an OpenAI-compatible client of their own: OPENAI_BASE_URL and "
        "OPENAI_API_KEY lead it to an endpoint on this machine",
        "true or false", parse.yes_or_no, default=False, ini="bool", flag=True,
    ))  # fmt: skip
    max_cost: float | None = setting(Option(
        "COST", "stop the run when its calls of models have cost this much",
        "a number above 0", parse.number(1e-12, whole=False), ini="float",
    ))  # fmt: skip
    max_tokens: int | None = setting(Option(
        "N", "stop the run when its calls of models have used N tokens",
        "a whole number from 1", parse.number(1), ini="int",
    ))  # fmt: skip
    max_identical_errors: int = setting(Option(
        "N",
        "stop a run whose first N samples all fail in the same way; 0: never (default: 10)",
        "a whole number from 0", parse.number(0), default=10, ini="int",
    ))  # fmt: skip
    reading: str = setting(Option(
        "NAME", "the reading that gates and the headline use (default: the primary one)",
        "the name of a reading", parse.text, default_of=lambda benchmark: benchmark.readings[0],
        decides_scores=True,
    ))  # fmt: skip
    gates: tuple[gates.Gate, ...] = setting(Option(
        "EXPR",
        "a condition on the scores, such as 'final_score >= 60'; may be given several times",
        "a list of gates", _gates, default=(gates.COVERAGE,), ini="linelist", repeatable=True,
        to_json=lambda all_gates: [gate.text for gate in all_gates],
        decides_scores=True, differs_by_host=True,
    ))  # fmt: skip
    baseline: str | None = setting(Option(
        "RUN", "the run to compare with: a folder, its scores.json, last, or a saved name",
        "the folder of a run, its scores.json, 'last' or a saved name", parse.path,
        from_json=parse.text, decides_scores=True, differs_by_host=True,
    ))  # fmt: skip
    run_dir: Path | None = setting(Option(
        "DIR", "write the run into DIR (default: a new folder in .agentbench/runs)",
        "a folder", parse.path, manifest=False, decides_scores=True,
    ))  # fmt: skip
    report_without_truth: bool = setting(Option(
        "", "write a report.html that others may read: without the truth, and without the plots, tables and "
        "details that are made of it",
        "true or false", parse.yes_or_no, default=False, ini="bool", flag=True,
        decides_scores=True, differs_by_host=True,
    ))  # fmt: skip
    notes: tuple[str, ...] = ()  # lines for the header
    resumed: str | None = None  # the run that --resume names
    shard: Shard | None = None  # which part of the samples this session asks
    # Whether the command line itself asks for this run, or for a gate: addopts asks with every command.
    typed: bool = True
    of_model: str | None = None  # the model, where there is a run for each of several
    agent_is_named: bool = False  # whether anybody has named it; else it is the baseline
    parameters: Mapping[str, Any] = field(default_factory=dict)  # the benchmark's own
    bases: tuple[Path, ...] = ()  # where relative paths are looked for, in this order
    house: Path | None = (
        None  # .agentbench, where this session keeps runs; None: in the last of the bases
    )

    @property
    def decided_gates(self) -> tuple[Gate, ...]:
        """The gates that this session decides. Of a shard only ``coverage >= 1``: where a part fails it, the whole does."""
        if self.shard is None:
            return self.gates
        return tuple(gate for gate in self.gates if replace(gate, text=COVERAGE.text) == COVERAGE)

    @property
    def requested_gates(self) -> tuple[Gate, ...]:
        """Those of them that somebody asked for; the one on coverage is there by itself."""
        return tuple(gate for gate in self.decided_gates if gate is not COVERAGE)

    @property
    def benchmark_class(self) -> str:
        """The benchmark as ``--benchmark`` takes it, also where it is not registered."""
        kind = type(self.benchmark)
        return f"{kind.__module__}:{kind.__qualname__}"

    @property
    def agent_shown(self) -> str:
        """The agent for people and files, without secrets."""
        return specs.shown(self.agent)

    def models_of(self, agent: str) -> tuple[str, ...]:
        """The models that an agent of this name may ask. A baseline asks none, and answers that are there."""
        asks = specs.asks_ours(agent, self.llm_proxy)
        return tuple(one.model for one in self.llm) if asks and self.submission is None else ()

    def as_json(self) -> dict[str, Any]:
        """For the manifest."""
        return {
            "benchmark": self.benchmark.name,
            "benchmark_class": self.benchmark_class,
            **{
                option.key: option.to_json(getattr(self, option.key))
                for option in _OF_A_RUN
                if option.manifest
            },
            "parameters": {
                key: value if isinstance(value, (bool, int, float, NoneType)) else str(value)
                for key, value in self.parameters.items()
            },
        }

    @classmethod
    def from_manifest(
        cls, settings: Mapping[str, Any], benchmark: Benchmark, file: str = "manifest.json"
    ) -> Settings:
        """The settings in a manifest of this or an earlier version, to be shown and compared.

        Whoever made the run wrote them: nothing that they name is looked for, opened or loaded here.
        """
        values = {
            option.key: option.from_manifest(settings, benchmark, file)
            for option in _OF_A_RUN
            if option.manifest
        }
        given = settings.get("parameters") or {}
        parameters = {
            # Some were options of every benchmark until 0.1.0, and stand beside the others there.
            one.name: _parameter(one, given.get(one.name, settings.get(one.name)), file)
            for one in benchmark.parameters
        }
        return cls(benchmark=benchmark, nodeid=benchmark.name, parameters=parameters, **values)


def _parameter(parameter: Parameter, value: Any, file: str) -> Any:
    """The value of a benchmark's own key. Until 0.1.0 manifests held it as text, ``None`` included."""
    if value is None or str(value) == str(parameter.default):
        return parameter.default
    where = f"{file}: settings.parameters.{parameter.name}"
    if parameter.is_place(value):
        return parsed(parameter.expected, parse.text, value, where)
    return parsed(parameter.expected, parameter.parse, value, where)


_OF_A_RUN = options_of(Settings)

# Options that belong to a session and not to one of its runs.
_WHICH = Option(
    "NAME|FILE", "run this benchmark, or the scenario in this YAML file; may be given several times",
    "the name of a benchmark or a scenario file", parse.text, name="benchmark",
    ini=None, repeatable=True, scenario=False,
)  # fmt: skip
_SESSION = (
    Option(
        "RUN", "go on with a run that was cut short (default: the last one): valid answers are kept",
        "the folder of a run or 'last'", parse.text, name="resume",
        ini=None, optional="last", scenario=False,
    ),
    Option(
        "", "with --resume: ask again what failed, and nothing new", "true or false",
        parse.yes_or_no, name="resume-failed-only", ini=None, flag=True, scenario=False,
    ),
    Option(
        "", "with --resume: go on although agent, data or settings have changed", "true or false",
        parse.yes_or_no, name="resume-anyway", ini=None, flag=True, scenario=False,
    ),
    Option(
        "PATH", "write the scores of all runs of the session into one JSON file", "a path",
        parse.text, name="json", ini=None, scenario=False, short=False,
    ),
    Option(
        "PATH", "write the scores of all runs of the session as CSV, and a row for each sample",
        "a path", parse.text, name="csv", ini=None, scenario=False, short=False,
    ),
    Option(
        "", "log the runs to MLflow", "true or false", parse.yes_or_no,
        name="mlflow", ini=None, flag=True, scenario=False, short=False,
    ),
)  # fmt: skip

OPTIONS: tuple[Option, ...] = (_WHICH, *_OF_A_RUN, *_SESSION)
