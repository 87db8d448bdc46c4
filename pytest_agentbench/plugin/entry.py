"""The pytest11 entry point: options, marker, fixtures. All else is imported only if it is needed."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

import pytest

from pytest_agentbench.plugin import option_parser, typed
from pytest_agentbench.plugin.fixtures import PLAN_OF, agent, sample

if TYPE_CHECKING:
    from pytest_agentbench.runs.plan import Plan

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
    config.stash[PLAN_OF] = _plan_of
    option = config.option
    if option.help or option.version or option.markers or getattr(option, "cacheshow", None):
        return  # nothing of a benchmark is shown
    args = [*(f"--agentbench-benchmark={b}" for b in config.option.agentbench_benchmark or ())]
    asked = next(option_parser.asked_for([*args, *config.args], config), None)
    # A gate that was typed without any run must not be passed over in silence.
    if asked is not None or typed.values(config, "gate"):
        from pytest_agentbench.plugin import activation

        activation.activate(config)


def _plan_of(node: pytest.Item) -> Plan | None:
    from pytest_agentbench.plugin import activation

    return activation.plan_of(node)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "sample" in metafunc.fixturenames and metafunc.definition.get_closest_marker("agentbench"):
        from pytest_agentbench.plugin import activation

        activation.parametrize(metafunc)
