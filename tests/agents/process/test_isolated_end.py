"""Agents that are closed or interrupted."""

from __future__ import annotations

import os
import signal
import threading

import pytest
from processes import gone, happens

from pytest_agentbench.agents.errors import AgentCrashed


def test_close_lets_the_agent_end_by_itself(isolated, tmp_path):
    agent = isolated(
        f"""
        import atexit, os
        atexit.register(lambda: open({str(tmp_path / "ended")!r}, "w").close())
        def agent(context): return os.getpid()
        """,
        cwd=tmp_path,
    )
    pid = agent(0)
    agent.close()
    assert (tmp_path / "ended").exists()
    assert gone(pid)
    agent.close()
    with pytest.raises(RuntimeError, match="the agent was closed"):
        agent(0)


# Says by a file that a call has begun.
SLEEPS = """
import time
def agent(context):
    open(context, "w").close()
    time.sleep(600 * (context == "first"))
    return context
"""


def test_close_ends_a_call_that_is_under_way(isolated, tmp_path):
    agent = isolated(SLEEPS, timeout=None, cwd=tmp_path)
    errors = []

    def ask():
        try:
            agent("first")
        except AgentCrashed as error:
            errors.append(error)

    thread = threading.Thread(target=ask)
    thread.start()
    assert happens((tmp_path / "first").exists)
    agent.close()
    thread.join(30)
    assert not thread.is_alive()
    assert len(errors) == 1


def test_an_interrupted_call_leaves_no_answer_for_the_next(isolated, tmp_path):
    agent = isolated(SLEEPS, cwd=tmp_path)

    def interrupt():
        if happens((tmp_path / "first").exists):
            os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        agent("first")
    thread.join()
    assert agent("second") == "second"
