"""Days of points: how they are laid out, what is refused, and the mean of each user's days."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from pytest_agentbench.metrics import trajectory_days
from pytest_agentbench.metrics.trajectory_days import TABLE_LIMIT, day_pairs

ONE_DAY = {"gen_xy": [(1, 1)], "ref_xy": [(1, 1)], "gen_offsets": [0, 1], "ref_offsets": [0, 1]}


def test_days_keep_their_points_and_their_lengths():
    gen, ref = [(1, 2), (3, 4), (5, 6)], [(7, 8), (9, 10)]
    pairs = day_pairs(gen, ref, [0, 2, 3], [0, 1, 2])
    assert pairs.days == 2
    assert [side.tolist() for side in pairs.lengths()] == [[2, 1], [1, 1]]
    first = pairs.gen[pairs.gen_at[0] : pairs.gen_at[1]]
    assert first.tolist() == [[1, 2], [3, 4]]
    assert pairs.highest == 10


@pytest.mark.parametrize(
    ("far", "kind", "squares"),
    [(3, "int32", 2 * 3**2), (1448, "int32", TABLE_LIMIT), (1449, "float64", None), (0.5, "float64", None)],
)  # fmt: skip
def test_whole_points_that_lie_close_index_a_table_and_others_are_floats(far, kind, squares):
    pairs = day_pairs([(0, 0)], [(far, 0)], [0, 1], [0, 1])
    assert (str(pairs.gen.dtype), str(pairs.ref.dtype), pairs.squares) == (kind, kind, squares)


def test_whole_floats_are_integers_and_far_places_are_moved_to_the_origin():
    pairs = day_pairs([(2.0**40, 5.0)], [(2.0**40 + 3, 5.0)], [0, 1], [0, 1])
    assert pairs.squares is None  # 2**40 and 5 are far apart
    pairs = day_pairs([(2.0**40, 2.0**40)], [(2.0**40 + 3, 2.0**40 + 4)], [0, 1], [0, 1])
    assert (pairs.gen.tolist(), pairs.ref.tolist()) == ([[0, 0]], [[3, 4]])
    assert pairs.highest == 2.0**40 + 4  # as given


def test_batches_hold_every_day_once_the_longest_first():
    lengths = np.random.default_rng(0).integers(1, 400, 300)
    at = np.concatenate(([0], np.cumsum(lengths)))
    points = np.ones((at[-1], 2), int)
    batches = list(day_pairs(points, points, at, at).batches())
    seen = np.concatenate([days for days, *_ in batches])
    assert sorted(seen.tolist()) == list(range(300))
    assert lengths[seen].tolist() == sorted(lengths.tolist(), reverse=True)
    for days, n, m, squares in batches:
        assert n.tolist() == m.tolist() == lengths[days].tolist()
        assert squares.shape == (n.max(), m.max(), len(days))
        assert len(days) == 1 or squares.size <= 1 << 16


def test_batches_hold_squared_distances_padded_with_the_last_point():
    gen, ref = [(0, 0), (3, 4), (9, 9)], [(0, 0), (1, 0), (9, 8)]
    ((days, n, m, squares),) = day_pairs(gen, ref, [0, 2, 3], [0, 2, 3]).batches()
    assert (days.tolist(), n.tolist(), m.tolist()) == ([0, 1], [2, 1], [2, 1])
    assert squares[..., 0].tolist() == [[0, 1], [25, 20]]
    assert squares[..., 1].tolist() == [[1, 1], [1, 1]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gen_xy": [(1, 1, 1)]}, r"generated points: .* got int64 of shape \(1, 3\)"),
        ({"ref_xy": [(1.0, float("nan"))]}, r"reference point 0: .* got \[1.0, nan\]"),
        ({"ref_xy": [("1", "2")]}, "reference points: expected numbers"),
        ({"gen_offsets": [0, 2]}, "generated offsets must run from 0 to .* 1"),
        ({"gen_offsets": [0, 0, 1]}, "generated day 0: expected at least one point"),
        ({"ref_xy": [(1, 1), (2, 2)], "ref_offsets": [0, 1, 2]}, "1 generated days against 2"),
        ({"ref_xy": np.array([(2**64 - 1, 0)], np.uint64)}, "no exact double"),
    ],
)
def test_points_and_offsets_that_do_not_fit_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        day_pairs(**(ONE_DAY | change))


def test_mean_by_user_has_the_bits_of_each_users_mean():
    rng = np.random.default_rng(5)
    days_of = rng.integers(1, 40, 60)
    at = np.concatenate(([0], np.cumsum(days_of)))
    values = rng.random(at[-1])
    means = trajectory_days.mean_by_user(values, at)
    assert means.tolist() == [np.mean(values[a:b].copy()) for a, b in itertools.pairwise(at)]


def test_a_user_without_days_has_no_mean():
    means = trajectory_days.mean_by_user(np.array([1.0, 3.0]), [0, 2, 2])
    assert means[0] == 2.0
    assert np.isnan(means[1])
