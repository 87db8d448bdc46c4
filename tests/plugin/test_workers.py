"""What the controller does to xdist's command line and to ssh; the hosts themselves are in test_hosts."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess

import pytest

from pytest_agentbench.plugin import workers


def test_our_options_and_their_values_become_one_word():
    args = ["--agent", "a.py", "-k", "x", "--agentbench-dataset", "d", "--resume", "-x", "t.py"]
    assert workers._joined(args) == [
        "--agent=a.py", "-k", "x", "--agentbench-dataset=d", "--resume", "-x", "t.py",
    ]  # fmt: skip
    assert workers._joined(["--mlflow", "t.py"]) == ["--mlflow", "t.py"]


def test_a_failure_is_told_by_what_stands_under_its_last_frame():
    try:
        raise KeyError("first\n  second")
    except KeyError:
        import traceback

        text = traceback.format_exc()
    assert workers._message(text) == r"KeyError: 'first\n  second'"
    assert workers._message("Not properly terminated") == "Not properly terminated"


class _Spec:
    def __init__(self, ssh: str, ssh_config: str | None = None) -> None:
        self.ssh, self.ssh_config = ssh, ssh_config


@pytest.mark.skipif(shutil.which("ssh") is None, reason="needs ssh (Debian: openssh-client)")
def test_ssh_is_told_to_notice_a_silent_host_unless_the_user_has_said_how(tmp_path):
    config = tmp_path / "config"
    config.write_text("ConnectTimeout 3\nServerAliveInterval 7\n")
    assert workers._patience(_Spec("me@host", str(config))) == ""
    config.write_text("")
    options = workers._patience(_Spec("-o ConnectTimeout=3 me@host", str(config)))
    assert options == "-o ServerAliveInterval=15 -o ServerAliveCountMax=4 "
    options = workers._patience(_Spec("me@host", str(config)))
    command = ["ssh", "-G", "-F", str(config), *options.split(), "me@host"]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    assert {"serveraliveinterval 15", "serveralivecountmax 4", "connecttimeout 15"} <= set(shown)


def test_the_controller_runs_no_code_of_the_agent(project):
    """Where it did, an exit handler of the agent's could end the session with exit code 0."""
    project.write(
        agent__py="import atexit, os\n"
        "with open('imported', 'a') as file:\n"
        "    file.write(os.environ.get('PYTEST_XDIST_WORKER', 'controller') + ' ')\n"
        "atexit.register(lambda: os._exit(0))\n"
        "def agent(c):\n    return -1\n"
    )
    args = (
        "--benchmark=toysum",
        "--agent=agent.py",
        "--gate=accuracy >= 1",
        "-n2",
        "--run-dir=out",
    )
    assert project.pytest_process(*args).ret == 1
    assert sorted((project.path / "imported").read_text().split()) == ["gw0", "gw1"]
    digest = hashlib.sha256((project.path / "agent.py").read_bytes()).hexdigest()
    manifest = json.loads((project.path / "out" / "manifest.json").read_text())
    assert manifest["agent"] == {"name": "agent.py", "digest": digest}


def test_a_mistake_in_the_agent_is_a_usage_error_and_said_once(project):
    project.write(agent__py="import nothing_of_the_kind\n")
    result = project.pytest("--benchmark=toysum", "--agent=agent.py", "-n2")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    text = result.stdout.str() + result.stderr.str()
    assert text.count("--agent: importing") == 1
    assert "INTERNALERROR" not in text


@pytest.mark.parametrize(
    "end",
    [pytest.param("os._exit(0)", marks=pytest.mark.slow), "pytest.exit('bye', returncode=0)"],
)
def test_an_agent_that_ends_its_worker_or_session_fails_its_sample(project, end):
    project.write(
        agent__py=f"import os, pytest\ndef agent(c):\n    if c['a'] == 5: {end}\n    return c['a'] + c['b']\n"
    )
    result = project.pytest("--benchmark=toysum", "--agent=agent.py", "-n2", "--run-dir=out")
    assert result.ret == 1
    assert "INTERNALERROR" not in result.stdout.str()
    status = {r["sample"]: r["status"] for r in project.records(project.path / "out")}
    assert len(status) == 12
    assert [name for name, one in status.items() if one != "ok"] == ["sum[s5]"]
