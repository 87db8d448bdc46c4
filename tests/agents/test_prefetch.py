"""Questions asked ahead of their turn."""

from __future__ import annotations

import threading

import pytest

from pytest_agentbench.agents.ask import Outcome, ask, is_transient
from pytest_agentbench.agents.call import AgentTimeout
from pytest_agentbench.agents.errors import TransientError
from pytest_agentbench.agents.prefetch import Ahead


def test_calls_in_flight_are_bounded_and_waiting_answers_are_not():
    release = {n: threading.Event() for n in range(20)}
    in_flight, most, finished = set(), 0, []
    lock = threading.Lock()

    def slow_first(n):
        nonlocal most
        with lock:
            in_flight.add(n)
            most = max(most, len(in_flight))
        release[n].wait(timeout=30)
        with lock:
            in_flight.discard(n)
            finished.append(n)
        return Outcome(answer=n)

    for n in range(1, 20):
        release[n].set()
    ahead = Ahead(slow_first, range(20), concurrency=3)
    assert [ahead.take(n).answer for n in range(1, 20)] == list(range(1, 20))
    assert 0 not in finished, "one slow call holds up nothing but itself"
    release[0].set()
    assert ahead.take(0).answer == 0
    assert most <= 3


def test_what_was_not_planned_or_is_taken_twice_is_asked_now():
    asked = []
    ahead = Ahead(lambda n: asked.append(n) or Outcome(answer=n), [1], concurrency=2)
    assert [ahead.take(1).answer, ahead.take(1).answer, ahead.take(7).answer] == [1, 1, 7]
    assert asked == [1, 1, 7]


def test_stop_starts_no_more():
    gate = threading.Event()
    asked = []

    def wait(n):
        asked.append(n)
        gate.wait(timeout=30)
        return Outcome(answer=n)

    ahead = Ahead(wait, range(10), concurrency=1)
    ahead.stop()
    gate.set()
    ahead.take(asked[0] if asked else 0)
    assert len(asked) <= 2


class WithStatus(Exception):
    def __init__(self, status):
        self.status_code = status


class Declared(ValueError):
    transient = True


@pytest.mark.parametrize(
    ("error", "transient"),
    [
        (ConnectionResetError(), True),
        (TimeoutError(), True),
        (WithStatus(429), True),
        (WithStatus(503), True),
        (WithStatus(400), False),
        (ValueError(), False),
        (AgentTimeout(), False),
        (Declared(), True),
        (SystemExit(429), False),
    ],
)
def test_what_may_pass(error, transient):
    assert is_transient(error) is transient


def test_retries_end(monkeypatch):
    monkeypatch.setattr("pytest_agentbench.agents.ask.FIRST_PAUSE", 0.001)
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
    monkeypatch.setattr("pytest_agentbench.agents.ask.FIRST_PAUSE", 0.001)
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
