"""The pytest11 entry point: options, marker, fixtures. All else is imported only if it is needed."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from pytest_agentbench.plugin import option_parser, typed
from pytest_agentbench.plugin.fixtures import agent, sample

__all__ = ["agent", "sample"]


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    from pytest_agentbench.plugin import hookspecs

    pluginmanager.add_hookspecs(hookspecs)


def pytest_addoption(parser: pytest.Parser) -> None:
    option_parser.add_always(parser)


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(
    early_config: pytest.Config, parser: pytest.Parser, args: list[str]
) -> Generator[None, object, object]:
    """Adds the other options after the conftests: what a project calls ``--agent`` stays its own."""
    result = yield
    option_parser.add_asked(early_config, parser, args)
    return result


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "agentbench(name): feed the test's `agent` and `sample` fixtures from this benchmark",
    )
    if config.option.help or config.option.version:
        return
    args = [*(f"--agentbench-benchmark={b}" for b in config.option.agentbench_benchmark or ())]
    asked = next(option_parser.asked_for([*args, *config.args], config), None)
    # A gate that was typed without any run must not be passed over in silence.
    if asked is not None or typed.values(config, "gate"):
        from pytest_agentbench.plugin import activation

        activation.activate(config)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "sample" in metafunc.fixturenames and metafunc.definition.get_closest_marker("agentbench"):
        from pytest_agentbench.plugin import activation

        activation.parametrize(metafunc)
