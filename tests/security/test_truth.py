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
    for place in ("data", ".agentbench", "new", "cache", ".git", "old", "../elsewhere"):
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
        old___deep___manifest__json="{}",
        old___deep___scores__json="of an earlier --run-dir",
    )
    elsewhere = project.path.parent / "elsewhere"
    elsewhere.mkdir(exist_ok=True)
    (elsewhere / "report.html").write_text("of an earlier --run-dir outside the project")
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
    assert (
        "<helped ['../elsewhere', '.agentbench', '.git', 'cache', 'data', 'new', 'old', 'shown by git']>"
        in error
    )


@pytest.mark.usefixtures("cache_folder")
@pytest.mark.parametrize("own", [False, True], ids=["baseline", "fixture"])
def test_the_header_is_silent_where_nothing_is_confined(project, own):
    """A baseline of ours and an agent of conftest.py answer in our process."""
    if own:
        project.write(
            conftest__py="import pytest\n@pytest.fixture\n"
            "def agent(): return lambda context: context['a'] + context['b']\n"
        )
    result = project.pytest("--benchmark=toysum", "--agent-isolation=process", "--limit=1")
    assert result.ret == 0
    assert "confinement" not in result.stdout.str()


READS = """
from pathlib import Path
def agent(context):
    Path({path!r}).read_text()
    return context["a"] + context["b"]
"""


@pytest.mark.usefixtures("cache_folder")
def test_what_an_agent_may_not_read_is_said_with_the_option_that_allows_it(
    project, tmp_path_factory
):
    place = tmp_path_factory.mktemp("models") / "weights.txt"
    place.write_text("1")
    project.write(agent__py=READS.format(path=str(place)))
    ask = ["--benchmark=toysum", "--agent=agent.py", "--agent-isolation=process", "--limit=1"]
    result = project.pytest(*ask)
    if "confinement: none" in result.stdout.str():
        pytest.skip("nothing confines here")
    assert result.ret == 1
    assert (
        f"confined: the agent may not read {place}; if it needs it, add --agent-read {place}"
        in (project.records()[0]["error"])
    )
    assert project.pytest(*ask, f"--agent-read={place.parent}").ret == 0
    result = project.pytest(*ask, "--agent-read=nowhere")
    result.stderr.fnmatch_lines(
        ["*--agent-read: expected a file or folder that exists, got 'nowhere'*"]
    )


@pytest.mark.usefixtures("cache_folder")
def test_an_import_that_confinement_forbids_is_said_as_well(project, tmp_path_factory):
    place = tmp_path_factory.mktemp("models") / "weights.txt"
    place.write_text("1")
    project.write(
        agent__py=f"WEIGHTS = open({str(place)!r}).read()\ndef agent(context): return 1\n"
    )
    ask = ["--benchmark=toysum", "--agent=agent.py", "--agent-isolation=process", "--limit=1"]
    result = project.pytest(*ask)
    if "confinement: none" in result.stdout.str():
        pytest.skip("nothing confines here")
    result.stderr.fnmatch_lines([f"*importing *agent.py failed:*add --agent-read {place}*"])


@pytest.mark.usefixtures("cache_folder")
def test_the_truth_stays_hidden_in_what_may_be_read(project):
    """Not even --agent-read of all around gives the runs away."""
    record = project.path / ".agentbench/runs/one/records.jsonl"
    project.write(
        agents___agent__py=READS.format(path=str(record)),
        __agentbench___runs___one___records__jsonl="an earlier run",
    )
    result = project.pytest(
        "--benchmark=toysum", "--agent=agents/agent.py", "--agent-isolation=process", "--limit=1",
        "--agent-read=.", "--run-dir=new",
    )  # fmt: skip
    if "confinement: none" in result.stdout.str():
        pytest.skip("nothing confines here")
    (asked,) = project.records(project.path / "new")
    assert "is kept from agents, because it may tell the truth" in asked["error"] or (
        "No such file" in asked["error"]
    )
