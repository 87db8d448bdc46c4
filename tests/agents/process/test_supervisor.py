"""The program between us and an agent's: it ends as that ends, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest
from processes import gone, happens, killed_parent, linux

from pytest_agentbench.agents.process import supervisor
from pytest_agentbench.agents.process.process import Process

# Starts a process that has lost its parent, in a session of its own, and says its number. Its parent waits for
# that: what is killed before it has said its number cannot be looked for.
DAEMON = """
import os, sys, time
said, tell = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        print(os.getpid(), flush=True)
        os.write(tell, b".")
        time.sleep(600)
    os.read(said, 1)
    os._exit(0)
os.wait()
"""
STAYS = "time.sleep(600)"


def python(source):
    return Process([sys.executable, "-c", source])


def line(process):
    def take(buffer):
        return bytes(buffer) if buffer.endswith(b"\n") else None

    text = process.receive(take, time.monotonic() + 30)
    process.waiting.clear()
    return text.decode().strip()


@pytest.mark.parametrize(
    ("ending", "expected"),
    [
        ("sys.exit(0)", 0),
        ("sys.exit(7)", 7),
        ("os.kill(os.getpid(), 9)", -9),
        ("os.abort()", -signal.SIGABRT),
    ],
)
def test_it_ends_as_its_program_ends(ending, expected):
    process = python(f"import os, sys; {ending}")
    process.ending()
    assert process.exit_code == expected
    process.kill()


@linux
@pytest.mark.parametrize("rest", ["", STAYS], ids=["it ends", "it is killed"])
def test_what_has_lost_its_parent_is_killed(rest):
    process = python(DAEMON + rest)
    daemon = line(process)
    if rest:
        os.kill(int(daemon), 0)
    process.kill()
    assert gone(daemon)


@linux
def test_a_crowd_is_killed(tmp_path):
    """Each of them starts two more, a few generations long."""
    process = python(
        f"""
import os, time
for generation in range(6):
    os.fork()
    if generation % 2: os.setsid() if os.getpid() != os.getsid(0) else None
open(os.path.join({str(tmp_path)!r}, str(os.getpid())), "w").close()
time.sleep(600)
"""
    )
    assert happens(lambda: len(list(tmp_path.iterdir())) == 64)
    process.kill()
    assert all(gone(path.name) for path in tmp_path.iterdir())


@linux
def test_where_the_supervisor_is_killed_its_group_is():
    process = python(f"import os, time; print(os.getpid(), flush=True); {STAYS}")
    pid = line(process)
    os.kill(process._popen.pid, signal.SIGKILL)
    process.kill()
    assert gone(pid)


KILLED = """
import sys
from pathlib import Path
from pytest_agentbench.agents.process.command import CommandAgent
from pytest_agentbench.agents.process.sandbox import IsolationOptions
isolation = IsolationOptions() if sys.argv[2] == "isolated" else None
agent = CommandAgent(f"{sys.executable} deaf.py", sys.argv[1], 600, isolation)
print(*agent(0), flush=True)
sys.stdin.read()
"""
# Does not care for the end of its input.
DEAF = """
import json, os, sys, time
sys.stdin.readline()
print(json.dumps([os.getpid(), os.environ.get("TMPDIR", "-")]), flush=True)
time.sleep(600)
"""


@linux
@pytest.mark.parametrize("way", ["isolated", "plain"])
def test_a_command_ends_when_we_are_killed(tmp_path, way):
    (tmp_path / "deaf.py").write_text(DEAF)
    with killed_parent("-c", KILLED, tmp_path, way) as (pid, folder):
        pass
    assert gone(pid)
    if way == "isolated":
        assert happens(lambda: not Path(folder).exists())


def test_a_program_that_cannot_be_started_says_so():
    process = Process([str(Path(__file__))])  # no program
    process.ending()
    assert process.exit_code == 1
    assert "could not be started" in process.output()[1]
    process.kill()


def test_orders_are_one_line_however_long():
    policy = supervisor.landlock.Policy(tuple(Path(f"/a/{n}\n") for n in range(20_000)))
    text = supervisor.orders(policy, Path("/x"))
    assert text.count(b"\n") == 1
    process = Process([sys.executable, "-c", "print(1)"], folder=None, policy=None)
    process._instruct(b"")  # nothing more is nothing
    assert line(process) == "1"
    process.kill()
