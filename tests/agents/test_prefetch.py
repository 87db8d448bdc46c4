"""Questions asked ahead of their turn."""

from __future__ import annotations

import concurrent.futures
import threading
from types import SimpleNamespace
from typing import NamedTuple

import pytest

from pytest_agentbench.agents.prefetch import Prefetch
from pytest_agentbench.agents.usage import CURRENT


class Question(NamedTuple):
    sample: int
    epoch: int


class Numbers:
    """A data set whose samples are their own indices."""

    def sample(self, index):
        return SimpleNamespace(context=index, key=f"uid[{index}]")


def prefetch(agent, numbers, concurrency):
    return Prefetch(agent, Numbers(), {n: n for n in numbers}, 0, concurrency)


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
        return n

    for n in range(1, 20):
        release[n].set()
    ahead = prefetch(slow_first, range(20), concurrency=3)
    assert [ahead.take(n).answer for n in range(1, 20)] == list(range(1, 20))
    assert 0 not in finished, "one slow call holds up nothing but itself"
    release[0].set()
    assert ahead.take(0).answer == 0
    assert most <= 3


def test_an_outcome_is_there_once_and_only_if_it_was_planned():
    asked = []
    ahead = prefetch(lambda n: asked.append(n) or n + 1, [1], concurrency=2)
    assert ahead.take(1).answer == 2
    assert (ahead.take(1), ahead.take(7)) == (None, None)
    assert asked == [1]


def test_outcomes_that_nobody_took_are_there_in_the_end():
    ahead = prefetch(lambda n: 1 // n, [0, 1, 2], concurrency=1)
    assert ahead.take(2).answer == 0
    finished = ahead.finished()
    assert isinstance(finished.pop(0).error, ZeroDivisionError)
    assert {n: outcome.answer for n, outcome in finished.items()} == {1: 1}


def test_stop_starts_no_more():
    gate = threading.Event()
    asked = []

    def wait(n):
        asked.append(n)
        gate.wait(timeout=30)
        return n

    ahead = prefetch(wait, range(10), concurrency=1)
    ahead.stop()
    gate.set()
    ahead.take(asked[0] if asked else 0)
    assert len(asked) <= 2


def test_an_outcome_may_be_awaited_before_its_question_is_asked():
    gate = threading.Event()
    ahead = prefetch(lambda n: gate.wait(timeout=30) and n, [0, 1], concurrency=1)
    taken = []
    waiting = threading.Thread(target=lambda: taken.append(ahead.take(1).answer))
    waiting.start()
    waiting.join(0.05)
    gate.set()
    waiting.join(30)
    assert taken == [1]
    assert ahead.take(0).answer == 0


def test_who_does_not_wait_long_enough_may_come_again():
    gate = threading.Event()
    ahead = prefetch(lambda n: gate.wait(timeout=30) and n, [5], concurrency=1)
    with pytest.raises(concurrent.futures.TimeoutError):
        ahead.take(5, seconds=0.01)
    assert ahead.finished() == {}
    gate.set()
    assert ahead.take(5, seconds=30).answer == 5


def test_a_call_knows_the_sample_and_the_epoch_that_it_answers():
    asked = Question(5, 3)
    ahead = Prefetch(lambda n: CURRENT.get().question, Numbers(), {4: 4, asked: 5}, 0, 1)
    assert ahead.take(4).answer == ("uid[4]", 1)
    assert ahead.take(asked).answer == ("uid[5]", 3)
