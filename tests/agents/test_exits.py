"""An agent that ends the process it shares with the run: its sample fails, and no exit code is 0."""

from __future__ import annotations

import os
import sys

import pytest

from pytest_agentbench.agents.errors import EndedByAgent
from pytest_agentbench.agents.exits import ExitGuard
from pytest_agentbench.agents.usage import Usage, counting

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs fork and exec")

ENDS = {
    "os._exit": "os._exit(0)",
    "posix._exit": "import posix; posix._exit(0)",
    "exec": "os.execvp('true', ['true'])",
    "pytest.exit": "import pytest; pytest.exit('bye', returncode=0)",
}


@pytest.fixture
def guard():
    before = os._exit, os.execv, os.execve
    guard = ExitGuard()
    guard.install()
    guard.loading = False
    yield guard
    guard.remove(0)
    assert (os._exit, os.execv, os.execve) == before


def test_in_a_call_of_the_agent_it_is_an_error(guard):
    with counting(Usage()), pytest.raises(EndedByAgent, match=r"the agent called os._exit\(0\)"):
        os._exit(0)
    with counting(Usage()), pytest.raises(EndedByAgent, match=r"the agent called os.execv"):
        os.execl("/bin/true", "true")


def test_while_it_is_imported_it_is_an_error(guard):
    guard.loading = True
    with pytest.raises(EndedByAgent):
        os._exit(0)


def test_a_forked_child_ends_as_it_likes(guard):
    child = os.fork()
    if child == 0:
        with counting(Usage()):
            os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize(("status", "code"), [(0, 0), (1, 1), (2, 2)])
def test_otherwise_the_process_ends_and_hides_no_failure(status, code):
    child = os.fork()
    if child == 0:
        guard = ExitGuard()
        guard.install()
        guard.loading = False
        guard._status = status
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == code


def test_an_agent_that_ends_the_process_fails_its_samples(project):
    lines = [f"    if c['a'] == {n}: {end}\n" for n, end in enumerate(ENDS.values())]
    project.write(
        agent__py=f"import os\ndef agent(c):\n{''.join(lines)}    return c['a'] + c['b']\n"
    )
    result = project.pytest_process("--benchmark=toysum", "--agent=agent.py", "--run-dir=out")
    assert result.ret == 1
    records = {record["sample"]: record for record in project.records(project.path / "out")}
    assert len(records) == 12
    failed = {name: one["error"] for name, one in records.items() if one["status"] == "error"}
    assert sorted(failed) == ["double[s0]", "sum[s1]", "sum[s2]", "sum[s3]"]
    for error in failed.values():
        assert error.startswith("EndedByAgent: the agent called ")


def test_an_exit_handler_of_the_agent_does_not_make_a_failed_run_pass(project):
    project.write(
        agent__py="import atexit, os\n"
        "atexit.register(lambda: os._exit(0))\n"
        "def agent(c):\n    return -1\n"
    )
    args = ("--benchmark=toysum", "--agent=agent.py", "--gate=accuracy >= 1")
    assert project.pytest_process(*args).ret == 1


@pytest.mark.parametrize("end", ["os._exit", "pytest.exit"])
def test_at_its_import_it_is_a_usage_error(project, end):
    project.write(agent__py=f"import os\n{ENDS[end]}\ndef agent(c):\n    return 1\n")
    result = project.pytest_process("--benchmark=toysum", "--agent=agent.py")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "--agent: importing" in result.stderr.str()
