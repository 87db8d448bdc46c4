"""What ends a run half-way never costs an answer that came, and never looks like a whole run."""

from __future__ import annotations

import json
import signal
import sys
import time

import pytest
from faults.sessions import lines_of, on_disk, start, wait_until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")

# The first sample waits, all others answer at once.
SLOW_FIRST = """
import time
def agent(context):
    if context["a"] == 0:
        time.sleep(600)
    return context["a"] + context["b"]
"""


def test_answers_asked_ahead_are_saved_when_the_run_is_interrupted(project):
    project.write(agent__py=SLOW_FIRST)
    with start(project, "--concurrency=3", "--run-dir=out") as process:
        wait_until(lambda: len(on_disk(project.path / "out")) == 11, "the other answers")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=90)
    assert process.returncode == pytest.ExitCode.INTERRUPTED
    assert len(project.records(project.path / "out")) == 11
    scores = project.scores(project.path / "out")
    assert scores["incomplete"]
    assert scores["samples"]["ok"] == 11


def test_answers_of_a_chunk_are_saved_when_the_run_is_interrupted(project):
    project.write(
        agent__py="import time\n"
        "def agent(c):\n"
        "    with open('asked', 'a') as f: f.write('x\\n')\n"
        "    if c['a'] == 3: time.sleep(600)\n"
        "    return c['a'] + c['b']\n"
    )
    with start(project, "--chunk=9", "--run-dir=out") as process:
        wait_until(lambda: lines_of(project.path / "asked") == 6, "the sixth question")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=90)
    assert sorted(r["sample"] for r in project.records(project.path / "out")) == [
        "double[s0]", "double[s4]", "double[s8]", "sum[s1]", "sum[s2]",
    ]  # fmt: skip


def test_a_skip_in_a_chunk_fails_its_sample_alone(project):
    project.write(
        agent__py="import pytest\n"
        "def agent(c):\n"
        "    if c['a'] == 3: pytest.skip('enough')\n"
        "    return c['a'] + c['b']\n"
    )
    assert project.pytest("--benchmark=toysum", "--agent=agent.py", "--chunk=9").ret == 1
    status = {r["sample"]: r["status"] for r in project.records()}
    assert [status[f"sum[s{n}]"] for n in (1, 2, 3, 5)] == ["ok", "ok", "error", "ok"]


def test_a_second_interrupt_does_not_make_the_run_look_whole(project):
    project.write(
        agent__py="import time\n"
        "def agent(c):\n"
        "    if c['a'] == 8: time.sleep(600)\n"  # the third
        "    return c['a'] + c['b']\n"
    )
    with start(project, "--run-dir=out") as process:
        wait_until(lambda: lines_of(project.path / "out" / "records.jsonl") == 2, "two records")
        process.send_signal(signal.SIGINT)
        time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=90)
    assert process.returncode != 0
    path = project.path / "out" / "scores.json"
    if path.exists():
        assert json.loads(path.read_text())["incomplete"]


def test_an_agent_that_exits_pytest_with_zero_does_not_pass(project):
    project.write(agent__py="import pytest\ndef agent(c):\n    pytest.exit('bye', returncode=0)\n")
    assert project.pytest("--benchmark=toysum", "--agent=agent.py").ret != 0


def test_two_sessions_in_one_second_have_a_folder_each(project):
    project.write(agent__py="def agent(c):\n    return c['a'] + c['b']\n")
    both = [start(project, f"--seed={seed}") for seed in (1, 2)]
    for process in both:
        process.communicate(timeout=90)
        assert process.returncode == 0
    assert sorted(len(project.records(run)) for run in project.runs()) == [12, 12]


def test_an_earlier_run_of_several_epochs_is_scored_epoch_by_epoch(project):
    project.write(
        agent__py="asked = {}\n"
        "def agent(c):\n"
        "    asked[c['a']] = asked.get(c['a'], 0) + 1\n"
        "    return c['a'] + c['b'] if asked[c['a']] == 1 else -1\n"
    )
    project.pytest("--benchmark=toysum", "--agent=agent.py", "--epochs=2", "--run-dir=first")
    again = project.pytest("--benchmark=toysum", "--submission=first", "--epochs=2")
    assert again.ret == 0
    assert [epoch["exact"]["accuracy"] for epoch in project.scores()["epochs"]] == [1.0, 0.0]
    refused = project.pytest("--benchmark=toysum", "--submission=first")
    assert refused.ret == pytest.ExitCode.USAGE_ERROR
    assert "give --epochs 2" in refused.stderr.str()


def test_a_run_is_not_resumed_with_another_agent_of_the_same_file(project):
    project.write(two__py="def a(c):\n    return 1\ndef b(c):\n    return 2\n")
    common = ["--benchmark=toysum", "-k", "s1"]
    project.pytest(*common, "--agent=two.py:a")
    result = project.pytest("--benchmark=toysum", "--agent=two.py:b", "--resume")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "agent ('two.py:a', now 'two.py:b')" in result.stderr.str()


@pytest.mark.parametrize("option", ["--setup-plan", "--setup-only", "--fixtures", "--co"])
def test_what_is_no_run_leaves_none(project, option):
    result = project.pytest("--benchmark=toysum", option)
    assert result.ret == 0
    assert "gate" not in result.stdout.str()
    assert not project.runs()


def test_a_projects_own_sample_fixture_is_left_alone(project):
    project.write(
        conftest__py="import pytest\n@pytest.fixture\ndef sample():\n    return 'mine'\n",
        test_mine__py="def test_mine(sample):\n    assert sample == 'mine'\n",
    )
    result = project.pytest("--benchmark=toysum", "test_mine.py")
    result.assert_outcomes(passed=14)


@pytest.mark.parametrize("extra", [[], ["-n2"]], ids=["serial", "xdist"])
def test_an_agent_with_a_close_of_its_own(project, extra):
    project.write(
        agent__py="class Agent:\n"
        "    def forward(self, c):\n        return c['a'] + c['b']\n"
        "    def close(self):\n        raise OSError('too late')\n"
    )
    result = project.pytest("--benchmark=toysum", "--agent=agent.py", *extra)
    assert result.ret == 0
    assert "Traceback" not in result.stdout.str() + result.stderr.str()


def test_a_hook_that_fails_is_reported_and_costs_nothing(project):
    project.write(
        conftest__py="def pytest_agentbench_scores(scores):\n    raise RuntimeError('mine')\n"
    )
    result = project.pytest("--benchmark=toysum")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["FAILED toysum::gate[[]files written] - *RuntimeError: mine*"])
    assert project.scores()["samples"]["ok"] == 12


@pytest.mark.parametrize("option", ["--resume-failed-only", "--resume-anyway"])
def test_options_of_resume_need_it(project, option):
    result = project.pytest("--benchmark=toysum", option)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "expected --resume beside it" in result.stderr.str()


def test_a_relative_run_dir_starts_where_pytest_was_started(project, monkeypatch):
    project.write(pytest__ini="[pytest]\n", sub___x__txt="")
    monkeypatch.chdir(project.path / "sub")
    assert project.pytest("--benchmark=toysum", "--run-dir=out").ret == 0
    assert (project.path / "sub" / "out" / "scores.json").exists()
