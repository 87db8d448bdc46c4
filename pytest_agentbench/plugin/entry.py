"""The pytest11 entry point: options, marks and fixtures; all else is imported when it is asked for."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from pytest_agentbench.plugin.command_line import asks_for_us
from pytest_agentbench.plugin.fixtures import agent, sample
from pytest_agentbench.settings.options import OPTIONS, Option

__all__ = ["agent", "sample"]

_GROUP = ("agentbench", "LLM agent benchmarks (pytest-agentbench)")


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    from pytest_agentbench.plugin import hookspecs

    pluginmanager.add_hookspecs(hookspecs)


def pytest_addoption(parser: pytest.Parser) -> None:
    for option in OPTIONS:
        if option.command_line:
            _add(parser, f"--agentbench-{option.name}", option)
        if option.ini is not None:
            parser.addini(option.dest, f"default of --{option.name}", option.ini, default=None)
    parser.addini(
        "agentbench_progress", "seconds between two progress lines (0: none)", "float", default=10.0
    )


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(
    early_config: pytest.Config, parser: pytest.Parser, args: list[str]
) -> Generator[None, object, object]:
    """Adds the short spellings, after the conftests: what a project calls ``--agent`` stays its own."""
    result = yield
    taken = {
        name
        for group in (*parser._groups, parser._anonymous)
        for option in group.options
        for name in option.names()
    }
    helping = early_config.known_args_namespace.help
    if helping or ("--benchmark" not in taken and asks_for_us(args, early_config)):
        for option in OPTIONS:
            if option.command_line and option.short and f"--{option.name}" not in taken:
                _add(parser, f"--{option.name}", option)
    return result


def _add(parser: pytest.Parser, flag: str, option: Option) -> None:
    kind: dict[str, Any] = {"action": "store_true"} if option.flag else {"metavar": option.metavar}
    if option.repeatable:
        kind["action"] = "append"
    if option.optional is not None:
        kind |= {"nargs": "?", "const": option.optional}
    is_other_spelling = option.short and flag.startswith("--agentbench-")
    text = f"same as --{option.name}" if is_other_spelling else option.help
    parser.getgroup(*_GROUP).addoption(flag, dest=option.dest, default=None, help=text, **kind)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "agentbench(name): feed the test's `agent` and `sample` fixtures from this benchmark",
    )
    if config.option.help or config.option.version:
        return
    args = [*(f"--agentbench-benchmark={b}" for b in config.option.agentbench_benchmark or ())]
    if asks_for_us([*args, *config.args], config):
        from pytest_agentbench.plugin import activation

        activation.activate(config)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "sample" in metafunc.fixturenames and metafunc.definition.get_closest_marker("agentbench"):
        from pytest_agentbench.plugin import activation, collection

        run = activation.run_of(metafunc.definition)
        if run is not None:
            collection.parametrize(metafunc, run)
