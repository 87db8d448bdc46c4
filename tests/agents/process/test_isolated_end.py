"""Agents that are closed or interrupted."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest
from processes import gone

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


def test_close_ends_a_call_that_is_under_way(isolated):
    agent = isolated("import time\ndef agent(context): time.sleep(600)", timeout=None)
    errors = []

    def ask():
        try:
            agent(0)
        except AgentCrashed as error:
            errors.append(error)

    agent.start()
    thread = threading.Thread(target=ask)
    thread.start()
    time.sleep(0.3)
    agent.close()
    thread.join(10)
    assert not thread.is_alive()
    assert len(errors) == 1


def test_an_interrupted_call_leaves_no_answer_for_the_next(isolated):
    source = "import time\ndef agent(context): time.sleep(5 * (context == 'first')); return context"
    agent = isolated(source)
    agent.start()
    timer = threading.Timer(0.15, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        agent("first")
    timer.join()
    assert agent("second") == "second"
