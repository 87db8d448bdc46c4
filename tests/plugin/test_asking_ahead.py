"""Many calls at once, one report after the other; and the same scores as ever."""

from __future__ import annotations

import json
import sys

import pytest

from pytest_agentbench.plugin import asking_ahead

# Answers nobody before four have asked: would wait for ever if asked one after the other.
MEETING = """
import asyncio
asked = 0
async def agent(context):
    global asked
    asked += 1
    while asked < 4:
        await asyncio.sleep(0.01)
    print("out", context["a"])
    return context["a"] + context["b"]
"""
SYNC_MEETING = """
import threading
barrier = threading.Barrier(4)
def agent(context):
    barrier.wait(timeout=60)
    return context["a"] + context["b"]
"""
TALKING = """
import asyncio, logging, sys
async def agent(context):
    a = context["a"]
    print("started", a)
    await asyncio.sleep(0.05 * (a % 3))
    print("complaint", a, file=sys.stderr)
    logging.getLogger("mine").warning("note %s", a)
    if a == 5:
        raise RuntimeError("five")
    return a + context["b"]
"""


@pytest.mark.parametrize("agent", [MEETING, SYNC_MEETING], ids=["async", "sync"])
def test_calls_overlap_and_items_report_in_order(project, agent):
    project.write(agent__py=agent)
    result = project.pytest(
        "--benchmark=toysum", "--agent=agent.py", "--concurrency=4", "-v", "--agent-timeout=60"
    )
    assert result.ret == 0
    reported = [
        line.split("[s")[1].split("]")[0]
        for line in result.outlines
        if "PASSED" in line and "[s" in line
    ]
    assert reported == ["0", "4", "8", "1", "2", "3", "5", "6", "7", "9", "10", "11"]


def test_with_workers_the_two_multiply(project):
    project.write(agent__py=MEETING)
    result = project.pytest("--benchmark=toysum", "--agent=agent.py", "--concurrency=4", "-n2")
    assert result.ret == 0
    assert len(project.records()) == 12


@pytest.mark.parametrize("extra", [[], ["-n2"]], ids=["serial", "xdist"])
def test_scores_are_the_same_bits_as_one_by_one(project, extra):
    project.write(agent__py=TALKING)
    found = []
    for args in ([], ["--concurrency=5", *extra]):
        project.pytest("--benchmark=toysum", "--agent=agent.py", *args)
        scores = project.scores()
        found.append(json.dumps([scores["readings"], scores["samples"], scores["gates"]]))
    assert found[0] == found[1]


def test_every_item_has_its_own_output(project):
    project.write(agent__py=TALKING)
    result = project.pytest("--benchmark=toysum", "--agent=agent.py", "--concurrency=12")
    assert result.ret == 1
    text = result.stdout.str()
    failure = text[text.index("sum[s5]") : text.index("gate[")]
    assert "started 5" in failure
    assert "complaint 5" in failure
    assert "note 5" in failure
    assert "started 6" not in text, "output of passing samples is not shown"
    evidence = {r["sample"]: r["evidence"] for r in project.records()}
    assert evidence["sum[s7]"]["stdout"] == "started 7\n"
    assert evidence["sum[s7]"]["stderr"] == "complaint 7\n"
    assert "note 7" in evidence["sum[s7]"]["log"]
    assert "note 8" not in evidence["sum[s7]"]["log"]


def test_nothing_runs_that_was_deselected(project):
    project.write(
        agent__py="import os\ndef agent(c):\n    open(f'asked-{c[\"a\"]}', 'w').close()\n    return c['a'] + c['b']\n"
    )
    project.pytest("--benchmark=toysum", "--agent=agent.py", "--concurrency=8", "-k", "s3 or s5")
    assert sorted(p.name for p in project.path.glob("asked-*")) == ["asked-3", "asked-5"]


def test_the_first_failure_stops_the_rest(project):
    project.write(
        agent__py="import time\ndef agent(c):\n    time.sleep(1 if c['a'] else 0)\n    open(f'asked-{c[\"a\"]}', 'w').close()\n    return 'x'\n"
    )
    result = project.pytest("--benchmark=toysum", "--agent=agent.py", "--concurrency=2", "-x")
    assert result.ret == 1
    result.assert_outcomes(failed=1)
    assert len(list(project.path.glob("asked-*"))) < 6


def test_an_own_agent_of_a_conftest_is_asked_in_its_turn(project):
    project.write(
        conftest__py="import pytest\n@pytest.fixture\ndef agent():\n    return lambda c: c['a'] + c['b']\n"
    )
    assert project.pytest("--benchmark=toysum", "--concurrency=4").ret == 0


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_dead_worker_costs_one_sample_here_too(project):
    project.write(
        agent__py="import os, time\ndef agent(c):\n    if c['a'] == 8: time.sleep(0.5); os._exit(1)\n    return c['a'] + c['b']\n"
    )
    result = project.pytest("--benchmark=toysum", "--agent=agent.py", "--concurrency=1", "-n2")
    assert result.ret == 1
    assert project.scores()["samples"]["error"] == 1


FLAKY = """
class Busy(Exception):
    status_code = 429
seen = set()
def agent(context):
    a = context["a"]
    if a % 2 and a not in seen:
        seen.add(a)
        raise Busy("later") if a != 3 else ValueError("never")
    return a + context["b"]
"""


def test_only_errors_that_may_pass_are_tried_again(project):
    project.write(agent__py=FLAKY)
    result = project.pytest(
        "--benchmark=toysum", "--agent=agent.py", "--agent-retries=1", "--concurrency=6"
    )
    assert result.ret == 1
    records = {r["sample"]: r for r in project.records()}
    assert {name for name, r in records.items() if r["status"] != "ok"} == {"sum[s3]"}
    assert records["sum[s5]"]["usage"] == {"retries": 1}
    assert records["sum[s2]"]["usage"] == {}


EPOCHS = """
asked = {}
def agent(context):
    a = context["a"]
    asked[a] = asked.get(a, 0) + 1
    return a + context["b"] if asked[a] != 2 else -1
"""


def test_epochs_ask_every_sample_again_and_scores_are_means(project):
    project.write(agent__py=EPOCHS)
    result = project.pytest("--benchmark=toysum", "--agent=agent.py", "--epochs=3", "-v")
    assert result.ret == 0
    result.assert_outcomes(passed=37)
    result.stdout.fnmatch_lines(
        [
            "toysum::double[[]s0-e1] PASSED*",
            "means over 3 epochs; accuracy of each: 1.0000, 0.0000, 1.0000",
        ]
    )
    scores = project.scores()
    assert scores["samples"]["total"] == 36
    assert scores["partial"] is False
    assert scores["readings"]["exact"]["accuracy"]["value"] == pytest.approx(2 / 3)
    assert [epoch["exact"]["accuracy"] for epoch in scores["epochs"]] == [1.0, 0.0, 1.0]
    assert {r["epoch"] for r in project.records()} == {1, 2, 3}
    one = project.pytest("toysum::sum[s1-e2]", "--epochs=3", "--agent=agent.py")
    one.assert_outcomes(passed=2)
    assert project.scores()["partial"] is True


END = object()


@pytest.mark.parametrize(
    ("queued", "called_off"),
    [([3, 4, END], False), ([3, END, END], True), ([END, END], False), ([], False), ([END], False)],
)
def test_a_second_end_mark_calls_off_what_is_left(monkeypatch, queued, called_off):
    monkeypatch.setattr("pytest_agentbench.plugin.compat.queued", lambda config: queued)
    assert asking_ahead.is_called_off(None) is called_off
