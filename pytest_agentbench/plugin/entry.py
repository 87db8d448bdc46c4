"""The pytest11 entry point: options, marker, fixtures. All else is imported only if it is needed."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from pytest_agentbench.base.lean_start import lean_start
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
    if next(option_parser.asked_for([*args, *config.args], config), None) is not None:
        with lean_start():
            from pytest_agentbench.plugin import activation

        activation.activate(config)


def _plan_of(node: pytest.Item) -> Plan | None:
    from pytest_agentbench.plugin import late_runs

    return late_runs.plan_of(node)


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
    controller = _controller(config)
    if controller is not None:
        controller.begin_loop(session)
    try:
        result = yield
    except pytest.exit.Exception as error:
        controller = _controller(config)
        if controller is not None:
            error.returncode = controller.cut_short(str(error.msg), error.returncode)
        raise
    controller = _controller(config)
    if controller is not None:
        controller.finish_loop(session)
    elif not (config.option.collectonly or hasattr(config, "workerinput")):
        gates = typed.values(config, "gate")  # those of addopts wait for a run
        if gates:
            from pytest_agentbench.plugin import gate_reports, shards

            if shards.shard_of(config) is None:  # else others may have had the samples
                gate_reports.report_without_run(session, gates)
    return result


def _controller(config: pytest.Config) -> Any:
    return config.pluginmanager.getplugin("agentbench-controller")


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
