"""Tracebacks begin at the agent's own frames."""

from __future__ import annotations

import traceback

import pytest
from small_city import context

from pytest_agentbench.agents.ask import ask
from pytest_agentbench.agents.call import LocalAgent
from pytest_agentbench.agents.tracebacks import from_agent, to_agent
from pytest_agentbench.city.life import Life


def fails(context):
    return 1 / context


async def fails_later(context):
    return fails(context)


@pytest.mark.parametrize("timeout", [None, 10.0])
@pytest.mark.parametrize("target", [fails, fails_later])
def test_our_frames_are_cut_off(target, timeout):
    error = ask(LocalAgent(target, timeout), 0).error
    names = [frame.name for frame in traceback.extract_tb(from_agent(error))]
    assert names == (["fails"] if target is fails else ["fails_later", "fails"])


def test_an_error_without_a_frame_of_the_agents_has_no_traceback():
    assert from_agent(ask(LocalAgent(None), 0).error) is None


def test_frames_of_ours_that_the_agent_called_can_be_cut_off():
    def lost(city):
        city.go_to(5009)

    told = context()
    life = Life(told["city"], told["profile"], told["simulation"])
    with pytest.raises(KeyError) as raised:
        lost(life)
    trace = raised.value.__traceback__
    assert len(traceback.extract_tb(trace)) > 3
    names = [frame.name for frame in traceback.extract_tb(to_agent(trace))]
    assert names == ["test_frames_of_ours_that_the_agent_called_can_be_cut_off", "lost"]
    assert to_agent(None) is None
