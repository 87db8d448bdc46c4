"""The estimator of a part agrees with one that never knew of the other records."""

from __future__ import annotations

import numpy as np

from pytest_agentbench.metrics.estimator import Absent
from pytest_agentbench.metrics.estimator_part import part_of

VALUES = np.array([1.0, 2.0, 4.0, 8.0])
CHOSEN = np.array([True, False, True, True])


def mean_of(values):
    def estimate(reading, weights):
        given = np.ones((1, len(values))) if weights is None else weights
        mean = given @ values / given.sum(axis=1)
        return {"mean": mean[0] if weights is None else mean, "never": Absent(reading)}

    return estimate


def test_one_value_and_every_resample_are_those_of_the_part_alone():
    part, alone = part_of(mean_of(VALUES), CHOSEN), mean_of(VALUES[CHOSEN])
    assert np.ndim(part("r", None)["mean"]) == 0
    assert part("r", None)["mean"] == alone("r", None)["mean"] == 13 / 3
    weights = np.array([[0.0, 2.0, 1.0], [3.0, 0.0, 0.0]])
    assert (
        part("r", weights)["mean"].tolist() == alone("r", weights)["mean"].tolist() == [16 / 3, 1]
    )


def test_what_is_absent_stays_so_with_its_reason():
    part = part_of(mean_of(VALUES), CHOSEN)
    assert part("why", None)["never"] == part("why", np.ones((2, 3)))["never"] == Absent("why")


def test_a_part_of_nobody_is_not_a_number_and_no_warning():
    # pytest makes warnings errors here.
    part = part_of(mean_of(VALUES), np.zeros(4, bool))
    assert np.isnan(part("r", None)["mean"])


def test_a_method_of_its_own_is_used():
    class Own:
        def __call__(self, reading, weights):
            raise AssertionError("the slow way")

        def part(self, chosen):
            return mean_of(VALUES[chosen])

    assert part_of(Own(), CHOSEN)("r", None)["mean"] == 13 / 3
