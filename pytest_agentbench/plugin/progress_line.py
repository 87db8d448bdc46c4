"""Lines on the terminal while a run or its data take long."""

from __future__ import annotations

import shutil
import sys
import time
from collections import defaultdict

import pytest

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.plugin import compat
from pytest_agentbench.reports.summary import progress_lines
from pytest_agentbench.runs.collector import Collector
from pytest_agentbench.runs.record import Record
from pytest_agentbench.runs.run_progress import Pace, calls_in_flight, progress_of


class ProgressLine:
    """A line every ``agentbench_progress`` seconds: samples done, score so far, pace, what models have cost."""

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
        self._paces: defaultdict[str, Pace] = defaultdict(Pace)  # by run
        self._in_flight: dict[tuple[str, str], int] = {}  # by worker and run, as it has told last

    def heard(self, worker: str, run: str, in_flight: int) -> None:
        """A worker has told how many calls of models it has on their way. Threads that hear workers call it."""
        self._in_flight[worker, run] = in_flight

    def ended(self, worker: str) -> None:
        """A worker asks nothing more."""
        for other, run in list(self._in_flight):
            if other == worker:
                self._in_flight[worker, run] = 0

    def show(self, collector: Collector, last: Record | None) -> None:
        """A record has come, or several: shows how far the run is, if it is time to."""
        if self._quiet or not self._seconds or last is None:
            return
        now, run = time.monotonic(), collector.plan.settings.nodeid
        pace = self._paces[run]
        pace.mark(now, len(collector.records) + collector.waiting)
        if now - self._last < self._seconds:
            return
        self._last = now
        told = [number for (_, of), number in list(self._in_flight.items()) if of == run]
        in_flight = sum(told) if told else calls_in_flight(collector.plan, last)
        progress = progress_of(collector, pace.rate(now), in_flight)
        for line in progress_lines(progress, shutil.get_terminal_size().columns):
            write_line(self._config, line)


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
