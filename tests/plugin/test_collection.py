"""Samples as pytest items: everything that works with tests works with them."""

from __future__ import annotations

import re
import sys

import pytest
from toy_agents import MIXED


def names(result, word="PASSED"):
    lines = [line for line in result.outlines if f" {word}" in line and "::" in line]
    return [line.split(" ")[0].partition("::")[2] for line in lines]


def test_node_ids_name_kind_and_sample(project):
    result = project.pytest("--benchmark=toysum", "--co", "-q")
    assert result.ret == 0
    listed = [line for line in result.outlines if "::" in line]
    assert listed[:4] == [
        "toysum::double[s0]",
        "toysum::double[s4]",
        "toysum::double[s8]",
        "toysum::sum[s1]",
    ]
    assert len(listed) == 12
    assert not project.runs()


def test_humob_node_ids(project):
    result = project.pytest("--benchmark=humob", "--co", "-q", "--limit=2")
    assert [line for line in result.outlines if line.startswith("humob::uid[80")]


@pytest.mark.parametrize(
    ("args", "chosen"),
    [
        (["-k", "s3 or s5"], ["sum[s3]", "sum[s5]"]),
        (["-k", "double"], ["double[s0]", "double[s4]", "double[s8]"]),
        (["-m", "agentbench", "-k", "s1"], ["sum[s1]", "sum[s10]", "sum[s11]"]),
        (["toysum::sum[s3]"], ["sum[s3]"]),
        (["toysum::sum[s3]", "toysum::double"], ["double[s0]", "double[s4]", "double[s8]", "sum[s3]"]),
        (["-k", "double", "--deselect", "toysum::double[s4]"], ["double[s0]", "double[s8]"]),
    ],
)  # fmt: skip
def test_selection(project, args, chosen):
    result = project.pytest("--benchmark=toysum", "-v", *args)
    assert result.ret == 0
    assert names(result)[: len(chosen)] == chosen
    assert len(names(result)) == len(chosen) + 1
    scores = project.scores()
    assert scores["partial"] is True
    assert scores["samples"]["total"] == len(chosen)


@pytest.mark.parametrize(
    ("args", "kind"),
    [
        (["--benchmark=toysum", "-k", "double"], "double"),
        (["--benchmark=toysum", "-k", "sum and not double"], "sum"),
        (["toysum::sum"], "sum"),
        (["toysum::double[s0]", "toysum::double[s4]", "toysum::double[s8]"], "double"),
        (["s.yaml::double"], "double"),
    ],
)
def test_a_limit_counts_what_is_selected(project, args, kind):
    project.write(s__yaml="benchmark: toysum\n")
    result = project.pytest("--limit=2", "-v", *args)
    result.stdout.fnmatch_lines(
        ["agentbench: *, up to 2 of 12 samples, *", "2 samples: 2 ok, partial (2 of 12)"]
    )
    drawn = names(result)[:2]
    assert {name.partition("[")[0] for name in drawn} == {kind}


@pytest.mark.parametrize("args", [["--benchmark=toysum", "-k", "s1"], ["toysum::sum"]])
def test_workers_draw_the_same_of_what_is_selected(project, args):
    project.pytest("--limit=2", *args)
    drawn = sorted(names_of(project))
    assert project.pytest("--limit=2", "-n2", *args).ret == 0
    assert sorted(names_of(project)) == drawn


def names_of(project):
    return [record["sample"] for record in project.records()]


def test_the_first_of_what_is_selected(project):
    project.pytest("--benchmark=toysum", "-k", "sum and not double", "--first=3")
    assert names_of(project) == ["sum[s1]", "sum[s2]", "sum[s3]"]
    project.pytest("--benchmark=toysum", "-k", "double", "--first=1", "--epochs=2")
    assert names_of(project) == ["double[s0]", "double[s0]"]
    project.pytest("--benchmark=toysum", "-k", "double", "--first=2", "--concurrency=2")
    assert sorted(names_of(project)) == ["double[s0]", "double[s4]"]


def test_a_selection_of_everything_draws_as_none_does(project):
    project.pytest("--benchmark=toysum", "--limit=4")
    drawn = sorted(names_of(project))
    project.pytest("--benchmark=toysum", "--limit=4", "-m", "agentbench")
    assert sorted(names_of(project)) == drawn


def test_a_limit_alone_collects_no_more_than_it_asks(project):
    result = project.pytest("--benchmark=toysum", "--limit=4")
    result.stdout.fnmatch_lines(["collected 4 items"])


def test_a_limit_counts_after_a_failed_run_is_taken_up(project):
    """--resume-failed-only leaves out what was never asked; the draw stays that of the first run."""
    project.write(agent__py=MIXED)
    args = ("--benchmark=toysum", "--agent=agent.py", "-k", "sum", "--limit=6")
    project.pytest(*args)
    asked = sorted(names_of(project))
    project.pytest(*args, "--resume=last", "--resume-failed-only")
    assert sorted(set(names_of(project))) == asked


def test_a_printed_node_id_runs_without_naming_the_benchmark_again(project):
    result = project.pytest("toysum::sum[s3]", "--agent=builtin:wrong", "-v")
    assert names(result) == ["sum[s3]", "gate[coverage"]


def test_a_node_id_printed_below_rootdir_runs_there(project, monkeypatch):
    project.write(pytest__ini="[pytest]\n", sub___x__txt="")
    monkeypatch.chdir(project.path / "sub")
    first = project.pytest("-rA", "--benchmark=toysum", "--limit=1")
    (line,) = [line for line in first.outlines if line.startswith("PASSED") and "gate" not in line]
    nodeid = line.split(" ")[1]
    again = project.pytest("-rA", nodeid)
    assert again.ret == 0
    again.stdout.fnmatch_lines([f"PASSED {nodeid.replace('[', '[[]')}", "*2 passed*"])


def test_nothing_selected_is_no_run(project):
    result = project.pytest("--benchmark=toysum", "-k", "nothing")
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    assert not project.runs()


TEST_FILE = "def test_mine():\n    pass\n"


def test_without_a_path_only_the_benchmark_runs_with_one_both_do(project):
    project.write(test_mine__py=TEST_FILE, pytest__ini="[pytest]\ntestpaths = .\n")
    project.pytest("--benchmark=toysum").assert_outcomes(passed=13)
    result = project.pytest("--benchmark=toysum", "test_mine.py", "-v")
    result.assert_outcomes(passed=14)
    result.stdout.fnmatch_lines(["test_mine.py::test_mine PASSED*", "toysum::sum[[]s1] PASSED*"])


def test_scenario_files_are_collected_when_given_as_paths(project):
    project.write(
        scenarios___ci__yaml="benchmark: toysum\nlimit: 2\nseed: 1\n",
        scenarios___other__yaml="just: some yaml\n",
        test_mine__py=TEST_FILE,
    )
    result = project.pytest("scenarios/ci.yaml", "test_mine.py", "-v")
    result.assert_outcomes(passed=4)
    result.stdout.fnmatch_lines(["scenarios/ci.yaml::gate[[]coverage >= 1] PASSED*"])
    nodeid = next(line for line in result.outlines if line.startswith("scenarios/ci.yaml::"))
    again = project.pytest(nodeid.split(" ")[0], "--agent=builtin:wrong")
    again.assert_outcomes(passed=2)
    assert project.scores()["agent"]["name"] == "builtin:wrong"
    # A folder is searched for tests, not for scenarios: other tools keep YAML files, too.
    assert project.pytest("scenarios").ret == pytest.ExitCode.NO_TESTS_COLLECTED


def test_a_scenario_path_with_dots_is_found_and_its_node_ids_run(project, monkeypatch):
    project.write(
        pytest__ini="[pytest]\n",
        scenarios___ci__yaml="benchmark: toysum\nlimit: 2\nseed: 1\n",
        sub___x__txt="",
    )
    for path in ("scenarios/../scenarios/ci.yaml", "sub/../scenarios/ci.yaml"):
        project.pytest(path).assert_outcomes(passed=3)
        project.pytest(f"--benchmark={path}").assert_outcomes(passed=3)
    monkeypatch.chdir(project.path / "sub")
    for args in (["../scenarios/ci.yaml"], ["--benchmark=../scenarios/ci.yaml"]):
        result = project.pytest("-v", *args)
        result.assert_outcomes(passed=3)
        nodeid = next(line for line in result.outlines if line.startswith("../scenarios/ci.yaml::"))
        project.pytest(nodeid.split(" ")[0]).assert_outcomes(passed=2)


GARBAGE = """
import gc
def pytest_runtest_call(item):
    print("collector", gc.isenabled())
def pytest_agentbench_scores():
    print("end", gc.isenabled())
def pytest_unconfigure():
    print("after", gc.isenabled())
"""


def test_the_garbage_collector_rests_only_where_no_agent_runs(project):
    project.write(conftest__py=GARBAGE)
    asked = project.pytest("--benchmark=toysum", "--limit=2", "-s", "--run-dir=first")
    looked_up = project.pytest("--benchmark=toysum", "--limit=2", "-s", "--submission=first")
    for result, expected in ((asked, "True"), (looked_up, "False")):
        result.assert_outcomes(passed=3)
        seen = re.findall(r"collector (\w+)", result.stdout.str())
        assert seen == [*[expected] * 2, "True"]  # the gate looks up nothing
        result.stdout.fnmatch_lines(["*end False", "*after True"])


def test_stop_at_the_first_failure_decides_no_gate(project):
    project.write(agent__py=MIXED)
    result = project.pytest("--benchmark=toysum", "--agent=agent.py", "-x")
    assert result.ret == 1
    result.assert_outcomes(passed=3, failed=1)
    result.stdout.fnmatch_lines(
        ["incomplete: the session was cut short (stopping after 1 failures)"]
    )
    scores = project.scores()
    assert scores["incomplete"]
    assert [gate["passed"] for gate in scores["gates"]] == [None]


@pytest.mark.parametrize("option", ["--lf", "--ff"])
def test_last_failed(project, option):
    project.write(agent__py=MIXED, test_mine__py="def test_bad():\n    assert 0\n")
    common = ["--benchmark=toysum", "--agent=agent.py", "test_mine.py", "-v"]
    project.pytest(*common).assert_outcomes(passed=10, failed=4)
    result = project.pytest(*common, option)
    if option == "--lf":
        assert names(result, "FAILED")[:2] == ["test_bad", "sum[s1]"]
        result.assert_outcomes(failed=4)
    else:
        result.assert_outcomes(passed=10, failed=4)
        assert [line for line in result.outlines if "::" in line][1].startswith("toysum::sum[s1]")


def test_python_without_assertions(project):
    project.write(agent__py=MIXED)
    result = project.python("-O", "-m", "pytest", "--benchmark=toysum", "--agent=agent.py")
    assert result.ret == 1
    result.assert_outcomes(passed=10, failed=3)


@pytest.mark.parametrize("plugin", ["agentbench", "pytest_agentbench.plugin"])
def test_named_with_p_where_plugins_are_not_autoloaded(project, monkeypatch, plugin):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    project.pytest_process("-p", plugin, "--benchmark=toysum").assert_outcomes(passed=13)


def test_pytest_html_and_pytest_benchmark_beside_it(project):
    project.write(test_speed__py="def test_speed(benchmark):\n    benchmark(lambda: None)\n")
    result = project.pytest(
        "--benchmark=toysum",
        "test_speed.py",
        *("-p", "html", "-p", "metadata", "-p", "benchmark"),
        "--html=r.html",
        "--self-contained-html",
        "--benchmark-disable",
    )
    assert result.ret == 0
    assert "toysum::sum[s1]" in (project.path / "r.html").read_text()


def test_stepwise_and_random_worker_counts_keep_every_record(project):
    project.write(agent__py=MIXED)
    result = project.pytest("--benchmark=toysum", "--agent=agent.py", "-n", "3", "--dist=loadfile")
    assert result.ret == 1
    assert len(project.records()) == 12


@pytest.mark.skipif(sys.platform == "win32", reason="reads a POSIX exit code")
def test_quiet_run_is_short(project):
    result = project.pytest("--benchmark=toysum", "-q")
    assert result.outlines[-2].startswith(
        "toysum: accuracy 1.0000 [1.0000 .. 1.0000], run: .agentbench"
    )
    assert len(result.outlines) <= 8


COUNTS_FROZEN = """
import gc

def pytest_runtest_teardown(item):
    assert gc.get_freeze_count() > 0

def pytest_unconfigure():
    print("frozen at the end:", gc.get_freeze_count())
"""


def test_what_is_there_before_the_first_sample_is_no_work_for_the_garbage_collector(project):
    project.write(conftest__py=COUNTS_FROZEN)
    result = project.pytest("--benchmark=toysum", "--limit=2", "-s")
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["*frozen at the end: 0"])
