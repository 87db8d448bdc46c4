"""Lines on the terminal while a run or its data take long."""

from __future__ import annotations

import sys
import time
from collections.abc import Collection

import pytest

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.plugin import compat
from pytest_agentbench.reports.summary import progress_line
from pytest_agentbench.runs.plan import Plan
from pytest_agentbench.runs.record import Record


class ProgressLine:
    """A line every ``agentbench_progress`` seconds, with the samples done and the score so far."""

    def __init__(self, config: pytest.Config) -> None:
        try:
            self._seconds = float(config.getini("agentbench_progress") or 0.0)
        except (TypeError, ValueError, pytest.UsageError) as error:
            raise BenchmarkError(
                f"{config.inipath or 'ini'}: agentbench_progress: expected a number of seconds, "
                f"got {error}"
            ) from None
        self._config = config
        self._quiet = config.get_verbosity() < 0
        self._last = time.monotonic()

    def show(self, plan: Plan, records: Collection[Record], expected: int) -> None:
        if self._quiet or not self._seconds or time.monotonic() - self._last < self._seconds:
            return
        self._last = time.monotonic()
        write_line(self._config, progress_line(plan, records, expected))


def say(config: pytest.Config, line: str) -> None:
    """Writes a line about long work, also while pytest captures: it does when data are loaded."""
    with compat.capture_disabled(config):
        if not write_line(config, line):
            sys.stderr.write(f"{line}\n")


def write_line(config: pytest.Config, line: str) -> bool:
    """Writes a line of its own to the terminal; False where pytest has none."""
    reporter = config.pluginmanager.getplugin("terminalreporter")
    if reporter is None:
        return False
    reporter.ensure_newline()
    reporter.write_line(line)
    return True
