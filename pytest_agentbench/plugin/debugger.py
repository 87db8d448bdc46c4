"""``--trace``, ``--pdb`` and ``breakpoint()``: pytest's debugger, known to those who call agents."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from pytest_agentbench.agents import debugging, specs
from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.plugin.collection import BenchmarkModule
from pytest_agentbench.settings.settings import Settings


def traces(config: pytest.Config) -> bool:
    """Whether the debugger is to stop in every call of an agent."""
    return bool(config.getoption("trace", False))


def check(config: pytest.Config, runs: Iterable[Settings]) -> None:
    """Refuses ``--trace`` for an agent that runs where no debugger of this process can stop."""
    for one in runs if traces(config) else ():
        isolated = one.agent_isolation == "process"
        elsewhere = specs.is_endpoint(one.agent) or specs.command_of(one.agent) is not None
        if isolated or elsewhere:
            given = specs.shown(one.agent) + (" with --agent-isolation process" if isolated else "")
            raise BenchmarkError(
                f"--trace: expected an agent that runs in this process, got {given}"
            )


class DebuggerInUse:
    """Says that somebody types, so that no time limit strikes."""

    @pytest.hookimpl
    def pytest_enter_pdb(self, pdb: Any) -> None:
        debugging.enter(self.tracer(pdb))

    def tracer(self, pdb: Any) -> Any:
        return None

    @pytest.hookimpl
    def pytest_unconfigure(self) -> None:
        debugging.end()


class DebuggerOfSamples(DebuggerInUse):
    """And where ``--trace`` is to stop."""

    def __init__(self) -> None:
        self._in_sample = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> None:
        self._in_sample = isinstance(item.parent, BenchmarkModule)
        if debugging.is_used():
            debugging.enter()  # each item has a debugger of its own

    def tracer(self, pdb: Any) -> Any:
        # The first one of an item is pytest's own. In a sample it would stop nowhere, because the test
        # function is not what runs.
        return (debugging.tracer() or pdb) if self._in_sample else None
