"""Threads that an agent leaves do not keep a session from its end, nor from its exit code."""

from __future__ import annotations

import threading

import pytest

from pytest_agentbench.agents import last_threads

AGENT = """
import threading, time
from concurrent.futures import ThreadPoolExecutor
def agent(context):
    if context["a"] == 3:
        {start}
    return context["a"] + context["b"] + {off}
"""


THREAD = 'threading.Thread(target=time.sleep, args=({},), name="left").start()'
POOL = 'ThreadPoolExecutor(1, thread_name_prefix="left").submit(time.sleep, 1000)'


@pytest.mark.parametrize(
    ("start", "off", "code", "left"),
    [
        (THREAD.format(1000), 0, 0, True),
        (POOL, "''", 1, True),
        pytest.param(THREAD.format(0.5), 0, 0, False, marks=pytest.mark.slow),
    ],
    ids=["thread", "pool", "short"],
)
def test_a_session_ends_with_its_exit_code(project, start, off, code, left):
    project.write(agent__py=AGENT.format(start=start, off=off))
    result = project.pytest_process(
        "--benchmark=toysum", "--agent=agent.py", "-q", "--max-identical-errors=0"
    )
    assert result.ret == code
    told = "agentbench: ended without threads that the agent left: left" in result.stderr.str()
    assert told == left
    assert (project.runs()[0] / "report.html").exists()


def test_nothing_happens_where_nothing_is_left():
    before = set(threading.enumerate())
    last_threads.end_without(before, lambda: 1)
    assert set(threading.enumerate()) == before
