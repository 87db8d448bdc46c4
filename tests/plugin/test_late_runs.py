"""Tests marked with @pytest.mark.agentbench leave records and scores, without --benchmark and with workers."""

from __future__ import annotations

import pytest

MARKED = """
import pytest

@pytest.mark.agentbench("toysum")
def test_toysum(agent, sample):
    agent(sample.context)
"""


@pytest.mark.parametrize("workers", [[], ["-n2"]])
def test_a_marked_test_is_recorded_scored_and_gated(project, workers):
    project.write(test_mine__py=MARKED)
    gate = "--agentbench-gate=accuracy > 0.9"
    result = project.pytest("--agentbench-agent=builtin:half", gate, *workers)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=13, failed=1)
    result.stdout.fnmatch_lines(
        ["12 samples: 12 ok", "FAILED toysum::gate[[]accuracy > 0.9]*got 0.5 against 0.9"]
    )
    marked = project.scores()
    project.pytest("--benchmark=toysum", "--agent=builtin:half", "--run-dir=plain")
    plain = project.scores(project.path / "plain")
    assert marked["readings"] == plain["readings"]
    assert marked["agent"] == plain["agent"]


def test_the_samples_and_the_tests_of_several_functions_are_one_run(project):
    project.write(test_mine__py=MARKED + MARKED.replace("test_toysum", "test_again"))
    project.pytest("-k", "s1]").assert_outcomes(passed=3, deselected=22)
    assert len(project.runs()) == 1
    assert project.scores()["samples"]["total"] == 1
    assert project.scores()["partial"]


def test_a_test_that_takes_samples_alone_measures_nothing(project):
    project.write(
        test_mine__py=MARKED.replace("agent, sample", "sample").replace("agent(s", "repr(s")
    )
    project.pytest().assert_outcomes(passed=12)
    assert not project.runs()


def test_a_run_that_is_only_marked_is_not_resumed(project):
    project.write(test_mine__py=MARKED)
    result = project.pytest("--agentbench-resume=last")
    assert result.ret != 0
    assert (
        "--resume: expected a run that an option names; give --benchmark toysum"
        in result.stdout.str()
    )


def test_a_mistake_of_the_agent_is_told(project):
    project.write(test_mine__py=MARKED)
    result = project.pytest("--agentbench-agent=nowhere.py")
    assert result.ret == pytest.ExitCode.INTERRUPTED  # an error during collection
    result.stdout.fnmatch_lines(["*@pytest.mark.agentbench: --agent: *nowhere.py*"])


def test_epochs_and_limits_hold(project):
    project.write(test_mine__py=MARKED)
    result = project.pytest("--agentbench-epochs=2", "--agentbench-limit=3", "-v")
    result.assert_outcomes(passed=7)
    assert sum("-e2] PASSED" in line for line in result.outlines) == 3


def test_collecting_alone_asks_nothing(project):
    project.write(test_mine__py=MARKED)
    assert project.pytest("--co", "-q").ret == 0
    assert not project.runs()


@pytest.mark.parametrize("workers", [[], ["-n2"]])
@pytest.mark.parametrize(
    "chosen", [["-k", "other"], ["test_mine.py::test_other"], ["-k", "nothing"]]
)
def test_a_gate_is_not_lost_where_no_marked_test_is_selected(project, chosen, workers):
    project.write(test_mine__py=MARKED + "\ndef test_other(): pass\n")
    result = project.pytest("--agentbench-gate=accuracy > 0", *chosen, *workers)
    assert result.ret == 1
    assert "FAILED" in result.stdout.str()
    assert "not decided" in result.stdout.str()
