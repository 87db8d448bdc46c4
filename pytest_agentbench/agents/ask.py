"""One question to an agent, with retries, and its outcome: answer or error, time, usage, output."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from pytest_agentbench.agents.captured import Printed
from pytest_agentbench.agents.described import as_text, described
from pytest_agentbench.agents.errors import AgentTimeout, BudgetExceeded, NotProvided
from pytest_agentbench.agents.interrupts import watched
from pytest_agentbench.agents.llm.exchanges import LLMError
from pytest_agentbench.agents.usage import Usage, counting
from pytest_agentbench.base.redaction import NO_SECRETS, Secrets


@dataclass
class Outcome:
    """What came of one question."""

    answer: Any = None
    error: BaseException | None = None
    seconds: float = 0.0
    usage: Usage = field(default_factory=Usage)
    printed: Printed | None = None  # output kept apart, if the question was asked ahead of its turn


def ask(
    agent: Callable[[Any], Any],
    context: Any,
    retries: int = 0,
    secrets: Secrets = NO_SECRETS,
    question: tuple[str, int] | None = None,
) -> Outcome:
    """Calls the agent. Transient errors are retried; whatever else it raises, or a timeout, is the outcome.

    ``question``: the name of the sample and the epoch, by which a model's replies are recorded.

    SystemExit, KeyboardInterrupt and ``pytest.skip()`` are outcomes as well; a real Ctrl-C is raised. No text of the
    outcome holds one of the ``secrets``.
    """
    outcome = Outcome()
    outcome.usage.question = question
    started = time.perf_counter()

    def attempt() -> BaseException | None:
        outcome.error = outcome.usage.tick = None
        with watched() as raised:
            try:
                outcome.answer = agent(context)
            except BaseException as error:
                outcome.error = error
        if raised:  # Ctrl-C, even if the agent has caught it
            raise raised[0]
        if isinstance(outcome.error, KeyboardInterrupt):  # to raise it again would end the run
            outcome.error = as_text(outcome.error)
        return outcome.error

    with counting(outcome.usage):
        if retries:
            _again(attempt, retries, outcome.usage)
        else:
            attempt()
        # What it printed in its own process, so that pytest shows it with the sample.
        streams = (sys.stdout, sys.stderr)
        for stream, text in zip(streams, getattr(agent, "last_output", ()), strict=False):
            if text:
                stream.write(secrets.cleaned(text))
    spent = outcome.usage.counts.get("budget_exceeded")
    if spent and not isinstance(outcome.error, BudgetExceeded):
        # The agent caught it and answered or raised something else. That is not its own.
        outcome.error = BudgetExceeded("the budget is spent")
    elif outcome.usage.missing and not isinstance(outcome.error, (BudgetExceeded, NotProvided)):
        # The same: whatever came after it is made up.
        if getattr(outcome.error, "type_name", "") != NotProvided.__name__:
            outcome.usage.tick = None  # how far the agent came has nothing to do with it
        outcome.error = NotProvided("; ".join(map(str, outcome.usage.missing)))
    elif outcome.usage.unrecorded is not None and not _is_ours(outcome.error):
        outcome.error = LLMError(outcome.usage.unrecorded)
    outcome.seconds = time.perf_counter() - started
    if secrets:
        _clean(outcome, secrets)
    return outcome


def _is_ours(error: BaseException | None) -> bool:
    """Whether a replay's own error came through, or one that ends the run."""
    return isinstance(error, (BudgetExceeded, LLMError, NotProvided))


def _again(attempt: Callable[[], BaseException | None], retries: int, usage: Usage) -> None:
    import tenacity  # not for the many runs that never try again

    from pytest_agentbench.agents import retry

    rules = retry.policy(retries, retry.wait_after, lambda: usage.add(retries=1))
    tenacity.Retrying(**rules)(attempt)


def _clean(outcome: Outcome, secrets: Secrets) -> None:
    """A key in an answer is never right: what is checked and scored is the answer without it."""
    outcome.answer = secrets.cleaned_json(outcome.answer)
    usage, error = outcome.usage, outcome.error
    usage.messages = secrets.cleaned_json(usage.messages)
    usage.counts = secrets.cleaned_json(usage.counts)
    usage.missing = [
        replace(one, what=secrets.cleaned(one.what), at=secrets.cleaned(one.at))
        for one in usage.missing
    ]
    if isinstance(error, AgentTimeout):
        outcome.error = AgentTimeout(secrets.cleaned(str(error)))
    if error is None or isinstance(error, (AgentTimeout, BudgetExceeded)):
        return
    parts = described(error)
    if secrets.cleaned_json(parts) != parts:
        outcome.error = as_text(error, secrets)
