"""SIGKILL at random points: of the controller, of a worker, of the agent's child."""

from __future__ import annotations

import sys

import pytest
from faults.kill_campaign import SAMPLES, campaign
from faults.sessions import logged, write_agent

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("way", "points"),
    [
        ("controller", 2),
        ("controller of workers, asked ahead", 1),
        ("a call hangs in a worker, asked ahead", 1),
        ("worker", 2),
        ("child, asked ahead", 3),
    ],
)
def test_no_logged_answer_is_lost_nor_asked_again(tmp_path, way, points):
    figures = campaign(way, points, seed=9, folder=tmp_path)
    assert not figures.problems
    assert (figures.lost, figures.asked_again, figures.left_running) == (0, 0, 0)
    assert figures.points >= points
    assert figures.logged >= SAMPLES


def test_a_worker_that_dies_after_its_report_does_not_cost_the_answer(project):
    write_agent(project)
    project.write(
        conftest__py="import os, signal\n"
        "def pytest_runtest_teardown(item):\n"
        "    if 's5' in item.name: os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    result = project.pytest("--benchmark=toysum", "--agent=agent.py", "--run-dir=out", "-n2")
    assert result.ret == 1
    assert "crashed while running 'toysum::sum[s5]'" in result.stdout.str()
    assert logged(project.path / "out") == list(range(12))
