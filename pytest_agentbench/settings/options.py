"""What an option is. The list of options is the class Settings, and, for those of no run, _SESSION beside it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pytest_agentbench.base.errors import BenchmarkError, shown

if TYPE_CHECKING:
    from pytest_agentbench.benchmarks.protocol import Benchmark, Parameter


class SettingsError(BenchmarkError):
    """A wrong option, ini key or scenario key."""


def _same(value: Any) -> Any:
    return value


@dataclass(frozen=True)
class Option:
    """One option: ``--NAME``, ``--agentbench-NAME``, ini ``agentbench_NAME``, scenario ``NAME``."""

    metavar: str
    help: str
    expected: str
    # Takes a string (command line, ini) or a YAML value.
    parse: Callable[[Any], Any]
    # With hyphens, as on the command line. A field of Settings gives its option its own name.
    name: str = ""
    default: Any = None
    # The default where it depends on the benchmark.
    default_of: Callable[[Benchmark], Any] | None = None

    # Where it can be given, and how.
    ini: Literal["string", "int", "float", "bool", "linelist"] | None = "string"
    scenario: bool = True
    command_line: bool = True
    short: bool = True  # --NAME beside --agentbench-NAME
    repeatable: bool = False
    flag: bool = False  # takes no value on the command line
    optional: str | None = None  # the value where the option is given without one

    # Its value in the manifest, and the way back (by default as from YAML).
    manifest: bool = True
    to_json: Callable[[Any], Any] = _same
    from_json: Callable[[Any], Any] | None = None

    # Whether another value would ask other questions, so that --resume refuses it.
    decides_questions: bool = False
    # Whether hosts of one run may have different values: paths, and what only the controller uses.
    differs_by_host: bool = False
    # Whether it can change a score where the answers exist already: `agentbench score` takes it.
    decides_scores: bool = False

    @property
    def key(self) -> str:
        """The name as a scenario key and as a field of Settings."""
        key = self.name.replace("-", "_")
        return f"{key}s" if self.repeatable else key

    @property
    def dest(self) -> str:
        """The name as an ini key, and in pytest's namespace of options."""
        return f"agentbench_{self.name.replace('-', '_')}"

    @property
    def typed(self) -> str:
        """What is typed, with the place of its value: ``--limit N``."""
        name = f"--{self.name}" if self.short else f"--agentbench-{self.name}"
        return name if self.flag else f"{name} {self.metavar}"

    @property
    def row(self) -> str:
        """Its row in docs/reference.md."""
        typed = f"`{self.typed}`".replace("|", "&#124;") if self.command_line else ""
        ini = f"`{self.dest}`" if self.ini else ""
        key = f"`{self.key}`" if self.scenario else ""
        return f"| {typed} | {ini} | {key} | {self.help} |"

    def default_for(self, benchmark: Benchmark) -> Any:
        return self.default if self.default_of is None else self.default_of(benchmark)

    def read(self, value: Any, where: str) -> Any:
        return parsed(self.expected, self.parse, value, where)

    def from_manifest(self, settings: Mapping[str, Any], benchmark: Benchmark, file: str) -> Any:
        """The value in a manifest. One of another version may lack it."""
        value, default = settings.get(self.key), self.default_for(benchmark)
        if value is None or value == self.to_json(default):
            return default
        where = f"{file}: settings.{self.key}"
        return parsed(self.expected, self.from_json or self.parse, value, where)


def setting(option: Option) -> Any:
    """The field of Settings that holds the value of an option."""
    metadata = {"option": option}
    if option.default_of is not None:
        return dataclasses.field(metadata=metadata)
    return dataclasses.field(default=option.default, metadata=metadata)


def options_of(settings: type) -> tuple[Option, ...]:
    """The options among the fields of a class, named after them."""
    found = []
    for field in dataclasses.fields(settings):
        option = field.metadata.get("option")
        if option is not None:
            name = field.name.removesuffix("s") if option.repeatable else field.name
            found.append(dataclasses.replace(option, name=name.replace("_", "-")))
    return tuple(found)


def of_parameter(parameter: Parameter, benchmark: Benchmark) -> Option:
    """A benchmark's own parameter as an option; one without help is for scenario files alone."""
    return Option(
        "" if parameter.flag else parameter.metavar,
        f"{benchmark.name}: {parameter.help or parameter.expected}",
        parameter.expected,
        parameter.parse,
        name=parameter.name.replace("_", "-"),
        default=parameter.default,
        ini=None if parameter.help is None else "bool" if parameter.flag else "string",
        command_line=parameter.help is not None,
        flag=parameter.flag,
        decides_scores=True,
    )


def together(one: Option, other: Option) -> Option:
    """An option of two benchmarks: its help names both, if they mean the same by it."""
    names, _, text = one.help.partition(": ")
    name, _, same = other.help.partition(": ")
    return dataclasses.replace(one, help=f"{names}, {name}: {text}") if text == same else one


def parsed(expected: str, parse: Callable[[Any], Any], value: Any, where: str) -> Any:
    try:
        return parse(value)
    except (ValueError, TypeError, ArithmeticError, AttributeError, LookupError) as error:
        if "expected" in str(error):  # it says what is wrong itself, and perhaps hides a secret
            raise SettingsError(f"{where}: {error}") from None
        raise SettingsError(f"{where}: expected {expected}, got {shown(value)}") from None
