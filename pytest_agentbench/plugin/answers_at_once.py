"""Every answer of an agent is on the controller's disk when it arrives, long before its item may be reported.

A report carries the records of a whole item, and only when its turn has come. A worker sends each answer beside
its reports, in the thread that asked, and asks no more there until the controller has written it (in the thread
that hears the worker). Until the next question it does not wait. That is the same for workers here and on other
hosts, which share no disk with the controller.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping

import pytest

from pytest_agentbench.agents.ask import Outcome
from pytest_agentbench.plugin import messages
from pytest_agentbench.runs import answers
from pytest_agentbench.runs.collector import Collector
from pytest_agentbench.runs.plan import Plan, Question
from pytest_agentbench.runs.run_progress import calls_in_flight


def keep_here(collector: Collector) -> None:
    """In the process that writes the log. Where each item has one sample, its record comes as soon."""
    plan = collector.plan
    if plan.chunk > 1 or plan.settings.concurrency > 1:
        plan.keep = collector.keep


def send_from_worker(plans: Mapping[str, Plan], config: pytest.Config) -> None:
    for plan in plans.values():
        plan.keep = _Sending(plan, config)


def wait_for(plan: Plan) -> None:
    """Before a question: on a worker, waits until the controller has the answer to the one before it."""
    if isinstance(plan.keep, _Sending):
        plan.keep.wait()


class _Sending:
    """Sends answers to the controller. It writes one while the worker checks, measures and reports it."""

    def __init__(self, plan: Plan, config: pytest.Config) -> None:
        self._plan, self._config = plan, config
        self._worker: str = config.workerinput["workerid"]  # type: ignore[attr-defined]
        self._unconfirmed: Callable[[], None] | None = None

    def __call__(self, question: Question, outcome: Outcome) -> None:
        record = answers.unchecked(self._plan, question, outcome)
        if record is None:
            return
        with self._noticing_loss():
            confirmed = messages.send(
                self._config, "answer", run=self._plan.settings.nodeid,
                sample=record.sample, epoch=record.epoch, line=record.to_json(),
                worker=self._worker, in_flight=calls_in_flight(self._plan, record),
            )  # fmt: skip
            if self._plan.asks_ahead:  # in threads, each of which asks on by itself
                confirmed()
            else:
                self._unconfirmed = confirmed

    def wait(self) -> None:
        if self._unconfirmed is not None:
            with self._noticing_loss():
                self._unconfirmed()
            self._unconfirmed = None

    @contextlib.contextmanager
    def _noticing_loss(self) -> Iterator[None]:
        try:
            yield
        except OSError:
            # The controller is gone: nobody would hear of more answers, and each may cost money.
            self._plan.stop_asking()
            raise ControllerLost("the controller is gone") from None


class ControllerLost(BaseException):
    """Ends a worker that nobody listens to any more. No handler for errors of agents catches it."""
