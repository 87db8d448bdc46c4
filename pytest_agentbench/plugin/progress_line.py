"""A line now and then in a run that takes long."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Collection

import pytest

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.plugin import compat
from pytest_agentbench.reports.summary import progress_line
from pytest_agentbench.runs.plan import Plan
from pytest_agentbench.runs.record import Record


class Progress:
    """A line now and then in a run that takes long; pytest's own dots show the rest."""

    def __init__(self, config: pytest.Config, clock: Callable[[], float] = time.monotonic) -> None:
        try:
            self._seconds = float(config.getini("agentbench_progress") or 0.0)
        except (TypeError, ValueError, pytest.UsageError) as error:
            raise BenchmarkError(
                f"{config.inipath or 'ini'}: agentbench_progress: expected a number of seconds, "
                f"got {error}"
            ) from None
        self._quiet = config.get_verbosity() < 0
        self._clock = clock
        self._last = clock()

    def show(
        self,
        plan: Plan,
        records: Collection[Record],
        expected: int,
        reporter: pytest.TerminalReporter | None,
    ) -> None:
        if reporter is None or self._quiet or not self._seconds:
            return
        if self._clock() - self._last >= self._seconds:
            self._last = self._clock()
            reporter.ensure_newline()
            reporter.write_line(progress_line(plan, records, expected))


def say(config: pytest.Config, line: str) -> None:
    """A line about long work for the person who waits; pytest captures already when data are loaded."""
    reporter = config.pluginmanager.getplugin("terminalreporter")
    with compat.capture_disabled(config):
        if reporter is None:
            sys.stderr.write(f"{line}\n")
        else:
            reporter.ensure_newline()
            reporter.write_line(line)
