"""Our options on pytest's command line and in its ini file.

``--agentbench-NAME`` and ``agentbench_NAME`` are always there; ``--NAME`` where a benchmark is asked for.
A benchmark's own parameters are there where they are used: no benchmark is imported without need.
"""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_agentbench.plugin import compat
from pytest_agentbench.settings.model_options import parted
from pytest_agentbench.settings.options import Option, of_parameter, together
from pytest_agentbench.settings.settings import OPTIONS

_GROUP = ("agentbench", "LLM agent benchmarks (pytest-agentbench)")
_PROGRESS = "agentbench_progress"
_PARAMETERS = pytest.StashKey[tuple[Option, ...]]()
_SHORT = pytest.StashKey[frozenset[str]]()
_INI_KEY = re.compile(r"^\s*(agentbench_\w+)\s*=", re.MULTILINE)


def known(config: pytest.Config) -> tuple[Option, ...]:
    """All options that this session has."""
    return (*OPTIONS, *config.stash.get(_PARAMETERS, ()))


def spellings(config: pytest.Config, name: str) -> set[str]:
    """How an option may be typed in this session; ``--NAME`` may be the project's own."""
    short = f"--{name}"
    return {f"--agentbench-{name}", *({short} if short in config.stash.get(_SHORT, ()) else ())}


def with_values(options: Iterable[Option]) -> set[str]:
    """What is typed before the value of one of these options."""
    return {
        f"--{prefix}{option.name}"
        for option in options
        if option.command_line and not option.flag
        for prefix in ("", "agentbench-")
    }


def add_always(parser: pytest.Parser) -> None:
    """Adds the options that no other plugin or conftest has."""
    _add_prefixed(parser, OPTIONS)
    parser.addini(_PROGRESS, "seconds between two progress lines (0: none)", "float", default=10.0)


def add_asked(config: pytest.Config, parser: pytest.Parser, args: Sequence[str]) -> None:
    """Adds the short spellings and the parameters of benchmarks, if the command asks for them.

    What the project and other plugins call ``--agent`` stays theirs.
    """
    helping = compat.help_is_asked(config)
    named = list(asked_for(args, config))
    taken = compat.option_names(parser) if helping or named else set()
    if "--benchmark" in taken:
        named = []
    short = bool(helping or named)
    parameters = _parameters(args, config, named, taken if short else None, helping)
    config.stash[_PARAMETERS] = parameters
    _add_prefixed(parser, parameters)
    added = [
        option
        for option in (*OPTIONS, *parameters)
        if short and option.command_line and option.short and f"--{option.name}" not in taken
    ]
    for option in added:
        _add(parser, f"--{option.name}", option)
    config.stash[_SHORT] = frozenset(f"--{option.name}" for option in added)
    if not short:
        _explain_short(parser, args)


def _explain_short(parser: pytest.Parser, args: Iterable[str]) -> None:
    """Says why pytest does not know the short spellings that it will refuse."""
    ours = {f"--{option.name}" for option in OPTIONS if option.command_line and option.short}
    used = {arg: flag for arg in args if (flag := arg.partition("=")[0]) in ours}
    unknown = set(used.values()) - compat.option_names(parser) if used else ()
    if unknown:
        text = f"{' and '.join(sorted(unknown))}: only beside --benchmark NAME"
        if any(" " in arg for arg, flag in used.items() if flag in unknown):
            raise pytest.UsageError(text)  # else pytest would look for a file of that name
        compat.explain_unknown_options(parser, text)


def asked_for(args: Sequence[str], config: pytest.Config) -> Iterator[str]:
    """The benchmarks and scenario files that the command line names: by option, path or node id."""
    for arg, following in itertools.zip_longest(args, args[1:], fillvalue=""):
        flag, _, value = arg.partition("=")
        if flag in ("--benchmark", "--agentbench-benchmark"):
            yield value or following
            continue
        where, colons, _ = arg.partition("::")
        where = parted(where)[0] if colons else where
        if where.endswith((".yaml", ".yml")):
            from pytest_agentbench.settings import scenario

            if any(scenario.is_scenario(base / where) for base in _bases(config)):
                yield where
        elif colons and not where.endswith(".py"):
            from pytest_agentbench.benchmarks import registry

            if registry.match(Path(where).name) is not None:
                yield Path(where).name


def _parameters(
    args: Sequence[str],
    config: pytest.Config,
    named: Iterable[str],
    taken: Collection[str] | None,
    every: bool,
) -> tuple[Option, ...]:
    """The options of benchmarks' parameters that the command line or the ini file uses."""
    wanted = _unknown(args, config, taken)
    if not wanted and not every:
        return ()
    found: dict[str, Option] = {}
    for benchmark in _benchmarks(named, config):
        for parameter in benchmark.parameters:
            option = of_parameter(parameter, benchmark)
            if option.command_line and (every or option.dest in wanted):
                first = found.get(option.dest)
                found[option.dest] = option if first is None else together(first, option)
        if not every and wanted <= found.keys():
            break  # what another benchmark brings along need not be imported
    return tuple(found.values())


def _unknown(args: Sequence[str], config: pytest.Config, taken: Collection[str] | None) -> set[str]:
    """What is used and may be a benchmark's parameter, as ini keys."""
    used = set(_INI_KEY.findall("\n".join(args)))  # -o KEY=VALUE
    if config.inipath is not None:
        with contextlib.suppress(OSError, UnicodeDecodeError):
            used |= set(_INI_KEY.findall(config.inipath.read_text(encoding="utf-8")))
    for arg in args:
        flag = arg.partition("=")[0]
        if flag.startswith("--agentbench-"):
            used.add(flag[2:].replace("-", "_"))
        elif taken is not None and flag.startswith("--") and flag not in taken:
            used.add(f"agentbench_{flag[2:].replace('-', '_')}")
    return used - {_PROGRESS, *(option.dest for option in OPTIONS)}


def _benchmarks(named: Iterable[str], config: pytest.Config) -> Iterator[Any]:
    """The benchmarks that the command names, then all others that are installed."""
    from pytest_agentbench.benchmarks import registry
    from pytest_agentbench.settings import scenario

    for name in dict.fromkeys((*named, *registry.available())):
        # What is wrong with it is said when it is run.
        with contextlib.suppress(Exception):
            if Path(name).suffix.lower() in scenario.SUFFIXES:
                paths = [base / name for base in _bases(config)]
                found = next(path for path in paths if path.exists())
                name = scenario.read(found).values["benchmark"]
            yield registry.get(name)


def _bases(config: pytest.Config) -> tuple[Path, Path]:
    """Where a scenario file is looked for; rootdir is where addopts are written."""
    return config.invocation_params.dir, config.rootpath


def _add_prefixed(parser: pytest.Parser, options: Iterable[Option]) -> None:
    for option in options:
        if option.command_line:
            _add(parser, f"--agentbench-{option.name}", option)
        if option.ini is not None:
            parser.addini(option.dest, f"default of --{option.name}", option.ini, default=None)


def _add(parser: pytest.Parser, flag: str, option: Option) -> None:
    kind: dict[str, Any] = {"action": "store_true"} if option.flag else {"metavar": option.metavar}
    if option.repeatable:
        kind["action"] = "append"
    if option.optional is not None:
        kind |= {"nargs": "?", "const": option.optional}
    is_other_spelling = option.short and flag.startswith("--agentbench-")
    text = f"same as --{option.name}" if is_other_spelling else option.help
    parser.getgroup(*_GROUP).addoption(flag, dest=option.dest, default=None, help=text, **kind)
