"""The fixtures ``agent`` and ``sample``. A project may define its own ``agent`` (plugin/agent_in_force.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_agentbench.benchmarks.protocol import Sample
    from pytest_agentbench.runs.plan import Plan


# Finds the plan that a test belongs to: by its module, or by its marker.
PLAN_OF = pytest.StashKey["Callable[[pytest.Item], Plan | None]"]()


def give_agent(request: pytest.FixtureRequest) -> Callable[[Any], Any]:
    """The agent named by --agent: agent(context) gives its answer, whatever its shape."""
    return _plan(request).agent


def give_sample(request: pytest.FixtureRequest) -> Sample | list[Sample]:
    """One sample of the benchmark: sample.context is for the agent, sample.truth is not."""
    return _plan(request).samples(request.param)


agent = pytest.fixture(name="agent")(give_agent)
sample = pytest.fixture(name="sample")(give_sample)


def _plan(request: pytest.FixtureRequest) -> Plan:
    plan = request.config.stash[PLAN_OF](request.node)
    if plan is None:
        pytest.fail(
            f"the fixture {request.fixturename!r} of pytest-agentbench needs to know the benchmark: "
            "mark the test with @pytest.mark.agentbench('NAME')",
            pytrace=False,
        )
    return plan
