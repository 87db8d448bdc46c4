"""The fixtures ``agent`` and ``sample``. A project may define its own ``agent`` (plugin/agent_in_force.py).

``request`` costs an item more than any other fixture: pytest makes two for each fixture that takes it. So the
samples of a run have fixtures that do without it: ``agent`` is made once, ``sample`` knows the item that runs.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_agentbench.benchmarks.protocol import Sample
    from pytest_agentbench.plugin.asked import Asked
    from pytest_agentbench.runs.plan import Plan


# Finds the plan that a user's test belongs to by its marker.
PLAN_OF = pytest.StashKey["Callable[[pytest.Item], Any]"]()
_OURS = "gives_our_agent"  # an attribute of functions


class _Running(threading.local):
    """The item of a run that this thread runs: other plugins may run items side by side."""

    asked: Asked | None = None


RUNNING = _Running()


def give_agent(request: pytest.FixtureRequest) -> Callable[[Any], Any]:
    """The agent named by --agent: agent(context) gives its answer, whatever its shape."""
    from pytest_agentbench.plugin import asked

    own = asked.asked(request.node)
    plan = own.plan if own is not None else request.config.stash[PLAN_OF](request.node)
    if plan is None:
        _fail_unmarked(request)
    return plan.agent


def agent_of(plan: Plan) -> Any:
    """The fixture ``agent`` of a run's own samples."""

    def give_agent_of_run() -> Callable[[Any], Any]:
        return plan.agent

    vars(give_agent_of_run)[_OURS] = True
    return pytest.fixture(name="agent", scope="module")(give_agent_of_run)


def gives_our_agent(function: Callable[..., Any]) -> bool:
    """Whether a fixture's function is one of ours that give the agent of a run."""
    return function is give_agent or _OURS in getattr(function, "__dict__", ())


def give_sample(request: pytest.FixtureRequest) -> Sample | Sequence[Sample]:
    """One sample of the benchmark: sample.context is for the agent, sample.truth is not."""
    if not hasattr(request, "param"):
        _fail_unmarked(request)
    given: Sample | Sequence[Sample] = request.param.given()
    return given


def give_sample_of_run() -> Sample | Sequence[Sample]:
    """One sample of the benchmark: sample.context is for the agent, sample.truth is not."""
    if RUNNING.asked is None:
        pytest.fail(
            "expected to be run by the hook pytest_runtest_protocol, got an item that a plugin runs "
            "without it: leave that plugin out (-p no:NAME)",
            pytrace=False,
        )
    return RUNNING.asked.given()


agent = pytest.fixture(name="agent")(give_agent)
sample = pytest.fixture(name="sample")(give_sample)
sample_of_run = pytest.fixture(name="sample")(give_sample_of_run)


def _fail_unmarked(request: pytest.FixtureRequest) -> NoReturn:
    pytest.fail(
        f"the fixture {request.fixturename!r} of pytest-agentbench needs to know the benchmark: "
        "mark the test with @pytest.mark.agentbench('NAME')",
        pytrace=False,
    )
