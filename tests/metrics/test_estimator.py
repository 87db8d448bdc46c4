"""A metric that a run cannot have."""

from __future__ import annotations

import dataclasses

import pytest

from pytest_agentbench.metrics.estimator import Absent


def test_absent_metrics_are_equal_by_their_reason_and_cannot_be_changed():
    absent = Absent("no valid answer")
    assert absent == Absent("no valid answer") != Absent("no records")
    assert {absent: 1}[Absent("no valid answer")] == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        absent.reason = "another"


def test_an_absent_metric_is_no_number():
    with pytest.raises(TypeError):
        float(Absent("no valid answer"))
    with pytest.raises(TypeError):
        sorted([0.5, Absent("no valid answer")])
