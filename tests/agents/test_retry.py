"""When to try again, and after how long."""

from __future__ import annotations

import pytest

from pytest_agentbench.agents.errors import AgentTimeout
from pytest_agentbench.agents.retry import backoff, is_transient


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
        (WithStatus(529), True),
        (WithStatus(400), False),
        (WithStatus(501), False),
        (ValueError(), False),
        (AgentTimeout(), False),
        (Declared(), True),
        (SystemExit(429), False),
    ],
)
def test_what_may_pass(error, transient):
    assert is_transient(error) is transient


def test_waits_double_up_to_the_longest_with_jitter():
    for attempt, most in enumerate((0.5, 1.0, 2.0, 4.0, 8.0, 8.0)):
        waits = {backoff(attempt, 0.5, 8.0) for _ in range(50)}
        assert most / 2 <= min(waits) < max(waits) <= most
