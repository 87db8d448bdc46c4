"""Questions asked ahead of their turn."""

from __future__ import annotations

import threading

from pytest_agentbench.agents.ask import Outcome
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
