"""Which runs and which tests a command asks for: typed alone, typed beside paths, or named in addopts."""

from __future__ import annotations

import lean
import pytest

TESTS = "def test_y():\n    pass\n\n\ndef test_z():\n    pass\n"
SCENARIO = "benchmark: toysum\nlimit: 2\nseed: 1\n"
Y, Z = "tests/test_x.py::test_y", "tests/test_x.py::test_z"
S1, S2 = "toysum::sum[s2]", "toysum::sum[s9]"  # drawn with --limit=2 --seed=1
BOTH = [Y, Z, S1, S2]
BY_FILE = ["scenarios/x.yaml::sum[s2]", "scenarios/x.yaml::sum[s9]"]
NOT_RUN = "agentbench: {} of addopts does not run, because the command names tests; its gates are not decided"


@pytest.fixture
def collected(project):
    """The node ids that a command collects, in a project with these addopts."""

    def collect(addopts: str, *args: str, testpaths: str = "tests") -> list[str]:
        ini = f"[pytest]\naddopts = {addopts}\ntestpaths = {testpaths}\n"
        project.write(
            pytest__ini=ini, tests___test_x__py=TESTS, scenarios___x__yaml=SCENARIO,
            elsewhere___test_w__py="def test_w():\n    pass\n",
        )  # fmt: skip
        result = project.pytest("--collect-only", "-q", *args)
        assert result.ret == 0, result.stderr.str()
        return [line for line in result.outlines if "::" in line]

    return collect


IN_ADDOPTS = "--benchmark=toysum --limit=2 --seed=1"


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ([], BOTH),
        (["tests"], BOTH),
        (["tests/"], BOTH),
        (["--agent=builtin:wrong"], BOTH),
        (["tests/test_x.py"], [Y, Z]),
        ([Y], [Y]),
        ([Y, "elsewhere"], [Y, "elsewhere/test_w.py::test_w"]),
        (["toysum::sum[s2]"], [S1]),
        (["toysum::sum[s2]", Y], [Y, S1]),
        (["-k", "test_y"], [Y]),
        (["-k", "s2"], [S1]),
        (["scenarios/x.yaml"], BY_FILE),
        (["--benchmark=toysum"], [S1, S2]),
        (["--benchmark=TOYSUM", "tests"], BOTH),
        (["--benchmark=scenarios/x.yaml"], [S1, S2, *BY_FILE]),
        (["--benchmark=scenarios/x.yaml", Y], [Y, *BY_FILE]),
    ],
)
def test_a_benchmark_in_addopts_runs_beside_the_projects_tests(collected, args, expected):
    assert collected(IN_ADDOPTS, *args) == expected


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["--benchmark=toysum"], [S1, S2]),
        (["--benchmark=toysum", "tests"], BOTH),
        (["--benchmark=toysum", Y], [Y, S1, S2]),
    ],
)
def test_a_benchmark_that_is_typed_runs_alone_or_beside_the_paths_that_are_typed(
    collected, args, expected
):
    assert collected("", "--limit=2", "--seed=1", *args) == expected


@pytest.mark.parametrize("addopts", ["scenarios/x.yaml", "--benchmark=scenarios/x.yaml"])
@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ([], [Y, Z, *BY_FILE]),
        (["tests"], [Y, Z, *BY_FILE]),
        (["."], [Y, Z, "elsewhere/test_w.py::test_w", *BY_FILE]),
        ([Y], [Y]),
        (["scenarios/x.yaml"], BY_FILE),
        (["scenarios/x.yaml::sum[s2]"], BY_FILE[:1]),
    ],
)
def test_the_same_goes_for_a_scenario_file_in_addopts(collected, addopts, args, expected):
    assert sorted(collected(addopts, *args)) == sorted(expected)


def test_a_scenario_file_among_testpaths_runs_beside_the_tests(collected):
    assert collected("", testpaths="tests scenarios/x.yaml") == [Y, Z, *BY_FILE]
    assert collected("", "--benchmark=toysum", "--first=1", testpaths="tests scenarios/x.yaml") == [
        "toysum::double[s0]"
    ]


def test_a_benchmark_in_the_environment_runs_beside_the_tests(collected, monkeypatch):
    monkeypatch.setenv("PYTEST_ADDOPTS", f"{lean.OPTIONS} {IN_ADDOPTS}")
    assert collected("") == BOTH


def test_where_the_project_has_no_testpaths_its_tests_are_looked_for(collected):
    found = collected("scenarios/x.yaml", testpaths="")
    assert sorted(found) == sorted([Y, Z, "elsewhere/test_w.py::test_w", *BY_FILE])


def test_a_path_in_addopts_is_always_collected(collected):
    assert collected("tests", "--benchmark=toysum", "--limit=2", "--seed=1") == BOTH


OWN = "--agentbench-benchmark=toy_of_mine:Mine --agentbench-first=1"


def test_a_sample_of_a_class_that_addopts_name_can_be_pasted(project, collected):
    project.write(
        toy_of_mine__py="from toybench import ToySum\n\n\nclass Mine(ToySum):\n    name = 'Mine'\n"
    )
    (nodeid,) = collected(OWN, "-k", "not test_")
    assert nodeid.startswith("Mine::")
    assert collected(OWN, nodeid) == [nodeid]


def test_the_header_says_what_does_not_run(project):
    project.write(pytest__ini=f"[pytest]\naddopts = {IN_ADDOPTS}\n", tests___test_x__py=TESTS)
    result = project.pytest("tests/test_x.py")
    result.assert_outcomes(passed=2)
    assert result.outlines.count(NOT_RUN.format("toysum")) == 1
    assert not project.runs()
    assert "does not run" not in project.pytest("tests").stdout.str()


def test_workers_run_the_same(project):
    project.write(pytest__ini=f"[pytest]\naddopts = {IN_ADDOPTS}\n", tests___test_x__py=TESTS)
    project.pytest("-n2").assert_outcomes(passed=5)  # two tests, two samples, the gate
    result = project.pytest("-n2", "tests/test_x.py")
    result.assert_outcomes(passed=2)
    assert result.outlines.count(NOT_RUN.format("toysum")) == 1


@pytest.mark.parametrize("addopts", ["--benchmark=ci.yaml", "ci.yaml"])
@pytest.mark.parametrize("path", [(), ("sub",)], ids=["alone", "a folder"])
def test_a_scenario_file_in_addopts_is_found_from_a_folder_below(
    project, monkeypatch, addopts, path
):
    project.write(
        pytest__ini=f"[pytest]\naddopts = {addopts} --agent=builtin:right\n", ci__yaml=SCENARIO,
        tests___sub___test_in_sub__py=TESTS,
    )  # fmt: skip
    monkeypatch.chdir(project.path / "tests")
    result = project.pytest(*path)
    result.assert_outcomes(passed=5)  # two tests, two samples, the gate
    assert "= agentbench: ci.yaml =" in result.stdout.str()


def test_a_scenario_file_where_pytest_was_started_comes_first(project, monkeypatch):
    project.write(pytest__ini="[pytest]\n", ci__yaml=SCENARIO, sub___ci__yaml=SCENARIO)
    monkeypatch.chdir(project.path / "sub")
    result = project.pytest("--benchmark=ci.yaml", "--collect-only", "-q")
    assert "sub/ci.yaml::sum[s2]" in result.outlines
    (project.path / "sub" / "ci.yaml").unlink()
    (project.path / "ci.yaml").unlink()
    missing = project.pytest("--benchmark=ci.yaml")
    assert missing.ret == pytest.ExitCode.USAGE_ERROR
    assert "sub/ci.yaml: expected a scenario file" in missing.stderr.str()
