"""The controller's promises: no record is lost, any number of workers gives the same bits, gates decide."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

HALF = "def agent(context):\n    return context['a'] + context['b'] if context['a'] % 3 else 'x'\n"


def readings(project, *args):
    project.pytest("--benchmark=toysum", "--agent=agent.py", *args)
    scores = project.scores()
    return json.dumps([scores["readings"], scores["samples"], scores["gates"]])


def test_any_number_of_workers_gives_the_same_bits(project):
    project.write(agent__py=HALF)
    serial = readings(project)
    assert serial == readings(project, "-n2")
    assert serial == readings(project, "-n4", "--dist=worksteal")
    assert '"low"' in serial


def test_humob_in_parallel_gives_the_same_bits_as_serial(project):
    args = ["--benchmark=humob", "--limit=30"]
    assert project.pytest(*args, "--run-dir=a").ret == 0
    assert project.pytest(*args, "--run-dir=b", "-n2").ret == 0
    serial, parallel = (project.scores(project.path / name) for name in "ab")
    assert serial["readings"] == parallel["readings"]
    assert 0 < serial["readings"]["2023"]["geobleu"]["value"] < 1


KILLED = """
import os, signal, time
def agent(context):
    if context["a"] == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    return context["a"] + context["b"]
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_an_answer_that_came_stays_when_its_worker_dies_before_the_item_ends(project):
    project.write(
        conftest__py="import os, signal\n"
        "def pytest_runtest_teardown(item):\n"
        "    if '[s5]' in item.name:\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    result = project.pytest("--benchmark=toysum", "-n2")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*worker 'gw*' crashed while running 'toysum::sum*s5*'"])
    assert project.scores()["samples"]["ok"] == len(project.records()) == 12


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_killed_worker_costs_one_sample(project):
    project.write(agent__py=KILLED)
    result = project.pytest("--benchmark=toysum", "--agent=agent.py", "-n2")
    assert result.ret == 1
    assert project.scores()["samples"] == {
        "total": 12,
        "ok": 11,
        "invalid": 0,
        "error": 1,
        "timeout": 0,
    }
    (record,) = [r for r in project.records() if r["status"] == "error"]
    assert record["sample"] == "sum[s5]"
    assert "crashed while running 'toysum::sum[s5]'" in record["error"]
    result.stdout.fnmatch_lines(["FAILED toysum::gate[[]coverage >= 1]*"])


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_killed_controller_loses_nothing_that_was_logged(project):
    project.write(
        agent__py="import time\ndef agent(c):\n    time.sleep(0.2)\n    return c['a'] + c['b']\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", "--benchmark=toysum", "--agent=agent.py", "--run-dir=out"],
        cwd=project.path, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    log = project.path / "out" / "records.jsonl"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and (not log.exists() or log.read_text().count("\n") < 3):
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    records = project.records(project.path / "out")
    assert 3 <= len(records) < 12
    assert all(record["status"] == "ok" for record in records)
    assert json.loads((project.path / "out" / "manifest.json").read_text())["schema"] == 1


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGINT")
def test_an_interrupted_run_is_logged_as_incomplete(project):
    project.write(
        agent__py="import os, signal\n"
        "def agent(c):\n"
        "    if c['a'] == 5: os.kill(os.getpid(), signal.SIGINT)\n"
        "    return c['a'] + c['b']\n"
    )
    result = project.pytest_process("--benchmark=toysum", "--agent=agent.py")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    scores = project.scores()
    assert scores["incomplete"] == "the session was cut short (interrupted)"
    assert scores["gates"][0]["passed"] is None
    result.stdout.fnmatch_lines(["gate not decided: coverage >= 1"])


def test_fewer_records_than_samples_can_never_pass(project):
    project.write(
        conftest__py="def pytest_runtest_protocol(item):\n    return True if 's5' in item.name else None\n"
    )
    result = project.pytest("--benchmark=toysum", "--gate=coverage >= 0")
    assert result.ret == 1
    result.assert_outcomes(passed=12, failed=1)
    result.stdout.fnmatch_lines(
        ["FAILED toysum::gate[[]every sample recorded] - *1 samples left no record*"]
    )
    assert project.scores()["samples"]["error"] == 1


def test_gates_decide_the_exit_code_and_stand_in_every_report(project):
    result = project.pytest(
        "--benchmark=toysum", "--agent=builtin:half", "-n2", "--junitxml=out.xml",
        "--gate=accuracy >= 0.5", "--gate=accuracy > 0.9", "--gate=accuracy.low >= 0.9",
        "--gate=lenient:distance < 100", "--gate=style > 0", "--gate=beauty > 0",
        "--gate=strict:accuracy > 0", "--gate=accuracy >= baseline",
    )  # fmt: skip
    assert result.ret == 1
    gates = {gate["gate"]: gate for gate in project.scores()["gates"]}
    assert [gate for gate, found in gates.items() if found["passed"]] == [
        "coverage >= 1", "accuracy >= 0.5", "lenient:distance < 100",
    ]  # fmt: skip
    assert gates["accuracy > 0.9"]["value"] == 0.5
    assert gates["accuracy > 0.9"]["threshold"] == 0.9
    assert gates["style > 0"]["reason"] == "style is absent in this run: numbers have no style"
    assert gates["beauty > 0"]["reason"] == (
        "metric 'beauty' does not exist in exact; there are: accuracy, distance, style, coverage"
    )
    assert gates["strict:accuracy > 0"]["reason"].startswith("reading 'strict' does not exist")
    assert "--baseline RUN" in gates["accuracy >= baseline"]["reason"]
    result.assert_outcomes(passed=15, failed=6)
    assert (project.path / "out.xml").read_text().count("<failure") == 6


def test_gates_against_a_baseline_run(project):
    project.write(agent__py=HALF)
    project.pytest("--benchmark=toysum", "--agent=builtin:half", "--run-dir=old")
    common = ["--benchmark=toysum", "--baseline=old"]
    better = project.pytest(
        *common, "--gate=accuracy >= baseline + 0.5", "--gate=delta(accuracy) == 0.5",
        "--gate=delta(accuracy).low > 0", "--run-dir=new",
    )  # fmt: skip
    assert better.ret == 0
    better.stdout.fnmatch_lines(
        ["difference to the baseline old on 12 common samples", "  accuracy  +0.5000*"]
    )
    worse = project.pytest(*common, "--agent=builtin:wrong", "--gate=accuracy >= baseline - 0.4")
    assert worse.ret == 1
    worse.stdout.fnmatch_lines(["gate failed: accuracy >= baseline - 0.4: got 0 against 0.1"])
    last = project.pytest("--benchmark=toysum", "--baseline=last", "-k", "not double")
    assert last.ret == 0
    assert project.scores()["baseline"]["common_samples"] == 9


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


def test_a_folder_that_holds_a_run_is_not_overwritten(project):
    assert project.pytest("--benchmark=toysum", "--run-dir=out").ret == 0
    before = (project.path / "out" / "records.jsonl").read_bytes()
    result = project.pytest("--benchmark=toysum", "--run-dir=out")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "its answers are not overwritten" in result.stderr.str()
    assert (project.path / "out" / "records.jsonl").read_bytes() == before


HOOKS = """
def pytest_agentbench_record(record, settings):
    print("\\nrecord", settings.benchmark.name, record.sample, record.status)
def pytest_agentbench_scores(scores, folder, settings):
    print("\\nscores", scores["readings"]["exact"]["accuracy"]["value"], (folder / "scores.json").exists())
"""


def test_hooks_tell_other_plugins_of_records_and_scores(project):
    project.write(conftest__py=HOOKS)
    result = project.pytest("--benchmark=toysum", "-n1", "-s", "--limit=2")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["record toysum sum[[]s6] ok", "scores 1.0 True"])


def test_an_agent_that_answers_with_anything_at_all_loses_nothing(project):
    project.write(
        agent__py="import numpy as np\n"
        "ODD = [np.float64(1), float('nan'), {1: {2}}, '\\ud800', b'x', object, 10**5000, None,\n"
        "       [[[]]], np.arange(3), lambda: 0, 'x' * 100000]\n"
        "def agent(c):\n"
        "    if c['a'] == 8: raise ValueError('\\ud800')\n"
        "    print('\\ud800')\n"
        "    return ODD[c['a']]\n"
    )
    result = project.pytest("--benchmark=toysum", "--agent=agent.py", "-n2")
    assert result.ret == 1
    assert "INTERNALERROR" not in result.stdout.str()
    records = {r["sample"]: r for r in project.records()}
    assert len(records) == 12
    # The whole number 10**5000 passes the check, and then the toy cannot measure it.
    assert {r["status"] for r in records.values()} == {"invalid", "error"}
    assert records["sum[s9]"]["answer"] == [0, 1, 2]
    assert records["sum[s11]"]["answer"] == "x" * 100000


def test_progress_lines_on_a_long_run(project):
    project.write(
        agent__py="import time\ndef agent(c):\n    time.sleep(0.1)\n    return c['a'] + c['b']\n",
        pytest__ini="[pytest]\nagentbench_progress = 0.3\n",
    )
    result = project.pytest("--benchmark=toysum", "--agent=agent.py")
    result.stdout.fnmatch_lines(
        ["toysum: [3-5]/12, [3-5] ok, accuracy 1.0000 so far in valid answers"]
    )
    assert (
        " so far" not in project.pytest("--benchmark=toysum", "--agent=agent.py", "-q").stdout.str()
    )
