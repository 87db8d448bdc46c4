"""The pytest11 entry point: options, marker, fixtures. All else is imported only if it is needed."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

import pytest

from pytest_agentbench.plugin import option_parser
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
    if next(option_parser.asked_for([*args, *config.args], config), None) is not None:
        from pytest_agentbench.plugin import activation

        activation.activate(config)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "sample" in metafunc.fixturenames and metafunc.definition.get_closest_marker("agentbench"):
        from pytest_agentbench.plugin import late_runs

        late_runs.parametrize(metafunc)


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtestloop(session: pytest.Session) -> Generator[None, object, object]:
    """Gates are decided at the end of the loop, before the terminal writes that all is done.

    Runs may be found while the loop runs: xdist's controller hears of marked tests only then.
    """
    from pytest_agentbench.plugin import messages

    config = session.config
    config.stash[messages.LOOPING] = session
    controller = config.pluginmanager.getplugin("agentbench-controller")
    if controller is not None:
        controller.begin_loop(session)
    result = yield
    controller = config.pluginmanager.getplugin("agentbench-controller")
    if controller is not None:
        controller.finish_loop(session)
    elif config.option.agentbench_gate and not (
        config.option.collectonly or hasattr(config, "workerinput")
    ):
        from pytest_agentbench.plugin import gate_reports, shards

        if shards.shard_of(config) is None:  # else others may have had the samples
            gate_reports.report_without_run(session, config.option.agentbench_gate)
    return result


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    from pytest_agentbench.plugin import messages

    messages.hear(node)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: Any, ids: Sequence[str]) -> None:
    from pytest_agentbench.plugin import messages

    told = messages.collected(node)
    if told is not None:
        from pytest_agentbench.plugin import late_runs

        late_runs.collected(node, ids, told)
