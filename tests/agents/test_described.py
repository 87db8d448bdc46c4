"""Whatever an agent raises can be printed, or is replaced by text."""

from __future__ import annotations

import time

import pytest

from pytest_agentbench.agents.described import described, harmless
from pytest_agentbench.agents.errors import DayEnded, RemoteAgentError, TransientError
from pytest_agentbench.base.errors import LONGEST_TOLD


class Unprintable(ValueError):
    def __str__(self):
        raise SystemExit


class Odd(Exception):
    @property
    def transient(self):
        raise ZeroDivisionError

    status = status_code = code = retry_after = response = transient


def bomb():
    value = [1]
    for _ in range(40):
        value = [value, value]
    return value


def raised(error, cause=None):
    try:
        raise error from cause
    except BaseException as caught:
        return caught


def chain(length):
    error = None
    for number in range(length):
        error = raised(ValueError(number), error)
    return error


def loop():
    """Two that are each other's cause."""
    first, second = ValueError("first"), KeyError("second")
    first.__cause__, second.__cause__ = second, first
    return first


@pytest.mark.parametrize(
    "error",
    [ValueError("x"), KeyError(1), OSError(2, "gone"), SystemExit(3), loop(), chain(5), Odd("odd")],
    ids=repr,
)
def test_an_ordinary_error_stays_itself(error):
    assert harmless(error) is error


HOSTILE = {
    "Unprintable: <its text could not be made: SystemExit>": Unprintable(),
    "ValueError: [[[[": ValueError(bomb()),
    "KeyError: [[[[": KeyError(bomb()),
    "ValueError: ('x', <a Odd>)": ValueError("x", Odd()),
    "ValueError: xxxx": ValueError("x" * 20_000_000),
    "RuntimeError: outer": raised(RuntimeError("outer"), ValueError(bomb())),
    "ValueError: 199": chain(200),
}


@pytest.mark.parametrize("text", HOSTILE)
def test_one_that_cannot_be_printed_or_is_too_long_becomes_text(text):
    started = time.process_time()
    plain = harmless(HOSTILE[text])
    assert isinstance(plain, RemoteAgentError)
    assert str(plain).startswith(text)
    assert text.split(":")[0] in plain.traceback
    assert max(len(str(plain)), len(plain.traceback)) < 2 * LONGEST_TOLD
    assert described(plain)["message"] == plain.message
    assert time.process_time() - started < 1


def test_attributes_that_raise_are_taken_for_absent():
    told = described(raised(Odd("odd")))
    assert (told["status"], told["transient"], told["message"]) == (None, False, "odd")


def test_what_a_retry_needs_to_know_is_kept():
    told = described(raised(TransientError("busy", retry_after=1.5, status=429)))
    assert (told["status"], told["transient"], told["retry_after"]) == (429, True, 1.5)
    assert told["types"][-1] == "Exception"
    assert "busy" in told["traceback"]


def test_the_end_of_a_day_keeps_what_its_cause_says_of_a_retry():
    ended = DayEnded("tick 3", transient=True, status=503, retry_after=7.5)
    told = described(ended)
    assert (told["transient"], told["status"], told["retry_after"]) == (True, 503, 7.5)
    assert told["types"] == ["DayEnded", "Exception"]
