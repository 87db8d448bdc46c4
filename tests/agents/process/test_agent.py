"""What agents in processes share: one process for each call in flight, kept for later ones."""

from __future__ import annotations

import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from processes import gone

from pytest_agentbench.agents.errors import AgentCrashed, AgentTimeout
from pytest_agentbench.agents.process.agent import ProcessAgent, Unasked
from pytest_agentbench.agents.process.process import Ended, Process

PROGRAM = """
import os, sys, time
for line in sys.stdin:
    exec(line)
    print(os.getpid(), flush=True)
"""


class Lines(ProcessAgent):
    """Runs the context, a line of Python, and answers with the number of its process."""

    def _start(self, variables):
        return Process([sys.executable, "-ISc", PROGRAM])

    def _question(self, context, tools):
        return context.encode() + b"\n"

    def _exchange(self, process, question, tools, deadline):
        process.send(question)
        try:
            return int(process.receive(self._line, deadline))
        except Ended:
            text = f"it {process.ending()}"
            kind = Unasked if process.exit_code == 0 else AgentCrashed
            raise self._crashed(process, text, kind) from None

    @staticmethod
    def _line(buffer):
        whole, end, rest = bytes(buffer).partition(b"\n")
        if not end:
            return None
        buffer[:] = rest
        return whole

    def __call__(self, context="pass", timeout=None):
        process, answer = self._ask(context, timeout)
        self._give_back(process)
        return answer


def at_once(agent, folder, calls):
    """The answers to calls none of which ends before all have begun."""
    folder.mkdir()
    meet = (
        f"open(f'{folder}/{{time.time_ns()}}-{{os.getpid()}}', 'w').close(); "
        f"all(iter(lambda: time.sleep(0.01) or len(os.listdir('{folder}')) < {calls}, False))"
    )
    with ThreadPoolExecutor(calls) as pool:
        return list(pool.map(agent, [meet] * calls))


@pytest.fixture
def agent():
    agent = Lines(timeout=20.0)
    yield agent
    agent.close()


def test_calls_in_turn_share_a_process_and_calls_at_once_do_not(agent, tmp_path):
    first = agent()
    assert agent() == first
    answers = at_once(agent, tmp_path / "here", 3)
    assert len({first, *answers}) == 3  # one of them is the first one, kept


def test_a_crash_is_told_with_its_last_words_and_the_next_call_has_another_process(agent):
    first = agent()
    with pytest.raises(AgentCrashed, match=r"exit code 3; the last lines of its stderr:\nreason"):
        agent("print('reason', file=sys.stderr); sys.stderr.flush(); os._exit(3)")
    assert agent.last_output == ("", "reason\n")
    assert agent() != first
    assert agent.last_output == ("", "")


def test_a_call_that_takes_too_long_ends_its_process(agent):
    first = agent()
    started = time.monotonic()
    with pytest.raises(AgentTimeout, match=r"no answer within 0.2 s"):
        agent("time.sleep(600)", timeout=0.2)
    assert time.monotonic() - started < 20
    assert gone(first)
    assert agent() != first


def test_a_kept_process_that_has_ended_meanwhile_is_replaced_unnoticed(agent):
    first = agent()
    os.kill(first, 9)
    assert gone(first)
    assert agent() != first


def test_a_process_that_was_asked_before_and_missed_the_question_is_replaced_a_fresh_one_is_not(
    agent, tmp_path
):
    once = f"os.path.exists('{tmp_path}/x') or (open('{tmp_path}/x', 'w').close(), os._exit(0))"
    with pytest.raises(Unasked, match="exit code 0"):
        agent(once)
    (tmp_path / "x").unlink()
    first = agent()
    assert agent(once) != first


def test_closing_ends_every_process_and_the_agent_answers_no_more(agent, tmp_path):
    pids = set(at_once(agent, tmp_path / "here", 2))
    agent.close()
    assert len(pids) == 2
    assert all(gone(pid) for pid in pids)
    with pytest.raises(RuntimeError, match="make another one"):
        agent()
