"""A signal is told from an exception of the same name."""

from __future__ import annotations

import signal
import threading

import pytest

from pytest_agentbench.agents.interrupts import watched


def test_what_the_handler_of_a_signal_raised_is_noted_though_it_was_caught():
    with watched() as raised:
        with pytest.raises(KeyboardInterrupt):
            raise KeyboardInterrupt
        assert raised == []
        with pytest.raises(KeyboardInterrupt) as caught:
            signal.raise_signal(signal.SIGINT)
    assert raised == [caught.value]


@pytest.mark.parametrize("own", [signal.SIG_IGN, lambda number, frame: None])
def test_handlers_are_put_back_also_where_the_agent_has_set_others(own):
    before = signal.getsignal(signal.SIGINT)
    with watched():
        signal.signal(signal.SIGINT, own)
    assert signal.getsignal(signal.SIGINT) is before


def test_a_handler_that_raises_nothing_is_called_and_not_noted():
    called = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: called.append(number))
    try:
        with watched() as raised:
            signal.raise_signal(signal.SIGTERM)
        assert (called, raised) == ([signal.SIGTERM], [])
    finally:
        signal.signal(signal.SIGTERM, before)


def test_other_threads_have_no_signals():
    seen = []

    def work():
        with watched() as raised:
            seen.append(raised)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [[]]
