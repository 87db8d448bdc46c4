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

_PROTOCOL = "agentbench-gates"


class GateItem(pytest.Item):
    """One gate. It is not collected: it runs when all samples have been asked."""

    failure: str | None
    is_reported = False
    # A conftest's hooks may take every item for a function.
    fixturenames: Sequence[str] = ()
    module = cls = instance = None
    funcargs: dict[str, Any]
    function: Any
    obj: Any

    @classmethod
    def make(cls, session: pytest.Session, run: str, name: str, failure: str | None) -> GateItem:
        item: GateItem = cls.from_parent(session, name=name, nodeid=f"{run}::{name}")
        item.failure = failure
        item.funcargs = {}
        item.obj = item.function = item.runtest
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
    plugins = session.config.pluginmanager
    if not plugins.has_plugin(_PROTOCOL):  # not before: every test would pay for it
        plugins.register(GateProtocol(), _PROTOCOL)
    for name, failure in gates:
        item = GateItem.make(session, run, name, failure)
        with contextlib.suppress(Exception):  # of a hook that knows no such item
            session.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        if not item.is_reported:
            GateProtocol().pytest_runtest_protocol(item)


def report_without_run(session: pytest.Session, gates: Sequence[str]) -> None:
    """Reports gates that were asked for where nothing was measured."""
    why = "not decided: no benchmark ran; give --benchmark NAME, or a test marked with @pytest.mark.agentbench"
    report(session, "agentbench", [(f"gate[{gate}]", why) for gate in gates])


class GateProtocol:
    """The hook that runs a gate. No plugin may rerun it, or look for its fixtures."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        if not isinstance(item, GateItem):
            return None
        location = {"nodeid": item.nodeid, "location": item.location}
        _tell(item, "logstart", **location)
        item.is_reported = True
        for when in ("setup", "call", "teardown"):
            _tell(item, "logreport", report=_reported(item, when))
        _tell(item, "logfinish", **location)
        return True


def _reported(item: GateItem, when: Any) -> pytest.TestReport:
    """The report of a phase. Others see the gate as a test; none of them may skip it, or decide it otherwise."""
    # After Ctrl-C pytest captures no more and refuses to. Its own setup keeps a stack of fixtures, which
    # a test that was interrupted has left as it was.
    without = ("capturemanager",) if when == "call" else ("capturemanager", "runner")
    run = _hook(item.config, f"pytest_runtest_{when}", _named(item.config, without))
    given = {"nextitem": None} if when == "teardown" else {}
    ends = (KeyboardInterrupt, pytest.exit.Exception)
    call = pytest.CallInfo.from_call(lambda: run(item=item, **given), when, reraise=ends)
    expected = "failed" if when == "call" and item.failure is not None else "passed"
    with contextlib.suppress(Exception, pytest.skip.Exception, pytest.fail.Exception):
        report = item.config.hook.pytest_runtest_makereport(item=item, call=call)
        if report.outcome == expected and not hasattr(report, "wasxfail"):
            made: pytest.TestReport = report
            return made
    alone = item.runtest if when == "call" else lambda: None
    return pytest.TestReport.from_item_and_call(item, pytest.CallInfo.from_call(alone, when))


def _tell(item: GateItem, what: str, **told: Any) -> None:
    """Tells all plugins of a gate; conftests last, for they may know collected tests only, and raise."""
    config, hook = item.config, f"pytest_runtest_{what}"
    plugins = config.pluginmanager.list_name_plugin()
    conftests = [plugin for name, plugin in plugins if Path(name).name == "conftest.py"]
    _hook(config, hook, [*_named(config, _REMEMBERING), *conftests])(**told)
    with contextlib.suppress(Exception):
        _hook(config, hook, [plugin for _, plugin in plugins if plugin not in conftests])(**told)


def _named(config: pytest.Config, names: Sequence[str]) -> list[Any]:
    found = (config.pluginmanager.getplugin(name) for name in names)
    return [plugin for plugin in found if plugin is not None]


def _hook(config: pytest.Config, name: str, without: Sequence[Any]) -> Any:
    """A hook as these plugins do not see it."""
    return config.pluginmanager.subset_hook_caller(name, without)


def _begin_line(config: pytest.Config) -> None:
    """Ends the line of dots where pytest has written ``[100%]``: of late it does so after the loop alone."""
    terminal = config.pluginmanager.getplugin("terminalreporter")
    waits = hasattr(terminal, "pytest_runtestloop")
    if terminal is not None and not waits and terminal.verbosity <= 0:
        terminal.ensure_newline()
        if not compat.shows_paths(terminal):
            terminal.write_line("")
