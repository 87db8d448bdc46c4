"""What an isolated agent prints, and what it counts."""

from __future__ import annotations

import pytest

from pytest_agentbench.agents.usage import CURRENT, Usage


def test_output_is_kept_for_each_call_and_does_not_disturb_the_answers(isolated):
    agent = isolated(
        """
        import ctypes, os, sys
        print("at import")
        def agent(context):
            print("printed", context, "é")
            os.write(1, b"raw\\n")
            ctypes.CDLL(None).write(1, b"from C\\n", 7)
            sys.stderr.write("partial")
            os.system("echo from a shell")
            return context
        """
    )
    assert agent(1) == 1
    assert agent.last_output == ("at import\nprinted 1 é\nraw\nfrom C\nfrom a shell\n", "partial")
    assert agent(2) == 2
    assert agent.last_output == ("printed 2 é\nraw\nfrom C\nfrom a shell\n", "partial")


def test_a_flood_of_output_is_cut_to_its_end(isolated):
    agent = isolated("def agent(context): print('x' * 5_000_000); print('end'); return 1")
    assert agent(0) == 1
    out = agent.last_output[0]
    assert out.endswith("xxx\nend\n")
    assert out.startswith("... (")
    assert len(out) < 70_000


def test_an_agent_that_closes_its_streams_still_answers(isolated):
    agent = isolated(
        """
        import os, sys
        def agent(context):
            sys.stdout.close(); sys.stderr = None; os.close(0)
            return "still here"
        """
    )
    assert agent(0) == "still here"


def test_reading_standard_input_finds_nothing(isolated):
    assert isolated("import sys\ndef agent(context): return sys.stdin.read()")(0) == ""


def test_usage_is_counted_here(isolated):
    agent = isolated(
        """
        from pytest_agentbench.agents.usage import CURRENT
        async def agent(context):
            CURRENT.get().add(input_tokens=context, cost=0.5)
            CURRENT.get().said("user", "hello")
            return 1
        """
    )
    usage = Usage()
    token = CURRENT.set(usage)
    try:
        agent(10)
        agent(5)
    finally:
        CURRENT.reset(token)
    assert usage.counts == {"input_tokens": 15, "cost": 1.0}
    assert usage.messages == [{"role": "user", "content": "hello"}] * 2


@pytest.mark.parametrize(
    "forged", ["-5.0", "float('nan')", "float('inf')", "-1e308", "1e308", "True", "'7'"]
)
def test_usage_that_cannot_be_is_not_counted(isolated, forged):
    """A confined agent must not make a run cheaper than it was."""
    agent = isolated(
        f"""
        from pytest_agentbench.agents.usage import CURRENT
        def agent(context):
            CURRENT.get().counts.update(cost={forged}, tokens=3)
            return 1
        """
    )
    usage = Usage()
    usage.add(cost=2.0)
    token = CURRENT.set(usage)
    try:
        agent(0)
    finally:
        CURRENT.reset(token)
    assert usage.counts == {"cost": 2.0, "tokens": 3}


def test_usage_of_another_shape_costs_no_answer(isolated):
    agent = isolated(
        """
        from pytest_agentbench.agents.process import wire
        whole = wire.encoded
        def _forged(reply, default=None):
            if "usage" in reply:
                reply = {"answer": "kept", "usage": {"counts": 5, "messages": 5, "missing": 5}}
            return whole(reply, default)
        wire.encoded = _forged
        def agent(context): return 1
        """
    )
    usage = Usage()
    token = CURRENT.set(usage)
    try:
        assert agent(0) == "kept"
    finally:
        CURRENT.reset(token)
    assert usage == Usage()
