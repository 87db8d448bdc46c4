"""A user's own test that asks the agent about a sample: what it answers is recorded as in any run."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from pytest_agentbench.agents.ask import Outcome
from pytest_agentbench.benchmarks.protocol import Sample
from pytest_agentbench.plugin.asked import Asked, asked
from pytest_agentbench.plugin.collection import BenchmarkModule
from pytest_agentbench.plugin.item import (
    RECORDS,
    RUNNING,
    fail_for,
    fail_if_not_credited,
    outcome_of,
)
from pytest_agentbench.runs.evaluate import Evaluation
from pytest_agentbench.runs.plan import Question


class RecordingAgent:
    """What a marked test gets as ``agent``. In all else it is the agent that the fixture gave."""

    def __init__(self, agent: Any, item: pytest.Function, own: Asked) -> None:
        self._agent, self._item, self._own = agent, item, own
        given: Any = item.funcargs["sample"]
        samples: list[Sample] = given if isinstance(given, list) else [given]
        self._samples = dict(zip(own.questions, samples, strict=True))
        self.outcomes: dict[Question, Outcome] = {}  # of the last call for each question

    def __call__(self, context: Any) -> Any:
        """Answers. The answer to a context that is the sample's own counts as the answer to the sample."""
        __tracebackhide__ = True
        for question, sample in self._samples.items():
            if sample.context is context:
                plan = self._own.plan
                outcome = outcome_of(self._item, plan, question, sample, self._agent)
                self.outcomes[question] = outcome
                if outcome.error is not None:
                    raise outcome.error
                return outcome.answer
        return self._agent(context)

    def __getattr__(self, name: str) -> Any:
        if name == "_agent":  # in a copy that is not made yet
            raise AttributeError(name)
        return getattr(self._agent, name)

    def evaluated(self) -> Evaluation:
        """The records of what was asked, measured."""
        evaluation = Evaluation(self._own.plan.benchmark, self._own.questions[0].epoch)
        for question, outcome in self.outcomes.items():
            evaluation.add(self._samples[question], outcome)
        evaluation.measure()
        return evaluation


class MarkedTests:
    """The hook that hands a marked test an agent whose answers are kept."""

    @pytest.hookimpl(wrapper=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Generator[None, object, object]:
        __tracebackhide__ = True
        own = asked(pyfuncitem)
        if own is None or isinstance(pyfuncitem.parent, BenchmarkModule):
            return (yield)
        fail_if_not_credited(pyfuncitem, own.plan)
        given: dict[str, Any] = pyfuncitem.funcargs
        agent = RecordingAgent(given["agent"], pyfuncitem, own)
        without, given["agent"] = given["agent"], agent
        pyfuncitem.stash[RUNNING] = True
        try:
            result = yield
        finally:
            del pyfuncitem.stash[RUNNING]
            evaluation = agent.evaluated()
            pyfuncitem.stash.setdefault(RECORDS, []).append(evaluation.records)
            given["agent"] = without
        fail_for(evaluation)
        if len(agent.outcomes) < len(own.questions):
            _fail_unasked()
        return result


def _fail_unasked() -> None:
    pytest.fail(
        "the test did not ask the agent: call agent(sample.context) in the test function itself; what a "
        "fixture asks is not recorded",
        pytrace=False,
    )
