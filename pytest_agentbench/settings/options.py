"""The only list of options: the command line, ini keys, scenario keys and the docs are made from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pytest_agentbench.settings import gates

if TYPE_CHECKING:
    from pytest_agentbench.agents.llm.entries import Entry


@dataclass(frozen=True)
class Option:
    """One option: ``--NAME``, ``--agentbench-NAME``, ini ``agentbench_NAME``, scenario ``NAME``."""

    name: str  # as on the command line, with hyphens
    metavar: str
    help: str
    expected: str
    parse: Callable[[Any], Any]  # of a string (command line, ini) or a YAML value
    ini: Literal["string", "int", "float", "bool", "linelist"] | None = "string"
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


def _path(value: Any) -> str:
    text = _text(value)
    try:
        Path(text).expanduser().exists()
    except (OSError, RuntimeError) as error:  # far too long; ~nobody
        raise ValueError(f"expected a path, got {text[:200]!r} ({error!s:.200})") from None
    return text


def _number(least: float, whole: bool, most: float = 1e15) -> Callable[[Any], float]:
    kind: Callable[[Any], float] = int if whole else float

    def parse(value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise ValueError
        number = kind(value)
        if not least <= number <= most or (whole and number != float(value)):
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
    from pytest_agentbench.agents.llm.entries import (
        parse_llm,  # only where a scenario names models
    )

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
        "a submission file or the folder of a run", _path,
    ),
    Option("mode", "MODE", "the benchmark's mode (default: its first)", "the name of a mode", _text),
    Option(
        "dataset", "demo|hub|PATH",
        "the data: demo (synthetic, comes with the package), hub (fetched once, then kept) or a path",
        "demo, hub or a path", _path,
    ),
    Option(
        "text-models", "SET",
        "models that score texts: offline, published, none or a folder (default: offline, if "
        "installed)",
        "offline, published, none or a folder", _path,
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
        "chunk", "N",
        "ask N samples in one item (default: 1, and 1,000 where a submission answers over 5,000)",
        "a whole number from 1", _number(1, whole=True), ini="int",
    ),
    Option(
        "epochs", "N", "ask every sample N times; scores are means over the epochs (default: 1)",
        "a whole number from 1", _number(1, whole=True), ini="int",
    ),
    Option(
        "concurrency", "K", "keep K calls of the agent going at once in each process (default: 1)",
        "a whole number from 1", _number(1, whole=True), ini="int",
    ),
    Option(
        "seed", "N", "the seed of everything drawn at random (default: 0)",
        "a whole number from 0", _number(0, whole=True), ini="int",
    ),
    Option(
        "agent-timeout", "SECONDS", "give up on an answer after this time; that sample fails alone",
        "a number of seconds from 0.001 to 1,000,000", _number(1e-3, whole=False, most=1e6), ini="float",
    ),
    Option(
        "agent-retries", "N",
        "try again up to N times after errors that may pass (429, 500, 503, connections …; default: 0)",
        "a whole number from 0", _number(0, whole=True), ini="int",
    ),
    Option(
        "agent-isolation", "none|process",
        "process: the agent lives in a child process, which is killed on a hang and replaced after "
        "a crash (default: none)",
        "none or process", _one_of_words("none", "process"),
    ),
    Option(
        "agent-memory", "MB", "with process isolation: how much memory the agent may use",
        "a whole number of megabytes from 64", _number(64, whole=True), ini="int",
    ),
    Option(
        "agent-env", "NAME",
        "with process isolation: an environment variable that the agent may see; may be repeated",
        "a list of names", _names, ini="linelist", repeatable=True,
    ),
    Option(
        "llm", "ENTRIES", "models for agents that ask one (see docs/agents.md)",
        "a list of models, each with model, base_url, api_key …", _models, ini=None,
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
        "a list of gates", _gates, ini="linelist", repeatable=True,
    ),
    Option(
        "baseline", "RUN", "the run to compare with: a folder, its scores.json, last, or a saved name",
        "the folder of a run, its scores.json, 'last' or a saved name", _path,
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
        "a folder", _path,
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
