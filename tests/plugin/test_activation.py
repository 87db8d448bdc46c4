"""From a command to runs: which there are, and what is refused before any sample is asked."""

from __future__ import annotations

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
