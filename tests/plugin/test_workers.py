"""What the controller does to xdist's command line and to ssh; the hosts themselves are in test_hosts."""

from __future__ import annotations

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
