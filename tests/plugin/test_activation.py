"""From a command to runs: which there are, and what is refused before any sample is asked."""

from __future__ import annotations

import shlex
import subprocess
import sys

import pytest

MARKED = """
import pytest

@pytest.mark.agentbench("toysum")
def test_answers_are_even(agent, sample):
    assert agent(sample.context) == sample.truth

@pytest.mark.agentbench("ToySum")
def test_only_the_agent(agent):
    assert agent({"a": 1, "b": 1}) == 2
"""


def test_a_users_own_test_may_ask_for_agent_and_sample(project):
    project.write(test_mine__py=MARKED)
    result = project.pytest("-v", "--strict-markers")
    result.assert_outcomes(passed=14)
    result.stdout.fnmatch_lines(["test_mine.py::test_answers_are_even[[]sum[[]s1]] PASSED*"])
    result = project.pytest(
        "test_mine.py", "--benchmark=toysum", "--limit=2", "--agent=builtin:wrong"
    )
    result.assert_outcomes(passed=3, failed=3)
    assert (
        "2 samples were asked more than once, 4 attempts in all"
        in project.scores()["details"]["notes"][0]
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@pytest.mark.agentbench('toysun')", "*@pytest.mark.agentbench: *did you mean toysum?"),
        ("@pytest.mark.agentbench", "*expected the name of a benchmark*"),
        ("", "*'sample' of pytest-agentbench needs to know the benchmark*"),
    ],
)
def test_a_wrong_mark_says_what_is_expected(project, text, expected):
    project.write(test_mine__py=f"import pytest\n{text}\ndef test_x(sample):\n    pass\n")
    result = project.pytest()
    assert result.ret != 0
    result.stdout.fnmatch_lines([expected])


@pytest.mark.parametrize(
    ("args", "difference"),
    [
        (["--seed=3"], "candidate order is 'seed 0' and 'seed 3'"),
        (["--mode=inference"], "mode is 'test' and 'inference'"),
        (["--benchmark=shifted.yaml"], "data digest is"),
    ],
)
def test_a_baseline_that_cannot_be_compared_is_refused_by_name(project, args, difference):
    project.write(shifted__yaml="benchmark: toysum\nshift: 1\n")
    project.pytest("--benchmark=toysum", "--run-dir=old", "--limit=2")
    args = args if args[0].startswith("--benchmark") else ["--benchmark=toysum", *args]
    result = project.pytest(*args, "--baseline=old/scores.json")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert difference in result.stderr.str()


def test_a_damaged_baseline_is_found_before_anything_is_asked(project):
    project.write(agent__py="def agent(context):\n    raise SystemExit('asked')\n")
    project.pytest("--benchmark=toysum", "--run-dir=old")
    with (project.path / "old" / "records.jsonl").open("a") as log:
        log.write('{"benchmark": "toysum", "sample": 3, "status": "ok"}\n')
    result = project.pytest("--benchmark=toysum", "--agent=agent.py", "--baseline=old")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    said = "records.jsonl, line 13: expected a record, but `sample`: expected a text, got 3"
    assert said in result.stderr.str()
    assert not project.runs()


def test_a_folder_that_holds_a_run_is_not_overwritten(project):
    assert project.pytest("--benchmark=toysum", "--run-dir=out").ret == 0
    before = (project.path / "out" / "records.jsonl").read_bytes()
    result = project.pytest("--benchmark=toysum", "--run-dir=out")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "its answers are not overwritten" in result.stderr.str()
    assert (project.path / "out" / "records.jsonl").read_bytes() == before


def test_several_benchmarks_have_a_run_each(project):
    project.write(other__yaml="benchmark: toysum\nagent: builtin:wrong\n")
    result = project.pytest(
        "--benchmark=toysum", "--benchmark=other.yaml", "--run-dir=out", "--limit=3"
    )
    assert result.ret == 0
    result.assert_outcomes(passed=8)
    assert project.scores(project.path / "out" / "toysum")["agent"]["name"] == "builtin:right"
    assert project.scores(project.path / "out" / "other.yaml")["agent"]["name"] == "builtin:wrong"


@pytest.mark.parametrize("args", [["--agent=no.py"], ["toysum::sum[s99]"], ["--mode=tets"]])
def test_mistakes_are_found_before_xdist_starts_workers(project, args):
    result = project.pytest("-n1", "--benchmark=toysum", *args)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "bringing up" not in result.stdout.str()


LOUD = """
from pathlib import Path
Path(__file__).with_name("imported.txt").touch()
raise RuntimeError("imported")
"""
SHOWN = {
    "--collect-only": "*<Function sum[[]s1]>",
    "--fixtures": "agent -- *",
    "--fixtures-per-test": "*fixtures used by sum[[]s1]*",
    "--markers": "@pytest.mark.agentbench(name)*",
    "--cache-show": "cachedir: *",
    "--setup-plan": "*toysum::sum[[]s1] (fixtures used: agent, *",
}


@pytest.mark.parametrize("option", SHOWN)
def test_what_only_shows_imports_no_agent_and_writes_nothing(project, option):
    project.write(my_agent__py=LOUD, pytest__ini="[pytest]\n")
    before = sorted(project.path.rglob("*"))
    command = ("--benchmark=toysum", "--agent=my_agent.py", "-p", "no:stepwise", option)
    result = project.pytest(*command)
    assert result.ret == 0
    result.stdout.fnmatch_lines([SHOWN[option]])
    kept = (path for path in project.path.rglob("*") if ".pytest_cache" not in path.parts)
    assert sorted(kept) == before


def test_nor_do_workers_that_only_show(project):
    project.write(my_agent__py=LOUD)
    result = project.pytest("-n2", "--benchmark=toysum", "--agent=my_agent.py", "--setup-plan")
    assert result.ret == 0
    assert not (project.path / "imported.txt").exists()


def test_nor_does_a_marked_test_that_is_only_collected(project):
    project.write(my_agent__py=LOUD, test_mine__py=MARKED)
    result = project.pytest("--collect-only", "--agentbench-agent=my_agent.py")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*<Function test_answers_are_even[[]sum[[]s1]]>"])
    assert not (project.path / "imported.txt").exists()


def test_a_missing_agent_is_a_usage_error_also_where_samples_are_only_shown(project):
    result = project.pytest("--benchmark=toysum", "--agent=none.py", "--collect-only")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "--agent: expected a file that exists, got 'none.py'" in result.stderr.str()


def test_samples_are_shown_in_a_folder_that_cannot_be_written(project):
    try:
        read_only = ["mount", "--bind", "-o", "ro", str(project.path), str(project.path)]
        subprocess.run(["unshare", "-rm", *read_only], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("needs mount namespaces")
    project.pytest("--benchmark=toysum", "--limit=2", "--run-dir=old")
    project.write(my_agent__py=LOUD)
    command = ["--benchmark=toysum", "--agent=my_agent.py", "--collect-only", "--resume=old"]
    pytest_there = shlex.join([sys.executable, "-m", "pytest", *command])
    steps = [
        shlex.join(read_only),
        f"cd {shlex.quote(str(project.path))}",
        "! touch x 2>&1",
        pytest_there,
    ]
    script = " && ".join(steps)
    result = project.run("unshare", "-rm", "sh", "-c", script)
    assert result.ret == 0
    result.stdout.fnmatch_lines(["touch: *Read-only file system", "*12 tests collected*"])
