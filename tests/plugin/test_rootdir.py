"""Paths after our options, which pytest takes for test paths: the ini file, and where runs are kept."""

from __future__ import annotations

import shutil

import pytest
from llm_server import serving

ADD = "def add(context):\n    return context['a'] + context['b']\n"
ASK = ADD.replace("context)", "context, llm)").replace("return", "llm.text_request('?'); return")


@pytest.fixture
def in_work(project, monkeypatch):
    """Calls pytest in the folder work/, which has an ini file with a gate that fails."""
    project.write(
        work___pytest__ini="[pytest]\nagentbench_gate = accuracy > 1\n",
        elsewhere___answers__csv="".join(f"sum[s{n}],{2 * n}\n" for n in range(12)),
    )
    monkeypatch.chdir(project.path / "work")
    return lambda *args: project.pytest("--benchmark=toysum", "-q", *args)


@pytest.mark.parametrize("option", ["--submission", "--agentbench-submission", "--dataset"])
def test_a_path_that_would_hide_the_ini_file_is_refused(project, in_work, option):
    answers = "../elsewhere/answers.csv"
    apart = in_work(option, answers)
    assert apart.ret == pytest.ExitCode.USAGE_ERROR
    ini = project.path / "work" / "pytest.ini"
    assert f"{ini} is not read: rootdir is " in apart.stderr.str()
    assert f"write {option}={answers}" in apart.stderr.str()
    assert not list(project.path.rglob("records.jsonl"))


def test_nor_does_a_rootdir_a_variable_or_a_file_of_arguments_hide_it(
    project, in_work, monkeypatch
):
    elsewhere = project.path / "elsewhere"
    (elsewhere / "pytest.ini").write_text("[pytest]\n")
    words = ["--submission", "../elsewhere/answers.csv"]
    (project.path / "work" / "args.txt").write_text("\n".join(words))
    tried = [in_work("--rootdir=.", *words), in_work("@args.txt")]
    monkeypatch.setenv("PYTEST_ADDOPTS", " ".join(words))
    for result in [*tried, in_work()]:
        assert result.ret == pytest.ExitCode.USAGE_ERROR
        assert "pytest.ini is not read: " in result.stderr.str()
        assert "write --submission=../elsewhere/answers.csv" in result.stderr.str()
    assert not list(project.path.rglob("records.jsonl"))


def test_with_an_equals_sign_or_a_named_file_the_gates_of_the_ini_file_count(project, in_work):
    answers = "../elsewhere/answers.csv"
    joined = in_work(f"--submission={answers}")
    assert joined.ret == 1
    assert "accuracy > 1" in joined.stdout.str()
    assert len(list((project.path / "work" / ".agentbench" / "runs").iterdir())) == 1
    named = in_work("-c", "pytest.ini", "--submission", answers)
    assert "accuracy > 1" in named.stdout.str()
    inside = project.path / "work" / "answers.csv"
    shutil.copy(project.path / "elsewhere" / "answers.csv", inside)
    assert "accuracy > 1" in in_work("--submission", "answers.csv").stdout.str()


def test_an_agent_elsewhere_that_moves_rootdir_is_warned_about(project):
    project.write(work___x__txt="", other___agent__py=ADD, other___pytest__ini="[pytest]\n")
    code = (
        "import os, subprocess, sys; os.chdir('work');"
        "sys.exit(subprocess.call([sys.executable, '-m', 'pytest', '--benchmark=toysum',"
        " '--limit=2', *sys.argv[1:]]))"
    )
    moved = project.python("-c", code, "--agent", "../other/agent.py")
    moved.stdout.fnmatch_lines(["*rootdir is */other, not */work*"])
    # The run is where pytest was started, and found there again.
    assert [path.parent.parent for path in project.path.rglob("runs/*toysum*")] == [
        project.path / "work" / ".agentbench"
    ]
    again = project.python("-c", code, "--agent", "../other/agent.py", "--baseline=last")
    assert again.ret == 0
    assert "expected a run" not in again.stderr.str()
    project.write(other___agent__py=ASK)
    with serving() as server:
        asked = ["--agent", "../other/agent.py", "--model=m", f"--base-url={server.url}"]
        for more in ([], ["-n2"]):
            project.python("-c", code, *asked, *more)
    assert len(server.seen) == 2  # recorded beside the runs, and found there by workers, too
    assert (project.path / "work" / ".agentbench" / "llm-cache" / "toysum").is_dir()
    project.write(other___agent__py=ADD)
    strict = project.python("-c", code, "--agent", "../other/agent.py", "-Werror")
    assert strict.ret == pytest.ExitCode.USAGE_ERROR
    assert "INTERNALERROR" not in strict.stdout.str() + strict.stderr.str()
    stayed = project.python("-c", code, "--agent=../other/agent.py")
    assert stayed.ret == 0
    assert "rootdir is" not in stayed.stdout.str()
