"""A whole run with a hostile agent: the data, their copies and the records of others stay unread."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from pytest_agentbench.agents.process import landlock
from pytest_agentbench.benchmarks.daily_mobility.benchmark import DailyMobility
from pytest_agentbench.benchmarks.daily_mobility.data import DEMO_FOLDER
from pytest_agentbench.runs import hidden
from pytest_agentbench.settings.resolve import Layer, resolve

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


# Where the truth lies.


def settings(tmp_path, **values):
    layer = Layer(lambda key: key, values, tmp_path)
    return resolve("DailyMobility", None, [layer], [tmp_path / "start", tmp_path / "root"])


@pytest.fixture(autouse=True)
def _cache(tmp_path, monkeypatch):
    monkeypatch.setenv("AGENTBENCH_CACHE", str(tmp_path / "cache"))


def test_the_runs_and_the_cache_are_hidden_before_they_exist(tmp_path):
    places = hidden.places(settings(tmp_path, run_dir="mine"))
    assert {tmp_path / "cache", tmp_path / "root/.agentbench", tmp_path / "mine"} <= set(places)


def test_a_config_with_keys_is_hidden(tmp_path):
    (tmp_path / "root").mkdir()
    config = tmp_path / "root" / "asbench.yml"
    config.write_text("llm: {model: m, api_key: secret}\n")
    assert config in hidden.places(settings(tmp_path, config="asbench.yml"))


def test_the_demo_and_what_made_it_are_hidden(tmp_path, monkeypatch):
    root = Path(__file__).parents[2]
    places = {path.resolve() for path in hidden.places(settings(tmp_path))}
    assert root / "pytest_agentbench/benchmarks/daily_mobility/demo" in places
    if (root / ".git").exists():  # a checkout: the demo may be read there or generated again
        assert {root / ".git", root / hidden.DEMO_SCRIPTS} <= places
    # A third party may keep the script that makes its demo beside its benchmark.
    module = ModuleType("theirs")
    module.__file__ = str(tmp_path / "theirs.py")
    monkeypatch.setitem(sys.modules, "theirs", module)
    (tmp_path / "make_demo.py").touch()
    theirs = type("Theirs", (DailyMobility,), {"__module__": "theirs"})()
    assert theirs.truth_places(settings(tmp_path)) == [tmp_path / "make_demo.py"]


def test_the_data_of_the_hub_are_hidden_wherever_they_lie(tmp_path, monkeypatch):
    monkeypatch.delenv("HF_HUB_CACHE", raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    repository = DailyMobility.hub_repository.replace("/", "--")
    note = tmp_path / "cache" / "hub" / f"dataset-{repository}-0123.json"
    note.parent.mkdir(parents=True)
    note.write_text(json.dumps({"folder": str(tmp_path / "older/snapshots/1")}))
    (note.parent / f"dataset-{repository}-broken.json").write_text("{")
    places = set(hidden.places(settings(tmp_path, dataset="hub")))
    assert tmp_path / "hf/hub" / f"datasets--{repository}" in places
    assert tmp_path / "hf/xet" in places
    assert tmp_path / "older/snapshots/1" in places


def test_the_repository_around_the_data_is_hidden_a_work_trees_too(tmp_path):
    (tmp_path / "start/data").mkdir(parents=True)
    (tmp_path / "start/.git").write_text(f"gitdir: {tmp_path}/main/.git/worktrees/one\n")
    (tmp_path / ".git").mkdir()
    places = set(hidden.places(settings(tmp_path, dataset="data")))
    assert {tmp_path / "start/data", tmp_path / "start/.git"} <= places
    assert {tmp_path / "main/.git", tmp_path / ".git"} <= places


@pytest.mark.skipif(os.name != "posix", reason="process isolation needs POSIX")
def test_other_places_of_runs_are_hidden(tmp_path):
    import dataclasses

    for name in ("start/baseline", "root/resumed", "start/.agentbench"):
        (tmp_path / name).mkdir(parents=True)
    given = dataclasses.replace(
        settings(tmp_path, baseline="baseline/scores.json"), resumed="resumed"
    )
    places = set(hidden.places(given))
    assert {tmp_path / n for n in ("start/baseline", "root/resumed", "start/.agentbench")} <= places


def test_data_named_by_a_pattern_are_hidden_file_by_file(tmp_path):
    for name in ("a.parquet", "b.parquet"):
        (tmp_path / name).write_bytes(b"x")
    values = {"dataset": str(tmp_path / "*.parquet")}
    settings = resolve("humob", None, [Layer(lambda key: key, values)], [tmp_path])
    assert {tmp_path / "a.parquet", tmp_path / "b.parquet"} <= set(hidden.places(settings))
