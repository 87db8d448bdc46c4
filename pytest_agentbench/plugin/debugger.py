"""``--trace``, ``--pdb`` and ``breakpoint()``: pytest's debugger, known to those who call agents."""

from __future__ import annotations

from collections.abc import Generator, Iterable
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
    """Says that somebody types, so that no time limit strikes, and where ``--trace`` is to stop."""

    def __init__(self) -> None:
        self._in_sample = False

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        self._in_sample = isinstance(item.parent, BenchmarkModule)
        try:
            return (yield)
        finally:
            if debugging.is_used():
                debugging.enter()  # the next item has a debugger of its own

    @pytest.hookimpl
    def pytest_enter_pdb(self, config: pytest.Config, pdb: Any) -> None:
        # The first one of an item under --trace is pytest's own. In a sample it would stop nowhere, because
        # the test function is not what runs.
        traced = traces(config) and self._in_sample
        debugging.enter(debugging.tracer() or pdb if traced else None)

    @pytest.hookimpl
    def pytest_unconfigure(self) -> None:
        debugging.end()
