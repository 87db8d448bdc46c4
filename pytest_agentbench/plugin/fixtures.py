"""The fixtures ``agent`` and ``sample``. A project may define its own ``agent`` (plugin/agent_in_force.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_agentbench.benchmarks.protocol import Sample


# Finds the plan that a user's test belongs to by its marker.
PLAN_OF = pytest.StashKey["Callable[[pytest.Item], Any]"]()


def give_agent(request: pytest.FixtureRequest) -> Callable[[Any], Any]:
    """The agent named by --agent: agent(context) gives its answer, whatever its shape."""
    from pytest_agentbench.plugin import asked

    own = asked.asked(request.node)
    plan = own.plan if own is not None else request.config.stash[PLAN_OF](request.node)
    if plan is None:
        _fail_unmarked(request)
    return plan.agent


def give_sample(request: pytest.FixtureRequest) -> Sample | Sequence[Sample]:
    """One sample of the benchmark: sample.context is for the agent, sample.truth is not."""
    if not hasattr(request, "param"):
        _fail_unmarked(request)
    given: Sample | Sequence[Sample] = request.param.given()
    return given


agent = pytest.fixture(name="agent")(give_agent)
sample = pytest.fixture(name="sample")(give_sample)


def _fail_unmarked(request: pytest.FixtureRequest) -> NoReturn:
    pytest.fail(
        f"the fixture {request.fixturename!r} of pytest-agentbench needs to know the benchmark: "
        "mark the test with @pytest.mark.agentbench('NAME')",
        pytrace=False,
    )
