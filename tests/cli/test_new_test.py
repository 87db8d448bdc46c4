"""agentbench new-test: the file that it writes is collected, recorded, scored and gated."""

from __future__ import annotations

import os

import pytest


@pytest.mark.parametrize("workers", [[], ["-n2"]])
@pytest.mark.parametrize(
    ("name", "file"),
    [("humob", "test_humob.py"), ("BehaviorModeling", "test_behavior_modeling.py")],
)
def test_samples_of_a_new_test_are_measured(project, name, file, workers):
    made = project.agentbench("new-test", name)
    assert made.ret == 0
    assert made.outlines == [f"{file}: run it with `pytest {file}`"]
    options = ["--agentbench-limit=3", "--agentbench-gate=coverage >= 0.9"]
    if name == "BehaviorModeling":
        options.append("--agentbench-text-models=none")
    result = project.pytest(file, *options, "-v", *workers)
    assert result.ret == 0
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines([f"*{file}::test_*", "gate passed: coverage >= 0.9*"])
    assert project.scores()["samples"]["ok"] == 3


def test_a_file_that_is_there_stays(project):
    project.write(test_humob__py="# mine\n")
    made = project.agentbench("new-test", "humob")
    assert made.ret != 0
    assert "expected no such file yet; --out names another" in made.stderr.str()
    assert (project.path / "test_humob.py").read_text() == "# mine\n"
    assert project.agentbench("new-test", "humob", "--out=other.py").ret == 0
    assert "pytest other.py --agentbench-agent" in (project.path / "other.py").read_text()


def test_a_benchmark_that_is_not_registered_works_by_its_class(project, monkeypatch):
    project.write(
        own__py="from toybench import ToySum\nclass Own(ToySum):\n    name = 'own sums'\n"
    )
    monkeypatch.syspath_prepend(project.path)
    assert project.agentbench("new-test", "own:Own").ret == 0
    for workers in ([], ["-n2"]):
        monkeypatch.setenv("PYTHONPATH", str(project.path), prepend=os.pathsep)
        result = project.pytest_process("test_own_sums.py", *workers)
        result.assert_outcomes(passed=13)
    assert len(project.runs()) == 2


def test_an_unknown_benchmark_is_named(project):
    made = project.agentbench("new-test", "humbo")
    assert made.ret != 0
    assert "did you mean humob?" in made.stderr.str()
