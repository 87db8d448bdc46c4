"""One question to an agent and what came of it: answer or error, time, usage, output."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pytest_agentbench.agents.call import AgentTimeout
from pytest_agentbench.agents.captured import Printed
from pytest_agentbench.agents.llm.client import BudgetExceeded
from pytest_agentbench.agents.retry import LONGEST_WAIT
from pytest_agentbench.agents.usage import CURRENT, Usage

_TRANSIENT_STATUS = {408, 425, 429, 500, 502, 503, 504, 529}
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 8.0


@dataclass
class Outcome:
    """What came of one question."""

    answer: Any = None
    error: BaseException | None = None
    seconds: float = 0.0
    usage: Usage = field(default_factory=Usage)
    printed: Printed | None = None  # output kept apart, if the question was asked ahead of its turn

    def as_answer(self, _: object) -> Outcome:
        """This outcome, whoever asks: for questions that were asked already."""
        return self


def ask(agent: Callable[[Any], Any], context: Any, retries: int = 0) -> Outcome:
    """Calls the agent; errors that may pass are tried again, others and timeouts are the outcome."""
    outcome = Outcome()
    token = CURRENT.set(outcome.usage)
    started = time.perf_counter()
    try:
        for attempt in range(retries + 1):
            outcome.error = None
            try:
                outcome.answer = agent(context)
            except (Exception, SystemExit, BudgetExceeded) as error:
                outcome.error = error
                if attempt < retries and is_transient(error):
                    wait = _wait(error, attempt)
                    if wait <= LONGEST_WAIT:
                        outcome.usage.add(retries=1)
                        time.sleep(wait)
                        continue
            break
        _print_output_of(agent)
    finally:
        CURRENT.reset(token)
    if outcome.usage.counts.get("budget_exceeded") and outcome.error is None:
        # An agent that caught it and answered something else: that is not its answer.
        outcome.error = BudgetExceeded("the budget is spent")
    outcome.seconds = time.perf_counter() - started
    return outcome


def _print_output_of(agent: Any) -> None:
    """An agent in another process printed there: here pytest can show it with the sample."""
    out, err = getattr(agent, "last_output", ("", ""))
    if out:
        sys.stdout.write(out)
    if err:
        sys.stderr.write(err)


def is_transient(error: BaseException) -> bool:
    """Whether a later try may succeed: by type, by a status, or as the error itself declares."""
    declared = getattr(error, "transient", None)
    if isinstance(declared, bool):
        return declared
    if isinstance(error, AgentTimeout) or not isinstance(error, Exception):
        return False
    if isinstance(error, (ConnectionError, TimeoutError)):
        return True
    response = getattr(error, "response", None)
    statuses = (
        getattr(error, name, None) for name in ("status", "status_code", "code")
    )  # urllib, openai and aiohttp name it differently
    return any(
        isinstance(status, int) and status in _TRANSIENT_STATUS
        for status in (*statuses, getattr(response, "status_code", None))
    )


def _wait(error: BaseException, attempt: int) -> float:
    """Longer each time, and not the same for all: calls that failed together do not return together.

    Where the other side asked for more (``retry_after``), that.
    """
    pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0**attempt) * random.uniform(0.5, 1.0)
    asked = getattr(error, "retry_after", None)
    return max(pause, asked) if isinstance(asked, (int, float)) else pause
