"""One question to an agent, with retries, and its outcome: answer or error, time, usage, output."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pytest_agentbench.agents.captured import Printed
from pytest_agentbench.agents.errors import NotProvided, is_test_outcome
from pytest_agentbench.agents.llm.client import BudgetExceeded
from pytest_agentbench.agents.retry import LONGEST_WAIT, is_transient, wait_after
from pytest_agentbench.agents.usage import Usage, counting

# What an agent may raise instead of an answer. Anything else ends the run: Ctrl-C, pytest.exit().
_OUTCOMES = (Exception, SystemExit, BudgetExceeded, NotProvided)


@dataclass
class Outcome:
    """What came of one question."""

    answer: Any = None
    error: BaseException | None = None
    seconds: float = 0.0
    usage: Usage = field(default_factory=Usage)
    printed: Printed | None = None  # output kept apart, if the question was asked ahead of its turn


def ask(agent: Callable[[Any], Any], context: Any, retries: int = 0) -> Outcome:
    """Calls the agent. Transient errors are retried; every other error, or a timeout, is the outcome."""
    outcome = Outcome()
    started = time.perf_counter()
    with counting(outcome.usage):
        for attempt in range(retries + 1):
            outcome.error = None
            try:
                outcome.answer = agent(context)
            except BaseException as error:
                if not (isinstance(error, _OUTCOMES) or is_test_outcome(error)):
                    raise
                outcome.error = error
                if attempt < retries and is_transient(error):
                    wait = wait_after(error, attempt)
                    if wait <= LONGEST_WAIT:
                        outcome.usage.add(retries=1)
                        time.sleep(wait)
                        continue
            break
        # What it printed in its own process, so that pytest shows it with the sample.
        streams = (sys.stdout, sys.stderr)
        for stream, text in zip(streams, getattr(agent, "last_output", ()), strict=False):
            if text:
                stream.write(text)
    if outcome.usage.counts.get("budget_exceeded") and outcome.error is None:
        # The agent caught it and answered something else. That is not its answer.
        outcome.error = BudgetExceeded("the budget is spent")
    elif outcome.usage.missing and not isinstance(outcome.error, (BudgetExceeded, NotProvided)):
        # The same: whatever came after it is made up.
        outcome.error = NotProvided("; ".join(map(str, outcome.usage.missing)))
    outcome.seconds = time.perf_counter() - started
    return outcome
