"""agentbench new-test: the file that it writes is collected, recorded, scored and gated."""

from __future__ import annotations

import os

import pytest


@pytest.mark.parametrize("workers", [[], pytest.param(["-n2"], marks=pytest.mark.slow)])
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
    assert project.agentbench("new-test", "humob", "--out=test_other.py").ret == 0
    text = (project.path / "test_other.py").read_text()
    assert "pytest test_other.py --agentbench-agent" in text


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


def test_a_scenario_file_is_no_benchmark(project):
    project.write(ci__yaml="benchmark: humob\n")
    made = project.agentbench("new-test", "ci.yaml")
    assert made.ret != 0
    assert "new-test: expected the name of a benchmark (" in made.stderr.str()
    assert "got the file 'ci.yaml'" in made.stderr.str()


@pytest.mark.parametrize(
    ("out", "collected"),
    [("x.txt", False), ("mine.py", False), ("testy.py", False), ("x_test.py", True)],
)
def test_only_files_that_pytest_collects_are_written(project, out, collected):
    made = project.agentbench("new-test", "toysum", f"--out={out}")
    assert (made.ret == 0) is collected
    assert (project.path / out).exists() is collected
    if not collected:
        assert "expected a name that pytest collects (test_*.py or *_test.py)" in made.stderr.str()
    assert ("12 tests collected" in project.pytest("--co", "-q").stdout.str()) is collected
