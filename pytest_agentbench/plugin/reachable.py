"""Servers that samples will need are looked for before the first sample: an endpoint, those of the models."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.plugin.fixture_compat import fixtures_in, has_autouse
from pytest_agentbench.runs.plan import Plan


class Reachable:
    """The hook that looks, in the process that owns the terminal: after the hooks of conftests, before xdist's workers."""

    def __init__(self, plans: Sequence[Plan]) -> None:
        self._plans = plans

    @pytest.hookimpl(trylast=True)
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        if _may_be_started_later(session.config):
            return
        for plan in self._plans:
            try:
                plan.check_reachable()
            except BenchmarkError as error:
                raise pytest.UsageError(str(error)) from None


def _may_be_started_later(config: pytest.Config) -> bool:
    """Whether a fixture of a conftest may start the server when the first sample is set up."""
    conftests = (
        plugin
        for name, plugin in config.pluginmanager.list_name_plugin()
        if plugin is not None and Path(name).name == "conftest.py"
    )
    return any(has_autouse(one) or fixtures_in(one, "agent") for one in conftests)
