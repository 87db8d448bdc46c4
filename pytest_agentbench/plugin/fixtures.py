"""The fixtures ``agent`` and ``sample``. A conftest.py may define its own ``agent`` instead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_agentbench.benchmarks.protocol import Sample
    from pytest_agentbench.runs.plan import Plan


@pytest.fixture
def agent(request: pytest.FixtureRequest) -> Callable[[Any], Any]:
    """The agent named by --agent: agent(context) gives its answer, whatever its shape."""
    return _plan(request).agent


@pytest.fixture
def sample(request: pytest.FixtureRequest) -> Sample | list[Sample]:
    """One sample of the benchmark: sample.context is for the agent, sample.truth is not."""
    return _plan(request).samples(request.param)


def _plan(request: pytest.FixtureRequest) -> Plan:
    from pytest_agentbench.plugin import activation

    plan = activation.plan_of(request.node)
    if plan is None:
        pytest.fail(
            f"the fixture {request.fixturename!r} of pytest-agentbench needs to know the benchmark: "
            "mark the test with @pytest.mark.agentbench('NAME')",
            pytrace=False,
        )
    return plan
