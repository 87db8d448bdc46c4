"""A whole run with a hostile agent: the data, their copies and the records of others stay unread."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import pytest

from pytest_agentbench.agents.process import landlock
from pytest_agentbench.benchmarks.daily_mobility.data import DEMO_FOLDER

# Its answer is no day of anybody: what it has found becomes the error in the record.
HOSTILE = """
import json, os, subprocess, sys
from pathlib import Path

PROJECT = Path(__file__).parent

def agent(context):
    found = set()
    for place in ("data", ".agentbench", "new", "cache", ".git"):
        for path in (PROJECT / place).rglob("*"):
            try:
                found |= {place} if path.is_file() and path.read_bytes() else set()
            except OSError:
                pass
    show = ["git", "-c", "safe.directory=*", "-C", str(PROJECT), "show", "HEAD:data/profiles.json"]
    if subprocess.run(show, capture_output=True).stdout:
        found.add("shown by git")
    helped = (PROJECT / "helper.py").read_text()
    return f"<{helped} {sorted(found)}>"

if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(agent(json.loads(line))), flush=True)
"""


@pytest.fixture
def attacked(project, monkeypatch):
    """Runs the hostile agent in a project with data under version control and an earlier run.

    It gives the header's line and what the agent has found at its second sample, when the first is logged.
    """
    monkeypatch.setenv("AGENTBENCH_CACHE", str(project.path / "cache"))
    shutil.copytree(DEMO_FOLDER, project.path / "data")
    project.write(
        hostile__py=HOSTILE,
        helper__py="helped",
        cache___humob___uids__npy="built before",
        __agentbench___runs___one___records__jsonl="an earlier run",
    )
    author = ["-c", "user.name=x", "-c", "user.email=x"]
    for command in (["init", "-q"], ["add", "data"], [*author, "commit", "-qm", "data"]):
        subprocess.run(["git", *command], cwd=project.path, check=True)

    def attacked(agent):
        result = project.pytest_process(
            "--benchmark=DailyMobility", "--dataset=data", "--limit=2", "--agent-isolation=process",
            "--run-dir=new", f"--agent={agent}",
        )  # fmt: skip
        manifest = json.loads((project.path / "new" / "manifest.json").read_text())
        header = next(line for line in result.outlines if line.startswith("confinement: "))
        assert header == f"confinement: {manifest['confinement']}"
        return header, project.records(project.path / "new")[1]["error"]

    return attacked


def without_landlock(project):
    project.write(
        conftest__py="from pytest_agentbench.agents.process import landlock\n"
        "landlock.abi = lambda: (0, 'switched off')\n"
    )


COMMAND = f"cmd:{sys.executable} hostile.py"


@pytest.mark.parametrize(
    ("kind", "agent"),
    [("landlock", "hostile.py:agent"), ("landlock", COMMAND), ("bubblewrap", "hostile.py:agent")],
    ids=["landlock-file", "landlock-command", "bubblewrap-file"],
)
def test_a_hostile_agent_gets_nothing(attacked, project, kind, agent):
    if kind == "bubblewrap":
        without_landlock(project)
    elif landlock.abi()[0] < 3:
        pytest.skip(f"Landlock: {landlock.abi()[1]}")
    header, error = attacked(agent)
    if kind == "bubblewrap" and "none" in header:
        pytest.skip(header)
    assert header.startswith(f"confinement: {kind} (")
    assert "<helped []>" in error


def test_without_confinement_the_header_says_so_and_it_finds_everything(
    attacked, project, monkeypatch
):
    without_landlock(project)
    tools = project.path / "bin"
    tools.mkdir()
    (tools / "git").symlink_to(shutil.which("git"))
    monkeypatch.setenv("PATH", str(tools))
    header, error = attacked(COMMAND)
    assert header == "confinement: none (Landlock: switched off; bubblewrap: not installed)"
    assert "<helped ['.agentbench', '.git', 'cache', 'data', 'new', 'shown by git']>" in error


@pytest.mark.usefixtures("cache_folder")
@pytest.mark.parametrize("own", [False, True], ids=["baseline", "fixture"])
def test_the_header_is_silent_where_nothing_is_confined(project, own):
    """A baseline of ours and an agent of conftest.py answer in our process."""
    project.write(agent__py="def agent(context): return 0\n")
    if own:
        project.write(
            conftest__py="import pytest\n@pytest.fixture\n"
            "def agent(): return lambda context: context['a'] + context['b']\n"
        )
    agent = ["--agent=agent.py"] if own else []
    result = project.pytest("--benchmark=toysum", "--agent-isolation=process", "--limit=1", *agent)
    assert result.ret == 0
    assert "confinement" not in result.stdout.str()
