"""Every answer of an agent is on the controller's disk when it arrives, long before its item may be reported.

A report carries the records of a whole item, and only when its turn has come. A worker sends each answer beside
its reports, in the thread that asked, and asks no more there until the controller has written it (in the thread
that hears the worker). That is the same for workers here and on other hosts, which share no disk with the controller.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from pytest_agentbench.agents.ask import Outcome
from pytest_agentbench.plugin import messages
from pytest_agentbench.runs import answers
from pytest_agentbench.runs.collector import Collector
from pytest_agentbench.runs.plan import Plan, Question


def keep_here(collector: Collector) -> None:
    """In the process that writes the log. Where each item has one sample, its record comes as soon."""
    plan = collector.plan
    if plan.chunk > 1 or plan.settings.concurrency > 1:
        plan.keep = collector.keep


def send_from_worker(plans: Mapping[str, Plan], config: pytest.Config) -> None:
    for nodeid, plan in plans.items():
        plan.keep = _sending(nodeid, plan, config)


def _sending(nodeid: str, plan: Plan, config: pytest.Config) -> Callable[[Question, Outcome], None]:
    def keep(question: Question, outcome: Outcome) -> None:
        record = answers.unchecked(plan, question, outcome)
        if record is None:
            return
        try:
            messages.send(
                config, "answer", run=nodeid,
                sample=record.sample, epoch=record.epoch, line=record.to_json(),
            )  # fmt: skip
        except OSError:
            # The controller is gone: nobody would hear of more answers, and each may cost money.
            plan.stop_asking()
            raise ControllerLost("the controller is gone") from None

    return keep


class ControllerLost(BaseException):
    """Ends a worker that nobody listens to any more. No handler for errors of agents catches it."""
