"""Means and intervals against independent computations."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from pytest_agentbench.metrics import bootstrap
from pytest_agentbench.metrics.estimator import Absent

FINITE = st.floats(-1e6, 1e6)


def mean_of(values):
    return lambda reading, weights: {"m": bootstrap.mean(values, weights), "none": Absent("x")}


@given(st.lists(FINITE, min_size=1, max_size=50), st.randoms())
def test_the_mean_is_exactly_rounded_and_knows_no_order(values, rng):
    exact = sum(map(Fraction, values))
    shuffled = rng.sample(values, len(values))
    assert bootstrap.mean(values, None) == bootstrap.mean(shuffled, None)
    assert bootstrap.mean(values, None) == float(exact) / len(values)


@given(st.lists(FINITE, min_size=1, max_size=30), st.integers(0, 100))
def test_weights_count_how_often_a_record_was_drawn(values, seed):
    rng = np.random.default_rng(seed)
    drawn = rng.integers(0, len(values), size=(5, len(values)))
    weights = np.stack([np.bincount(row, minlength=len(values)) for row in drawn]).astype(float)
    expected = np.array(values)[drawn].mean(axis=1)
    np.testing.assert_allclose(bootstrap.mean(values, weights), expected, rtol=1e-9, atol=1e-6)


def test_every_resample_draws_as_many_people_as_there_are():
    (weights,) = bootstrap.draw(["a", "b", "a", "c"], seed=3, resamples=50)
    assert weights.shape == (50, 4)
    assert (weights[:, 0] == weights[:, 2]).all(), "records of one person are drawn together"
    assert (weights[:, 0] + weights[:, 1] + weights[:, 3] == 3).all()
    assert len(np.unique(weights, axis=0)) > 5


def test_weights_do_not_depend_on_the_size_of_blocks(monkeypatch):
    clusters = [str(n) for n in range(10)]
    whole = np.concatenate(list(bootstrap.draw(clusters, seed=1, resamples=30)))
    monkeypatch.setattr(bootstrap, "_BLOCK_VALUES", 70)
    blocks = list(bootstrap.draw(clusters, seed=1, resamples=30))
    assert len(blocks) > 3
    np.testing.assert_array_equal(whole, np.concatenate(blocks))


def test_intervals_agree_with_scipy():
    values = list(np.random.default_rng(5).gamma(2.0, size=200))
    ours = bootstrap.intervals(mean_of(values), ["r"], [str(n) for n in range(200)], seed=0)
    low, high = ours["r"]["m"]
    theirs = scipy.stats.bootstrap(
        (values,), np.mean, n_resamples=20_000, method="percentile", rng=1
    )
    width = theirs.confidence_interval.high - theirs.confidence_interval.low
    assert low == pytest.approx(theirs.confidence_interval.low, abs=0.06 * width)
    assert high == pytest.approx(theirs.confidence_interval.high, abs=0.06 * width)
    assert "none" not in ours["r"]


def test_people_with_many_records_widen_the_interval():
    values = [float(n % 10) for n in range(100)]
    alone = bootstrap.intervals(mean_of(values), ["r"], [str(n) for n in range(100)], 0)["r"]["m"]
    grouped = bootstrap.intervals(mean_of(values), ["r"], [str(n % 10) for n in range(100)], 0)[
        "r"
    ]["m"]
    assert grouped[1] - grouped[0] > 2 * (alone[1] - alone[0])


def test_a_paired_difference_is_surer_than_two_scores():
    rng = np.random.default_rng(2)
    ours = list(rng.normal(size=100))
    theirs = [value - 0.1 for value in ours]
    clusters = [str(n) for n in range(100)]
    low, high = bootstrap.intervals(mean_of(ours), ["r"], clusters, 0, mean_of(theirs))["r"]["m"]
    assert low == pytest.approx(0.1)
    assert high == pytest.approx(0.1)


def test_the_interval_of_a_biased_score_holds_its_value_and_keeps_its_range():
    rng = np.random.default_rng(3)
    counts = np.eye(30)[rng.integers(0, 30, size=60)]  # sixty people in thirty bins

    def share_of_empty_bins(reading, weights):
        weights = np.ones((1, 60)) if weights is None else weights
        empty = (weights @ counts == 0).mean(axis=1)  # a resample always leaves more bins empty
        return {"m": empty}

    clusters = [str(n) for n in range(60)]
    value = float(share_of_empty_bins("r", None)["m"][0])
    low, high = bootstrap.intervals(share_of_empty_bins, ["r"], clusters, 0)["r"]["m"]
    assert low < value < high
    clipped = bootstrap.intervals(
        share_of_empty_bins, ["r"], clusters, 0, ranges={"m": (value, 1.0)}
    )
    assert clipped["r"]["m"] == (value, high)


def test_one_person_alone_has_no_interval():
    assert bootstrap.intervals(mean_of([1.0, 2.0]), ["r"], ["a", "a"], 0) == {"r": {}}


@pytest.mark.slow
def test_intervals_cover_the_truth_about_as_often_as_they_say():
    rng = random.Random(7)
    clusters = [str(n) for n in range(80)]
    covered = 0
    for trial in range(300):
        values = [rng.gauss(3.0, 1.0) for _ in clusters]
        low, high = bootstrap.intervals(mean_of(values), ["r"], clusters, trial)["r"]["m"]
        covered += low <= 3.0 <= high
    assert 0.91 <= covered / 300 <= 0.98


def test_several_columns_have_the_means_of_each_alone():
    weights = np.concatenate(list(bootstrap.draw([str(n) for n in range(30)], seed=3)))
    columns = {name: np.random.default_rng(ord(name)).random(30) for name in "ab"}
    found = bootstrap.means(columns, weights)
    assert {name: values.tolist() for name, values in found.items()} == {
        name: bootstrap.mean(values, weights).tolist() for name, values in columns.items()
    }


@pytest.mark.parametrize("columns", [(), (1,), (3,), (72,)])
@pytest.mark.parametrize("people", [0, 1, 20, 99, 300])
def test_sums_of_many_resamples_are_those_of_each_alone(people, columns):
    rng = np.random.default_rng(people)
    values = rng.random((people, *columns))
    weights = rng.integers(0, 4, (2000, people)).astype(float)
    found = bootstrap.sums(values, weights)
    assert found.shape == (2000, *columns)
    alone = np.array([(values.T * row).sum(axis=-1) for row in weights])
    assert found == pytest.approx(alone, rel=1e-12)


@pytest.mark.parametrize("people", [1, 2, 7, 100, 70_001])
def test_resamples_drawn_together_are_those_drawn_one_by_one(people):
    clusters = [str(number) for number in range(people)]
    rng = np.random.default_rng(5)
    alone = [np.bincount(rng.integers(0, people, people), minlength=people) for _ in range(9)]
    assert np.array_equal(np.concatenate(list(bootstrap.draw(clusters, 5, 9))), alone)


@pytest.mark.parametrize(
    ("people", "width", "resamples"),
    [(1, 1, 1), (20, 150, 1000), (400, 300, 37), (9000, 3, 5), (3, 0, 4), (7, 5, 0)],
)
def test_sums_of_counts_are_those_of_a_product(people, width, resamples):
    rng = np.random.default_rng(1)
    counts = rng.integers(0, 50, (people, width)).astype(float)
    weights = rng.integers(0, 9, (resamples, people)).astype(float)
    assert bootstrap.count_sums(counts, weights).tolist() == (weights @ counts).tolist()


def test_intervals_of_several_metrics_are_those_of_each_alone():
    rng = np.random.default_rng(4)
    columns = {name: rng.normal(size=30) for name in "abc"}
    columns["now and then"] = np.where(np.arange(30) == 0, np.nan, 1.0 + np.arange(30))

    def some_of(names):
        def estimate(reading, weights):
            if weights is None:
                return {name: float(np.nanmean(columns[name])) for name in names}
            # A resample with the first person has no value of the last column.
            return {
                name: np.where(
                    np.isnan(columns[name]).any() & (weights[:, 0] > 2),
                    np.nan,
                    weights @ np.nan_to_num(columns[name]) / 30,
                )
                for name in names
            }

        return estimate

    people = [str(n) for n in range(30)]
    together = bootstrap.intervals(some_of(columns), ["r"], people, 0, spare=0.2)["r"]
    assert len(together) == 4
    for name, interval in together.items():
        assert (
            bootstrap.intervals(some_of([name]), ["r"], people, 0, spare=0.2)["r"][name] == interval
        )
