"""Threads that make calls, and are left behind by one that takes too long."""

from __future__ import annotations

import threading
import time
from contextvars import ContextVar

import pytest

from pytest_agentbench.agents.call_threads import CallThread, OutOfTime

VARIABLE = ContextVar("variable", default="unset")


@pytest.fixture
def thread():
    thread = CallThread()
    yield thread
    thread.end()


def test_calls_have_results_and_errors_and_the_callers_variables(thread):
    VARIABLE.set("mine")
    assert thread.call(lambda: (VARIABLE.get(), threading.current_thread().name), 60) == (
        "mine", "agentbench-agent",
    )  # fmt: skip

    def fail():
        raise SystemExit("over")

    with pytest.raises(SystemExit, match="over"):
        thread.call(fail, 60)
    assert thread.call(lambda: 1, 60) == 1


def test_a_call_that_takes_too_long_is_interrupted():
    thread = CallThread()
    stopped = threading.Event()

    def stuck():
        try:
            while True:
                time.sleep(0.001)
        finally:
            stopped.set()

    with pytest.raises(OutOfTime):
        thread.call(stuck, 0.01)
    assert stopped.wait(30)
    thread._thread.join(30)
    assert not thread._thread.is_alive()


def test_a_thread_that_is_not_needed_ends():
    thread = CallThread()
    thread.call(lambda: None, 60)
    thread.end()
    thread._thread.join(30)
    assert not thread._thread.is_alive()
