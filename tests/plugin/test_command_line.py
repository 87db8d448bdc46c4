"""Paths after our options, which pytest takes for test paths."""

from __future__ import annotations

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


def test_a_gate_that_is_typed_beside_tests_which_keep_the_benchmark_from_running_has_failed(
    project,
):
    project.write(
        test_x__py="def test_x():\n    pass\n",
        pytest__ini="[pytest]\naddopts = --benchmark=toysum\n",
    )
    result = project.pytest("test_x.py", "--gate=accuracy > 0.1")
    result.assert_outcomes(passed=1, failed=1)
    assert "not decided: no benchmark ran; give --benchmark NAME" in result.stdout.str()
    both = project.pytest("test_x.py", "--gate=accuracy > 0.1", "--benchmark=toysum", "--limit=2")
    both.assert_outcomes(passed=5)


def test_where_no_sample_is_selected_a_gate_fails_if_the_run_or_the_gate_was_typed(project):
    project.write(
        test_x__py="def test_x():\n    pass\n",
        pytest__ini="[pytest]\naddopts = --benchmark=toysum --gate='accuracy > 0'\n",
    )
    added = project.pytest("-k", "test_x")
    added.assert_outcomes(passed=1, deselected=12)
    assert "toysum: no sample was selected; its gates are not decided" in added.outlines
    for typed in ("--gate=accuracy >= 0", "--benchmark=toysum"):
        result = project.pytest("-k", "test_x", typed)
        assert result.ret == 1
        assert "not decided: no sample was selected" in result.stdout.str()


@pytest.mark.parametrize(
    "ini", ["agentbench_gate = accuracy > 1", "addopts = --agentbench-gate='accuracy > 1'"]
)
def test_a_gate_of_the_ini_file_waits_for_a_run(project, ini):
    project.write(test_x__py="def test_x():\n    pass\n", pytest__ini=f"[pytest]\n{ini}\n")
    project.pytest().assert_outcomes(passed=1)
    assert project.pytest("--benchmark=toysum", "--limit=2").ret == 1


TELL = """
def pytest_agentbench_scores(settings):
    print("\\n" + settings.nodeid, "typed" if settings.typed else "added")
"""


@pytest.mark.parametrize(
    ("addopts", "args", "expected"),
    [
        ("--benchmark=toysum", [], "toysum added"),
        ("--benchmark=toysum", ["--benchmark=toysum"], "toysum typed"),
        ("--benchmark=toysum", ["toysum::sum[s1]"], "toysum typed"),
        ("--benchmark=toysum", ["--gate=accuracy >= 0"], "toysum typed"),
        ("--benchmark=toysum --gate='accuracy >= 0'", ["."], "toysum added"),
        ("", ["--benchmark=toysum"], "toysum typed"),
        ("", ["x.yaml"], "x.yaml typed"),
        ("x.yaml", [], "x.yaml added"),
    ],
)
def test_a_run_knows_whether_it_or_a_gate_was_typed(project, addopts, args, expected):
    project.write(
        conftest__py=TELL,
        x__yaml="benchmark: toysum\n",
        pytest__ini=f"[pytest]\naddopts = {addopts}\n",
    )
    result = project.pytest(*args, "-s")
    assert [line for line in result.outlines if line.endswith((" typed", " added"))] == [expected]
