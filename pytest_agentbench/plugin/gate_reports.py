"""Gates as test reports of their own, so that terminal, JUnit file and exit code agree."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import pytest

from pytest_agentbench.plugin import compat


def report(session: pytest.Session, nodeid: str, gates: Sequence[tuple[str, str | None]]) -> None:
    """Reports gates, each with the message of its failure, or None if it passed."""
    if not gates:
        return
    _begin_line(session.config)
    compat.count_more_tests(session, len(gates))
    hook = session.config.hook
    for name, failure in gates:
        location = (nodeid, 0, name)
        full = f"{nodeid}::{name}"
        hook.pytest_runtest_logstart(nodeid=full, location=location)
        for when in ("setup", "call", "teardown"):
            failing = failure is not None and when == "call"
            now = time.time()
            hook.pytest_runtest_logreport(
                report=pytest.TestReport(
                    full, location, {}, "failed" if failing else "passed",
                    _representation(str(failure)) if failing else None, when,
                    start=now, stop=now,
                )
            )  # fmt: skip
        hook.pytest_runtest_logfinish(nodeid=full, location=location)


def _begin_line(config: pytest.Config) -> None:
    """Ends the line of dots, or a lone ``F`` would stand after ``[100%]``."""
    terminal = config.pluginmanager.getplugin("terminalreporter")
    if terminal is not None and terminal.verbosity <= 0:
        terminal.ensure_newline()
        if not compat.shows_paths(terminal):
            terminal.write_line("")


def _representation(message: str) -> Any:
    """A failure as pytest represents it, so that its short summary has the message, too."""
    try:
        pytest.fail(message, pytrace=False)
    except pytest.fail.Exception:
        return pytest.ExceptionInfo.from_current().getrepr(style="value")
