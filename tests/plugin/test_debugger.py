"""``--trace``, ``--pdb`` and ``breakpoint()`` stop in the agent's own code, and ``q`` ends the session."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import scripted_debugger

SHAPES = {
    "function": "def agent(context):\n    inside = 41\n    return inside\n",
    "coroutine": "async def agent(context):\n    inside = 41\n    return inside\n",
    "forward": "class Agent:\n"
    "    def __init__(self):\n        before = 1\n"
    "    def forward(self, context):\n        inside = 41\n        return inside\n",
    "forward_batch": "class Agent:\n"
    "    async def forward_batch(self, contexts):\n        inside = 41\n        return [inside]\n",
    "callable": "class Agent:\n"
    "    def __call__(self, context):\n        inside = 41\n        return inside\n",
    "workflow": "from websocietysimulator.agent import SimulationAgent\n"
    "class Agent(SimulationAgent):\n"
    "    def __init__(self, llm):\n        super().__init__(llm=llm)\n"
    "    def workflow(self):\n        inside = 41\n        return inside\n",
}
ASKS = "def agent(context):\n    inside = 41\n    breakpoint()\n    return inside\n"


@pytest.fixture
def debugged(project, monkeypatch):
    """pytest with a debugger into which these lines are typed; what was printed."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]), prepend=os.pathsep)

    def run(agent, typed, *args, own_process=False):
        project.write(agent__py=agent)
        monkeypatch.setenv(scripted_debugger.VARIABLE, typed)
        name = "agent.py:Agent" if "class Agent" in agent else "agent.py"
        given = ["--benchmark=toysum", "--limit=2", f"--agent={name}"]
        # A call with a time limit is made in a thread, which stays.
        run_pytest = project.pytest_process if own_process else project.pytest
        return run_pytest(*given, "--pdbcls=scripted_debugger:Scripted", *args).stdout.str()

    return run


@pytest.mark.parametrize("shape", SHAPES)
def test_trace_stops_at_the_first_line_of_the_agents_own_function(debugged, shape):
    """And no time limit strikes while somebody thinks."""
    typed = "p 'first', 'inside' in locals()\nn\nwait 0.1\np 'then', inside\nc\n"
    said = debugged(SHAPES[shape], typed, "--trace", "--agent-timeout=0.05")
    assert said.count("-> inside = 41") == 2, said  # one stop for each sample
    assert said.count("('first', False)") == said.count("('then', 41)") == 2
    assert "before = 1" not in said  # not in the constructor
    assert "no answer within" not in said


def test_a_traceback_under_trace_begins_with_the_agent(debugged):
    said = debugged("def agent(context):\n    raise ValueError('mine')\n", "c\n", "--trace")
    assert said.count("ValueError: mine") >= 2
    assert "bdb.py" not in said
    assert "debugging.py" not in said


def test_trace_asks_nothing_ahead(debugged):
    typed = "n\np 'then', inside\nc\n"
    assert (
        debugged(SHAPES["function"], typed, "--trace", "--concurrency=2").count("('then', 41)") == 2
    )


@pytest.mark.parametrize(
    ("word", "limit"), [("", ()), ("", ("--agent-timeout=60",)), ("async ", ())]
)
def test_pdb_stops_in_the_frame_of_the_agent_that_raised(debugged, word, limit):
    agent = f"{word}def agent(context):\n    inside = 41\n    raise ValueError('mine')\n"
    said = debugged(agent, "p 'in', inside\nq\n", "--pdb", *limit, own_process=bool(limit))
    assert said.count("-> raise ValueError('mine')") == said.count("('in', 41)") == 1, said
    assert "Quitting debugger" in said


@pytest.mark.parametrize("word", ["", "async "])
def test_no_time_limit_strikes_at_a_breakpoint(debugged, word):
    typed = "wait 0.3\np 'in', inside\nc\n"
    said = debugged(word + ASKS, typed, "--agent-timeout=0.1", own_process=not word)
    assert said.count("('in', 41)") == 2, said
    assert "no answer within" not in said


@pytest.mark.parametrize("args", [(), ("--trace",), ("--agent-timeout=60",)])
def test_quit_ends_the_session_and_not_one_sample(debugged, args):
    said = debugged(ASKS, "q\n", *args, own_process="--agent-timeout=60" in args)
    assert said.count("(Pdb)") == 1
    assert "Exit: Quitting debugger" in said


def test_an_agents_own_exit_ends_no_session(debugged):
    said = debugged(
        "import pytest\ndef agent(context):\n    pytest.exit('Quitting debugger')\n", ""
    )
    assert said.count("the agent called pytest.exit") >= 2


def test_after_the_session_time_limits_hold_again(debugged):
    assert debugged(ASKS, "c\n").count("(Pdb)") == 2
    slow = "import asyncio\nasync def agent(context):\n    await asyncio.sleep(60)\n"
    assert debugged(slow, "", "--agent-timeout=0.1").count("no answer within 0.1 s") >= 2


def test_trace_in_a_test_of_the_project_is_pytests_own(debugged, project):
    project.write(test_own__py="def test_own():\n    mine = 7\n    assert mine\n")
    said = debugged(SHAPES["function"], "n\nc\n", "--trace", "test_own.py")
    assert "-> mine = 7" in said


@pytest.mark.parametrize(
    ("agent", "given"),
    [("agent.py", "agent.py with --agent-isolation process"), ("cmd:cat", "cmd:cat")],
)
def test_trace_is_refused_where_no_debugger_can_stop(project, agent, given):
    project.write(agent__py=SHAPES["function"])
    options = [f"--agent={agent}", *(["--agent-isolation=process"] if agent == "agent.py" else [])]
    result = project.pytest("--benchmark=toysum", "--trace", *options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    said = result.stdout.str() + result.stderr.str()
    assert f"--trace: expected an agent that runs in this process, got {given}" in said


def test_somebody_who_types_sees_the_agents_frame(project):
    """The real debugger, with a real standard input."""
    project.write(agent__py=SHAPES["function"])
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--benchmark=toysum",
        "--limit=1",
        "--agent=agent.py",
    ]
    done = subprocess.run(
        [*command, "--trace"], cwd=project.path, text=True, stdout=subprocess.PIPE, timeout=60,
        input="n\np 'in', inside\nc\n",
    )  # fmt: skip
    assert "agent.py(2)agent()" in done.stdout
    assert "('in', 41)" in done.stdout
