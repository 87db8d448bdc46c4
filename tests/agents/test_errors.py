"""What the errors of agents tell those who decide on a retry and those who read a record."""

from __future__ import annotations

import pickle
import traceback

import pytest

from pytest_agentbench.agents.errors import (
    AgentCrashed,
    DayEnded,
    EndedByAgent,
    NotProvided,
    RemoteAgentError,
    TransientError,
)
from pytest_agentbench.agents.retry import is_transient, wait_after


@pytest.mark.parametrize(
    ("types", "message", "text"),
    [
        (("json.decoder.JSONDecodeError", "ValueError"), "line 1", "JSONDecodeError: line 1"),
        (("KeyError",), "", "KeyError"),
        ((), "boom", "Exception: boom"),
    ],
)
def test_a_remote_error_reads_as_it_would_have_there(types, message, text):
    error = RemoteAgentError(types, message, "Traceback …")
    assert str(error) == text
    assert error.type_name == text.partition(":")[0]


@pytest.mark.parametrize("transient", [False, True])
def test_a_remote_error_is_retried_if_it_was_transient_there(transient):
    # By its name alone it would be: what the other process said counts.
    error = RemoteAgentError(("ConnectionError",), "x", "", status=503, transient=transient)
    assert is_transient(error) is transient


def test_equal_remote_errors_are_two_errors():
    one, other = (RemoteAgentError(("ValueError",), "x", "") for _ in range(2))
    assert one != other
    assert len({one, other}) == 2


def test_an_agent_may_ask_to_be_asked_again_and_when():
    error = TransientError("later", retry_after=60, status=429)
    assert (str(error), error.status) == ("later", 429)
    assert is_transient(error)
    assert wait_after(error, 0) == 60


def test_a_crash_is_not_retried():
    assert not is_transient(AgentCrashed("ended"))


@pytest.mark.parametrize("kind", [DayEnded, EndedByAgent, NotProvided])
def test_a_line_of_a_summary_begins_with_what_happened(kind):
    assert traceback.format_exception_only(kind("tick 3")) == [f"{kind.__name__}: tick 3\n"]
    again = pickle.loads(pickle.dumps(kind("tick 3")))  # as a pool of an agent's own does
    assert type(again) is kind
    assert str(again) == "tick 3"


def test_a_days_end_comes_out_of_another_process_as_it_was():
    again = pickle.loads(pickle.dumps(DayEnded("over", transient=True, status=503, retry_after=2)))
    assert (again.transient, again.status, again.retry_after) == (True, 503, 2)
