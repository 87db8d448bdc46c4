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


@pytest.mark.parametrize("workers", [[], pytest.param(["-n2"], marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "chosen", [["-k", "other"], ["test_mine.py::test_other"], ["-k", "nothing"]]
)
def test_a_gate_is_not_lost_where_no_marked_test_is_selected(project, chosen, workers):
    project.write(test_mine__py=MARKED + "\ndef test_other(): pass\n")
    result = project.pytest("--agentbench-gate=accuracy > 0", *chosen, *workers)
    assert result.ret == 1
    assert "FAILED" in result.stdout.str()
    assert "not decided" in result.stdout.str()


def test_a_mistake_is_told_once(project):
    project.write(test_mine__py=MARKED)
    text = project.pytest("--agentbench-agent=nowhere.py").stdout.str()
    assert "During handling of the above exception" not in text
    assert "BenchmarkError" not in text


@pytest.mark.parametrize("workers", [[], pytest.param(["-n2"], marks=pytest.mark.slow)])
def test_two_benchmarks_in_one_folder_are_refused_before_anything_is_asked(project, workers):
    other = "from toybench import ToySum\nclass Other(ToySum):\n    name = 'other'\n"
    second = MARKED.replace("test_toysum", "test_other").replace('"toysum"', '"other:Other"')
    project.write(other__py=other, test_mine__py=MARKED + second)
    result = project.pytest("--agentbench-run-dir=run", *workers)
    assert result.ret != 0
    text = result.stdout.str()
    assert "--run-dir: expected one benchmark for " in text
    assert "got toysum and other" in text
    assert not (project.path / "run").exists()
    result = project.pytest(*workers)
    result.assert_outcomes(passed=26)
    assert len(project.runs()) == 2


AGENT = """
def agent(context):
    open("asked", "a").write("x")
    return context["a"] + context["b"]
"""


def test_a_marked_run_that_was_cut_short_goes_on_as_it_says(project):
    body = "    agent(sample.context)\n    assert sample.key.id not in ('s3', 's4')\n"
    project.write(
        test_mine__py=MARKED.replace("    agent(sample.context)\n", body), agent__py=AGENT
    )
    result = project.pytest("-x", "--agentbench-agent=agent.py", "--agentbench-run-dir=run")
    said = next(line for line in result.outlines if line.startswith("to go on"))
    assert said == (
        "to go on, give the agent and other options as before to "
        "pytest --benchmark toysum --resume=run"
    )
    asked = len((project.path / "asked").read_text())
    assert 0 < asked < 12
    options = said.partition("pytest ")[2].split()
    assert (
        project.pytest("-p", "no:cacheprovider", *options, "--agentbench-agent=agent.py").ret == 0
    )
    assert len((project.path / "asked").read_text()) == 12
    assert project.scores(project.path / "run")["samples"]["ok"] == 12
