"""Which questions each process asks ahead of their turn.

With ``--concurrency`` every process asks many questions at once; an xdist worker asks those of its
share (plugin/scheduler.py). Only workers have xdist, so that module is imported late.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import Any

import pytest

from pytest_agentbench.agents import captured
from pytest_agentbench.plugin import compat
from pytest_agentbench.plugin.asked import asked
from pytest_agentbench.plugin.collection import BenchmarkModule
from pytest_agentbench.runs.plan import Plan, Question


def is_called_off(config: pytest.Config) -> bool:
    """Whether this worker must end although items of its share are left (``-x``, Ctrl-C, budget).

    The scheduler queues one end mark behind each share. A second one comes only when the session
    must end.
    """
    queued = compat.queued(config)
    return len(queued) > 2 and not any(isinstance(one, int) for one in queued[-2:])


class AskingAhead:
    """Hooks that start to ask ahead, and that stop it at the end. Without ``--concurrency`` they are not registered."""

    def __init__(self, plans: Sequence[Plan]) -> None:
        self._plans = plans

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> Any:
        from pytest_agentbench.plugin.scheduler import SharedOut

        return SharedOut(config, log)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> None:
        """Starts with the first item: only then is it known that no conftest has another agent."""
        own = asked(item)
        if own is None or not isinstance(item, pytest.Function):
            return
        if not isinstance(item.parent, BenchmarkModule):  # a user's own test, which asks by itself
            return
        plan = own.plan
        # A submission is looked up, which takes no time.
        concurrent = plan.settings.concurrency > 1 and plan.submission is None
        if concurrent and not plan.asks_ahead and item.funcargs["agent"] is plan.agent:
            captured.install(compat.log_handlers(item.config))
            plan.ask_ahead(list(_questions_from(item, plan)))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        result = yield
        own = asked(item)
        asks_ahead = own is not None and own.plan.asks_ahead
        # Its whole share is queued: by itself, the worker would look only after the last item.
        if asks_ahead and hasattr(item.config, "workerinput") and is_called_off(item.config):
            item.session.shouldstop = "the session has ended"
        return result

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Stops asking ahead. The answers that no report has carried are on disk."""
        for plan in self._plans:
            plan.stop_asking()


def _questions_from(item: pytest.Item, plan: Plan) -> Iterator[Question]:
    """The questions of this process from an item on; none if the item is of a dead worker's share."""
    items: Sequence[pytest.Item] = item.session.items
    worker = getattr(item.config, "workerinput", None)
    if worker is not None:
        from pytest_agentbench.plugin.scheduler import share

        items = share(items, worker["workerid"], worker["workercount"])
    if item in items:
        for one in items[items.index(item) :]:
            own = asked(one)
            if own is not None and own.plan is plan and one.parent is item.parent:
                yield from own.questions
