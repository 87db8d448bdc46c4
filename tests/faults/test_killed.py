"""SIGKILL at random points: of the controller, of a worker, of the agent's child."""

from __future__ import annotations

import sys

import pytest
from faults.kill_campaign import SAMPLES, campaign

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc")


@pytest.mark.parametrize(
    ("way", "points"),
    [
        ("controller", 2),
        ("controller of workers, asked ahead", 1),
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
