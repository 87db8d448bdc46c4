"""What was typed: paths that pytest misunderstands, and runs by their names."""

from __future__ import annotations

import json
import shutil

import pytest


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


def test_with_an_equals_sign_or_a_rootdir_the_gates_of_the_ini_file_count(project, in_work):
    answers = "../elsewhere/answers.csv"
    joined = in_work(f"--submission={answers}")
    assert joined.ret == 1
    assert "accuracy > 1" in joined.stdout.str()
    assert len(list((project.path / "work" / ".agentbench" / "runs").iterdir())) == 1
    named = in_work("--rootdir=.", "-c", "pytest.ini", "--submission", answers)
    assert "accuracy > 1" in named.stdout.str()
    inside = project.path / "work" / "answers.csv"
    shutil.copy(project.path / "elsewhere" / "answers.csv", inside)
    assert "accuracy > 1" in in_work("--submission", "answers.csv").stdout.str()


def test_a_submission_may_be_a_run_by_its_name(project):
    run = ("--benchmark=toysum", "-q", "--run-dir")
    assert project.pytest("--benchmark=toysum", "--agent=builtin:half", "-q").ret == 0
    (first,) = project.runs()
    shutil.copytree(first, project.path / ".agentbench" / "saved" / "main")
    assert project.pytest(*run, "a", "--submission=last", "-n2").ret == 0
    assert project.pytest(*run, "b", "--submission=main").ret == 0
    assert project.pytest(*run, "c", f"--submission={first.name}").ret == 0
    half = project.scores(first)
    for name in "abc":
        scores = project.scores(project.path / name)
        assert (scores["agent"], scores["readings"]) == (half["agent"], half["readings"])
    settings = json.loads((project.path / "a" / "manifest.json").read_text())["settings"]
    assert settings["submission"] == str(first)
    scored = project.agentbench("score", "toysum", "--submission=last", "--run-dir=d")
    assert scored.ret == 0
    assert project.scores(project.path / "d")["readings"] == half["readings"]
    gone = project.pytest(*run, "e", "--submission=gone")
    assert gone.ret == pytest.ExitCode.USAGE_ERROR
    assert "--submission: expected a path that exists, got 'gone'" in gone.stderr.str()
    assert "(there are: main;" in gone.stderr.str()
