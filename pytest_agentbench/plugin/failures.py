"""Samples of a run that failed in the same way are shown once, with how many more there are.

Only what the terminal prints at the end is folded, and not with ``-vv``. Every report stays what it is.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence

import pytest

from pytest_agentbench.runs.alike import kind_of
from pytest_agentbench.runs.record import Record

_LEAST = 3  # so many failures alike are folded: two take no more lines than one and what is said of the other
_NAMED = 3
_KIND = "agentbench_failure"


def mark(report: pytest.TestReport, run: str, records: Sequence[Record]) -> None:
    """Notes on a failed report in which way its samples failed, if that is one and the same."""
    kinds = (
        {kind_of(record) for record in records if record.status != "ok"} if report.failed else ()
    )
    if len(kinds) == 1 and None not in kinds:
        setattr(report, _KIND, (run, *kinds))


class FoldedFailures:
    """Around the terminal's own hook, which prints failures before all others, and short lines after them."""

    def __init__(self) -> None:
        self.failed: list[pytest.TestReport] = []  # the terminal's
        self._groups: list[list[pytest.TestReport]] = []
        self._every: list[pytest.TestReport] = []

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter
    ) -> Generator[None, object, object]:
        if terminalreporter.verbosity >= 2:
            return (yield)
        self._look_at(terminalreporter)
        self.fold()
        for group in self._groups:
            group[0].sections.append((_more(group), _names(group)))
        try:
            result = yield
        finally:
            self.unfold()
            for group in self._groups:
                group[0].sections.pop()
        if terminalreporter.hasopt("f"):
            for group in self._groups:
                terminalreporter.write_line(f"… {_more(group)} as {group[0].nodeid}")
        return result

    def _look_at(self, terminalreporter: pytest.TerminalReporter) -> None:
        self.failed = terminalreporter.stats.get("failed", [])
        self._every = list(self.failed)
        by_kind: dict[object, list[pytest.TestReport]] = {}
        for report in self._every:
            if hasattr(report, _KIND):
                by_kind.setdefault(getattr(report, _KIND), []).append(report)
        self._groups = [group for group in by_kind.values() if len(group) >= _LEAST]

    def fold(self) -> None:
        left_out = {id(report) for group in self._groups for report in group[1:]}
        self.failed[:] = [report for report in self._every if id(report) not in left_out]

    def unfold(self) -> None:
        self.failed[:] = self._every


class WholeFailures:
    """Within the terminal's own hook: whoever else sums up sees every failure."""

    def __init__(self, folded: FoldedFailures) -> None:
        self._folded = folded

    @pytest.hookimpl(wrapper=True, trylast=True)
    def pytest_terminal_summary(self) -> Generator[None, object, object]:
        self._folded.unfold()
        try:
            return (yield)
        finally:
            self._folded.fold()


def register(config: pytest.Config) -> None:
    folded = FoldedFailures()
    config.pluginmanager.register(folded, "agentbench-folded-failures")
    config.pluginmanager.register(WholeFailures(folded), "agentbench-whole-failures")


def _more(group: Sequence[pytest.TestReport]) -> str:
    return f"and {len(group) - 1} more failed in the same way"


def _names(group: Sequence[pytest.TestReport]) -> str:
    names = [report.nodeid.rpartition("::")[2] for report in group[1 : 1 + _NAMED]]
    return ", ".join(names) + (" …" if len(group) > 1 + _NAMED else "")
