"""``agentbench run`` takes asbench's command line and ends as pytest does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from processes import happens

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.cli.run import translated

AGENT = "def answer(context):\n    return context.get('a', 0) + context.get('b', 0)\n"


def test_the_options_of_asbench_become_those_of_pytest(tmp_path):
    words = ["--config", "c.yml", "--agent", "a.py", "--mode", "inference", "BehaviorModeling"]
    command, notes = translated([*words, "--datasets", "data"], tmp_path)
    expected = [
        "--benchmark=BehaviorModeling",
        "--config=c.yml",
        "--agent=a.py",
        "--mode=inference",
    ]
    assert command == [*expected, "--dataset=data"]
    assert notes == []
    short = ["behaviormodeling", "-c", "c.yml", "-a", "a.py", "-m", "inference", "-d", "data"]
    assert translated(short, tmp_path) == (command, [])


def test_all_else_goes_to_pytest_in_its_order(tmp_path):
    words = [
        "-n",
        "2",
        "-k",
        "uid",
        "--limit",
        "4",
        "humob",
        "--gate",
        "geobleu >= 0.1",
        "-x",
        "-d",
        "x",
    ]
    command, _ = translated(words, tmp_path)
    rest = ["-n", "2", "-k", "uid", "--limit", "4", "--gate", "geobleu >= 0.1", "-x"]
    assert command == ["--benchmark=humob", "--dataset=x", *rest]


def test_what_has_no_meaning_is_said_in_a_line_each(tmp_path):
    words = ["humob", "--official", "--tenant-id", "t", "--callback-url", "http://x", "-d", "demo"]
    command, notes = translated(words, tmp_path)
    assert command == ["--benchmark=humob", "--dataset=demo"]
    flags = [note.partition(" ")[0] for note in notes]
    assert flags == ["--official", "--tenant-id", "--callback-url"]


def test_cloned_data_are_used_where_they_are(tmp_path):
    command, notes = translated(["DailyMobility"], tmp_path)
    assert command == ["--benchmark=DailyMobility"]
    assert "the demo data are used" in notes[0]
    cloned = Path(".agentsociety-benchmark", "datasets", "DailyMobility")
    (tmp_path / cloned).mkdir(parents=True)
    command, notes = translated(["DailyMobility"], tmp_path)
    assert command == ["--benchmark=DailyMobility", f"--dataset={cloned}"]
    assert notes == []
    assert translated(["humob", "--dataset=x"], tmp_path)[1] == []


@pytest.mark.parametrize(("words", "got"), [([], "none"), (["HumobX", "-x"], "HumobX")])
def test_a_benchmark_has_to_be_named(tmp_path, words, got):
    with pytest.raises(
        BenchmarkError, match=f"run: expected the name of a benchmark .*, got {got}$"
    ):
        translated(words, tmp_path)


def test_mistakes_and_help_are_those_of_a_command(project):
    result = project.agentbench("run", "nothing")
    assert result.ret == 2
    result.stderr.fnmatch_lines(["agentbench: run: expected the name of a benchmark*got nothing"])
    result = project.agentbench("run", "--help")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["usage: agentbench run *", "*--config*"])
    project.agentbench("--help").stdout.fnmatch_lines(["*run a benchmark as `asbench run` did*"])


@pytest.mark.parametrize(("gate", "code"), [("accuracy >= 0", 0), ("accuracy >= 2", 1)])
def test_it_runs_the_benchmark_and_ends_with_pytests_code(project, gate, code):
    project.write(agents___my_agent__py=AGENT)
    result = project.agentbench_process(
        "run", "--agent", "agents/my_agent.py", "--mode", "test", "toysum", "--gate", gate
    )
    assert result.ret == code
    result.stdout.fnmatch_lines(
        ["agentbench: toysum (test), 12 samples, toy data, agents/my_agent.py"]
    )
    (run,) = project.runs()
    assert run.name.endswith("-toysum-my_agent")


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
def test_ctrl_c_ends_it_as_it_ends_pytest(project):
    project.write(
        my_agent__py="import pathlib, time\ndef answer(context):\n"
        "    pathlib.Path('asked').touch()\n    time.sleep(600)\n"
    )
    command = [
        str(Path(sys.executable).with_name("agentbench")),
        "run",
        "-a",
        "my_agent.py",
        "toysum",
    ]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, cwd=project.path, env=os.environ, text=True
    ) as running:
        assert happens(lambda: (project.path / "asked").exists())
        running.send_signal(signal.SIGINT)
        out, _ = running.communicate(timeout=90)
    assert running.returncode == 2  # pytest's own for an interrupt
    assert "KeyboardInterrupt" in out
