"""Gates as tests of their own at the end of the session, so that every plugin reports them as it reports tests."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_agentbench.plugin import compat, locations

# They remember what failed, and would look for the gate as a test to collect.
_REMEMBERING = ("lfplugin", "stepwiseplugin")


class GateItem(pytest.Item):
    """One gate. It is not collected: it runs when all samples have been asked."""

    failure: str | None
    # A conftest's hooks may take every item for a function.
    fixturenames: Sequence[str] = ()
    module = cls = instance = None
    funcargs: dict[str, Any]
    function: Any

    @classmethod
    def make(cls, session: pytest.Session, run: str, name: str, failure: str | None) -> GateItem:
        item: GateItem = cls.from_parent(session, name=name, nodeid=f"{run}::{name}")
        item.failure = failure
        item.funcargs, item.function = {}, item.runtest
        return item

    def runtest(self) -> None:
        if self.failure is not None:
            pytest.fail(self.failure, pytrace=False)

    def reportinfo(self) -> tuple[Path, int, str]:
        run, gate = self.nodeid.partition("::")[0], self.name.removeprefix("gate[")[:-1]
        return *locations.of_gate(gate, run, self.config.rootpath, self.config.inipath), self.name


def report(session: pytest.Session, run: str, gates: Sequence[tuple[str, str | None]]) -> None:
    """Reports gates, each with the message of its failure, or None if it passed."""
    if gates and compat.distributed_session(session.config) is not None:
        _begin_line(session.config)
    for name, failure in gates:
        before = session.testsfailed
        item = GateItem.make(session, run, name, failure)
        try:
            session.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        except (Exception, pytest.skip.Exception, pytest.fail.Exception) as error:
            with contextlib.suppress(pytest.PytestWarning):  # where warnings are errors
                item.warn(pytest.PytestWarning(f"{item.nodeid}: {type(error).__name__}: {error}"))
        if failure is not None and session.testsfailed == before:
            # Another plugin has skipped it or passed it over.
            _log(item, _failed(item))


def report_without_run(session: pytest.Session, gates: Sequence[str]) -> None:
    """Reports gates that were asked for where nothing was measured."""
    session.config.pluginmanager.register(GateProtocol(), "agentbench-gates")
    why = "not decided: no benchmark ran; give --benchmark NAME, or a test marked with @pytest.mark.agentbench"
    report(session, "agentbench", [(f"gate[{gate}]", why) for gate in gates])


class GateProtocol:
    """The hook that runs a gate. No plugin may rerun it, or look for its fixtures."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        if not isinstance(item, GateItem):
            return None
        hook = item.config.hook
        hook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        for when in ("setup", "call", "teardown"):
            _log(item, hook.pytest_runtest_makereport(item=item, call=_called(item, when)))
        hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True


def _called(item: GateItem, when: Any) -> pytest.CallInfo[None]:
    # After Ctrl-C pytest captures no more and refuses to. Its own setup keeps a stack of fixtures, which
    # a test that was interrupted has left as it was.
    without = ("capturemanager",) if when == "call" else ("capturemanager", "runner")
    run = _hook(item.config, f"pytest_runtest_{when}", without)
    given = {"nextitem": None} if when == "teardown" else {}
    ends = (KeyboardInterrupt, pytest.exit.Exception)
    return pytest.CallInfo.from_call(lambda: run(item=item, **given), when, reraise=ends)


def _log(item: GateItem, report: pytest.TestReport) -> None:
    _hook(item.config, "pytest_runtest_logreport", _REMEMBERING)(report=report)


def _failed(item: GateItem) -> pytest.TestReport:
    call = pytest.CallInfo.from_call(item.runtest, when="call")
    return pytest.TestReport.from_item_and_call(item, call)


def _hook(config: pytest.Config, name: str, without: Sequence[str]) -> Any:
    """A hook as some plugins do not see it."""
    manager = config.pluginmanager
    plugins = [manager.getplugin(plugin) for plugin in without]
    return manager.subset_hook_caller(name, [plugin for plugin in plugins if plugin is not None])


def _begin_line(config: pytest.Config) -> None:
    """Ends the line of dots where pytest has written ``[100%]``: of late it does so after the loop alone."""
    terminal = config.pluginmanager.getplugin("terminalreporter")
    waits = hasattr(terminal, "pytest_runtestloop")
    if terminal is not None and not waits and terminal.verbosity <= 0:
        terminal.ensure_newline()
        if not compat.shows_paths(terminal):
            terminal.write_line("")
