"""One question to an agent: what came of it, and when it is asked again."""

from __future__ import annotations

import signal

import pytest

from pytest_agentbench.agents.ask import ask
from pytest_agentbench.agents.errors import (
    AgentTimeout,
    NotProvided,
    RemoteAgentError,
    TransientError,
)
from pytest_agentbench.agents.missing import refuse
from pytest_agentbench.agents.usage import CURRENT, Tick
from pytest_agentbench.base.redaction import Secrets


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


class Own(BaseException):
    pass


@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt, GeneratorExit, Own])
def test_whatever_an_agent_raises_is_the_outcome(kind):
    def agent(context):
        raise kind("mine")

    error = ask(agent, "x").error
    assert isinstance(error, RemoteAgentError if kind is KeyboardInterrupt else kind)
    assert "mine" in str(error)


def test_a_signal_ends_the_run_though_the_agent_catches_it():
    def agent(context):
        try:
            signal.raise_signal(signal.SIGINT)
        except BaseException:
            return "a constant"

    with pytest.raises(KeyboardInterrupt):
        ask(agent, "x")


def test_an_agent_that_skips_has_not_answered():
    outcome = ask(lambda context: pytest.skip("not today"), "x")
    assert isinstance(outcome.error, pytest.skip.Exception)


def test_secrets_do_not_leave_with_a_timeout():
    def slow(context):
        raise AgentTimeout("no answer to sk-secret-key within 1 s")

    outcome = ask(slow, "x", secrets=Secrets(["sk-secret-key"]))
    assert isinstance(outcome.error, AgentTimeout)
    assert "sk-secret" not in str(outcome.error)
    assert str(outcome.error).endswith("within 1 s")


def test_a_try_that_came_nowhere_does_not_have_the_tick_of_the_one_before(monkeypatch):
    monkeypatch.setattr("pytest_agentbench.agents.retry.FIRST_PAUSE", 0.001)
    tries = []

    def agent(context):
        tries.append(1)
        if len(tries) == 1:
            CURRENT.get().begin(Tick(5, 0, 0))
        raise ConnectionError

    assert ask(agent, "x", retries=1).usage.tick is None
    assert len(tries) == 2


@pytest.mark.parametrize("caught", [False, True])
def test_what_was_not_there_is_told_with_the_tick_at_which_it_ended_the_day(caught):
    def agent(context):
        CURRENT.get().begin(Tick(5, 0, 0))
        try:
            refuse("a map", "install one")
        except NotProvided:
            if not caught:
                raise
            CURRENT.get().begin(Tick(100, 0, 0))  # it lived on

    outcome = ask(agent, "x")
    assert isinstance(outcome.error, NotProvided)
    assert outcome.usage.tick == (None if caught else Tick(5, 0, 0))


def test_the_same_of_another_process_is_told_with_its_tick():
    def agent(context):
        CURRENT.get().begin(Tick(5, 0, 0))
        try:
            refuse("a map", "install one")
        except NotProvided:
            raise RemoteAgentError(("NotProvided",), "a map", "") from None

    outcome = ask(agent, "x")
    assert isinstance(outcome.error, NotProvided)
    assert outcome.usage.tick == Tick(5, 0, 0)
