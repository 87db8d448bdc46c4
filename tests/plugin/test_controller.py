"""The controller's promises: no record is lost, any number of workers gives the same bits, gates decide."""

from __future__ import annotations

import json
import sys

import pytest
from faults.sessions import lines_of, start, wait_until
from toy_agents import HALF


def readings(project, *args):
    project.pytest("--benchmark=toysum", "--agent=agent.py", *args)
    scores = project.scores()
    return json.dumps([scores["readings"], scores["samples"], scores["gates"]])


@pytest.mark.slow
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
        agent__py="import time\n"
        "def agent(c):\n"
        "    if c['a'] == 1: time.sleep(600)\n"  # the fourth
        "    return c['a'] + c['b']\n"
    )
    with start(project, "--run-dir=out") as process:
        log = project.path / "out" / "records.jsonl"
        wait_until(lambda: lines_of(log) >= 3, "three records")
        process.kill()
    records = project.records(project.path / "out")
    assert len(records) == 3
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
