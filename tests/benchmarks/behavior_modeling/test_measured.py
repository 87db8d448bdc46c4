"""What is measured of each record: worst values for failures, columns by hand for answers, parts by mask."""

from __future__ import annotations

import numpy as np
import pytest

from pytest_agentbench.benchmarks.behavior_modeling.measured import HIT_RATES, Measured, measure
from pytest_agentbench.metrics.estimator import Absent
from pytest_agentbench.runs.record import Record

LISTED = [f"i{n}" for n in range(8)]


def record(task, status="ok", answer=None):
    kind = "recommendation" if task == 17 else "review_writing"
    return Record("BehaviorModeling", f"{kind}[{task}]", status, answer=answer)


def ranked(truth_at):
    others = [item for item in LISTED if item != "i1"]  # the truth of task 17
    return {"item_list": [*others[:truth_at], "i1", *others[truth_at:]]}


@pytest.fixture
def dataset(folder, load):
    return load(folder())


def test_hits_are_those_of_the_place_and_failures_hit_nothing(dataset):
    records = [record(17, answer=ranked(0)), record(17, answer=ranked(2)),
               record(17, answer=ranked(4)), record(17, answer=ranked(5)), record(17, "error")]  # fmt: skip
    found = measure(dataset, records)
    assert [found.columns[name].tolist() for name in HIT_RATES] == [
        [1, 0, 0, 0, 0],
        [1, 1, 0, 0, 0],
        [1, 1, 1, 0, 0],
    ]
    assert found.columns["mrr"].tolist() == pytest.approx([1, 1 / 3, 1 / 5, 1 / 6, 0])
    assert found.valid.tolist() == [True, True, True, True, False]
    assert not found.absent  # no review: no model is missing


def test_stars_are_a_share_of_five_and_a_failure_is_as_far_as_can_be(dataset):
    records = [record(18, answer={"stars": 3.5, "review": "Awful."}), record(18, "invalid"),
               record(17, answer=ranked(0))]  # fmt: skip
    found = measure(dataset, records)
    # The truth is one star; the largest distance of two ratings is four of five.
    assert found.columns["star_error"][:2].tolist() == pytest.approx([0.5, 0.8])
    assert found.recommendation.tolist() == [False, False, True]
    # Without text models there is nothing of emotion and topic, and the reason is said.
    assert "--text-models none" in found.absent["emotion_error"]
    assert found.absent["topic_error"] == found.absent["emotion_error"]
    assert "emotion_error" not in found.columns


def test_a_part_has_the_chosen_records_alone(dataset):
    records = [record(17, answer=ranked(0)), record(17, "error"), record(17, answer=ranked(2))]
    whole = measure(dataset, records)
    part = whole.part(np.array([False, True, True]))
    alone = measure(dataset, records[1:])
    assert part.valid.tolist() == alone.valid.tolist() == [False, True]
    assert part.columns.keys() == alone.columns.keys()
    for name, column in alone.columns.items():
        np.testing.assert_array_equal(part.columns[name], column)


def test_why_there_is_nothing_to_count():
    mask = np.array([False, False])
    failed = Measured(valid=mask, recommendation=np.array([True, True]), columns={})
    assert failed.nothing(~mask, "recommendation") is None
    reason = failed.nothing(mask, "recommendation")
    assert reason == Absent("none of 2 recommendation samples has a valid answer")
    assert failed.nothing(mask, "review_writing") == Absent("the run has no review_writing samples")
