"""Which runs, samples and gates a command line asks for."""

from __future__ import annotations

import pytest


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
