"""One question to an agent: what came of it, and when it is asked again."""

from __future__ import annotations

import pytest

from pytest_agentbench.agents.ask import ask
from pytest_agentbench.agents.errors import TransientError


def test_retries_end(monkeypatch):
    monkeypatch.setattr("pytest_agentbench.agents.retry.FIRST_PAUSE", 0.001)
    calls = []

    def busy(context):
        calls.append(context)
        raise ConnectionError

    outcome = ask(busy, "x", retries=3)
    assert len(calls) == 4
    assert isinstance(outcome.error, ConnectionError)
    assert outcome.usage.counts == {"retries": 3}


@pytest.mark.parametrize(
    ("asked", "calls", "slept"), [(0, 2, 0.0), (30, 2, 30.0), (121, 1, None), ("soon", 2, 0.0)]
)
def test_a_wait_that_is_asked_for_is_kept_unless_it_is_too_long(monkeypatch, asked, calls, slept):
    monkeypatch.setattr("pytest_agentbench.agents.retry.FIRST_PAUSE", 0.001)
    pauses, made = [], []
    monkeypatch.setattr("pytest_agentbench.agents.ask.time.sleep", pauses.append)

    def busy(context):
        made.append(context)
        if len(made) == 1:
            raise TransientError("later", retry_after=asked)
        return "answer"

    outcome = ask(busy, "x", retries=3)
    assert len(made) == calls
    assert pauses == ([] if slept is None else [pytest.approx(slept, abs=0.001)])
    assert outcome.answer == (None if slept is None else "answer")
