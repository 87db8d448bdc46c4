"""What goes wrong in an agent's process harms one call."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from processes import gone, happens, killed_parent, linux

from pytest_agentbench.agents.errors import AgentCrashed, AgentTimeout, RemoteAgentError
from pytest_agentbench.agents.process.isolated import IsolatedAgent
from pytest_agentbench.agents.process.process import Process


def test_an_exception_comes_back_with_its_type_message_and_traceback(isolated):
    agent = isolated(
        """
        import json
        def _helper(text): return json.loads(text)
        async def agent(context): return _helper(context)
        """
    )
    with pytest.raises(RemoteAgentError) as caught:
        agent("{")
    error = caught.value
    assert str(error).startswith("JSONDecodeError: Expecting property name")
    assert error.types[:2] == ("json.decoder.JSONDecodeError", "ValueError")
    assert 'agent.py", line 3, in _helper' in error.traceback
    assert "pytest_agentbench" not in error.traceback
    assert not error.transient
    assert agent("[1]") == [1]


RAISES = """
from pytest_agentbench.agents.errors import TransientError
class Status(Exception):
    status_code = 429
raise """


@pytest.mark.parametrize(
    ("kind", "transient", "status", "retry_after"),
    [
        ("TransientError('later', retry_after=3)", True, None, 3),
        ("ConnectionResetError()", True, None, None),
        ("Status('slow down')", True, 429, None),
        ("ValueError('no')", False, None, None),
    ],
)
def test_an_error_that_may_pass_is_known_as_such(runs, kind, transient, status, retry_after):
    with pytest.raises(RemoteAgentError) as caught:
        runs(RAISES + kind)
    error = caught.value
    assert (error.transient, error.status, error.retry_after) == (transient, status, retry_after)


@pytest.mark.parametrize(
    ("act", "said"),
    [
        ("sys.exit(3)", "SystemExit: 3"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("raise Odd", "Odd: <its text could not be made: ZeroDivisionError>"),
        ("_deep(1)", "RecursionError: maximum recursion depth exceeded"),
    ],
)
def test_whatever_is_raised_the_child_lives_on(runs, act, said):
    pid = runs("")
    with pytest.raises(RemoteAgentError) as caught:
        runs(
            f"""
            class Odd(Exception):
                def __str__(self): return 1 / 0
            def _deep(n): return _deep(n + 1) + 1
            {act}
            """
        )
    assert str(caught.value).startswith(said)
    assert runs("") == pid


CRASHES = {
    "segfault": (
        "ctypes.string_at(1)",
        r"killed by SIGSEGV \(signal 11\)[\s\S]*in string_at",
    ),
    "exit": (
        "print('bye', file=sys.stderr); os._exit(7)",
        r"ended with exit code 7 instead of answering[\s\S]*bye",
    ),
    "exit 0": ("os._exit(0)", "ended with exit code 0 instead of answering"),
    "kill": (
        "os.kill(os.getpid(), 9)",
        r"killed by SIGKILL \(signal 9; is the machine out of memory",
    ),
    "abort": ("os.abort()", r"killed by SIGABRT"),
    "closed": (
        "os.closerange(3, 99)",
        r"ended with exit code 1 instead of answering[\s\S]*Bad file descriptor",
    ),
}


@pytest.mark.parametrize(("act", "said"), CRASHES.values(), ids=CRASHES)
def test_a_crash_fails_one_call_and_the_next_has_a_new_child(runs, act, said):
    pid = runs("")
    with pytest.raises(AgentCrashed, match=rf"the agent's process (was |){said}"):
        runs(f"print('working'); {act}")
    assert runs.agent.last_output[0] == "working\n"
    assert gone(pid)
    assert runs("") != pid


def test_a_child_that_died_between_calls_is_replaced_unnoticed(isolated):
    agent = isolated("import os\ndef agent(context): return os.getpid()")
    pid = agent(0)
    os.kill(pid, signal.SIGKILL)
    assert gone(pid)
    assert agent(0) != pid


@linux
def test_a_child_that_is_killed_before_it_reads_the_question_is_replaced_unnoticed(
    isolated, monkeypatch
):
    agent = isolated("import os\ndef agent(context): return os.getpid()")
    pid = agent(0)
    send = Process.send

    def send_and_kill(process, data):
        send(process, data)
        monkeypatch.undo()
        os.kill(pid, signal.SIGKILL)

    os.kill(pid, signal.SIGSTOP)
    monkeypatch.setattr(Process, "send", send_and_kill)
    assert agent(0) != pid


def test_a_new_child_that_is_killed_before_it_reads_is_a_crash(isolated, monkeypatch):
    agent = isolated("def agent(context): return 1")
    monkeypatch.setattr(IsolatedAgent, "_exchange", _kill_and(IsolatedAgent._exchange))
    with pytest.raises(AgentCrashed, match="killed by SIGKILL"):
        agent(0)


def _kill_and(exchange):
    def killing(self, child, *rest):
        child.strike()
        child._popen.wait()
        return exchange(self, child, *rest)

    return killing


@linux
def test_memory_is_limited_and_a_child_that_ran_out_is_replaced(isolated):
    agent = isolated(
        """
        import os
        def agent(context):
            return len(bytearray(context)) and os.getpid()
        """,
        memory=400 << 20,
    )
    pid = agent(1 << 20)
    with pytest.raises(RemoteAgentError, match="MemoryError"):
        agent(600 << 20)
    other = agent(1 << 20)
    assert other != pid


@linux
def test_memory_that_runs_out_little_by_little_is_contained_too(isolated):
    agent = isolated(
        """
        kept = []
        def agent(context):
            while context: kept.append(bytes(100_000)); kept.append([0] * 50)
            return len(kept)
        """,
        memory=300 << 20,
    )
    with pytest.raises((RemoteAgentError, AgentCrashed)):
        agent(1)
    assert agent(0) == 0


HANGS = {
    "regex": "re.match(r'(a+)+$', 'a' * 64 + 'b')",  # C code that holds the interpreter's lock
    "sleep": "signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32)); time.sleep(600)",
    "python": "while True: pass",
    "catches": "while True:\n  try: time.sleep(1)\n  except BaseException: pass",
}


@pytest.mark.parametrize("act", HANGS.values(), ids=HANGS)
def test_a_hang_is_killed_and_the_next_call_has_a_new_child(runs, act):
    pid = runs("")
    with pytest.raises(AgentTimeout, match=r"no answer within 1 s"):
        runs(f"print('before')\n{act}", timeout=1.0)
    assert runs.agent.last_output == ("before\n", "")
    assert gone(pid)
    assert runs("") != pid


def test_what_the_agent_started_ends_with_it(isolated):
    agent = isolated(
        """
        import os, subprocess
        def agent(context):
            helper = subprocess.Popen(["sleep", "600"])
            if context: os._exit(1)
            return helper.pid
        """
    )
    pid = agent(0)
    with pytest.raises(AgentCrashed):
        agent(1)
    assert gone(pid)


KILLED_PARENT = """
import sys
from pathlib import Path
from pytest_agentbench.agents.process.isolated import IsolatedAgent
agent = IsolatedAgent("agent.py", [Path(sys.argv[1])], timeout=600)
print(*agent("begin"), flush=True)
if sys.argv[2] == "idle":
    sys.stdin.read()
agent(sys.argv[2])
"""
LEAVES_FILES = """
import os, time
from pathlib import Path
def agent(context):
    for number in range(400):
        Path(str(number)).touch()
    while context == "writes":
        Path(str(number := number + 1)).touch()
    time.sleep(600 * (context == "sleeps"))
    return [os.getpid(), os.getcwd()]
"""


@linux
@pytest.mark.parametrize("state", ["idle", "sleeps", "writes"])
def test_the_child_ends_when_its_parent_is_killed_and_leaves_no_files(tmp_path, state):
    (tmp_path / "agent.py").write_text(LEAVES_FILES)
    with killed_parent("-c", KILLED_PARENT, tmp_path, state) as (pid, folder):
        if state == "writes":
            assert happens(Path(folder, "500").exists)
    assert gone(pid)
    assert happens(lambda: not Path(folder).exists())


FORGERIES = {
    "not a frame": "b'hello, this is not a frame at all'",
    "not JSON": "b'\\x00\\x00\\x00\\x03{{{'",
    "not an object": "b'\\x00\\x00\\x00\\x02[]'",
    "huge": "b'\\xff\\xff\\xff\\xff'",
    "nested": "struct.pack('>I', 200_000) + b'[' * 200_000",
}


@pytest.mark.parametrize("data", FORGERIES.values(), ids=FORGERIES)
def test_bytes_that_an_agent_forges_end_its_child_only(runs, data):
    with pytest.raises(
        AgentCrashed, match="the agent's process wrote to the connection of its parent"
    ):
        runs(
            f"""
            for fd in os.listdir("/dev/fd"):
                try:
                    if stat.S_ISSOCK(os.fstat(int(fd)).st_mode): os.write(int(fd), {data})
                except OSError: pass
            time.sleep(60)
            """
        )
    assert runs("answer = 'fine'") == "fine"
