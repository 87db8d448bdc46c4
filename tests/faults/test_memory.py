"""An agent that runs out of memory costs its own sample, and says so."""

from __future__ import annotations

import contextlib
import os
import resource
import sys
import uuid
from pathlib import Path

import pytest
from faults.sessions import logged, numbers, start, write_agent

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are Linux's")

EATS = "if a == 5 and not os.path.exists(os.path.dirname(__file__) + '/mended'): print(len(b'x' * (3 << 30)))"


def check(project, process, said):
    """One sample failed with its reason, the others are there, and only that one is asked again."""
    text, _ = process.communicate(timeout=120)
    out = project.path / "out"
    assert process.returncode == 1, text
    assert logged(out) == [n for n in range(12) if n != 5]
    (failed,) = [r for r in project.records(out) if r["status"] == "error"]
    assert said in failed["error"]
    assert said in text
    numbers(project, "asked")
    (project.path / "mended").touch()
    again = project.pytest("--benchmark=toysum", "--agent=agent.py", "--resume=out")
    assert again.ret == 0
    assert numbers(project, "asked") == [5]


def test_in_a_child_with_a_limit(project):
    write_agent(project, EATS)
    options = ("--agent-isolation=process", "--agent-memory=600", "--run-dir=out")
    check(project, start(project, *options), "MemoryError")


def test_in_the_process_of_the_run_itself(project):
    """The system refuses the memory (ulimit -v); where it kills instead, see test_killed."""
    write_agent(project, EATS)
    limit = 3 << 30

    def limited():
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    check(project, start(project, "--run-dir=out", preexec_fn=limited), "MemoryError")


@pytest.fixture
def cgroup():
    """A control group of this kernel in which 400 MB are all there is, swap included."""
    place = Path("/sys/fs/cgroup/memory") / f"agentbench-{uuid.uuid4().hex}"
    try:
        place.mkdir()
        (place / "memory.limit_in_bytes").write_text(str(400 << 20))
    except OSError as error:
        pytest.skip(f"no control group can be made here: {error}")
    yield place
    with contextlib.suppress(OSError):
        place.rmdir()


def test_killed_by_the_kernel_in_a_child(project, cgroup):
    write_agent(project, EATS)

    def enter():
        (cgroup / "cgroup.procs").write_text(str(os.getpid()))

    process = start(project, "--agent-isolation=process", "--run-dir=out", preexec_fn=enter)
    check(project, process, "was killed by SIGKILL (signal 9; is the machine out of memory?)")
