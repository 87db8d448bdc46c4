"""Days of points, checked and laid out one after another, as integers where they are whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

# Squared distances up to this one index a table: any two cells of a 1449 x 1449 grid.
TABLE_LIMIT = 2 * 1448**2
_BATCH_CELLS = 1 << 16


class DayPairs(NamedTuple):
    """Days in one row of points: day k is ``gen[gen_at[k]:gen_at[k + 1]]``, likewise ``ref``."""

    gen: NDArray[Any]
    ref: NDArray[Any]
    gen_at: Ints
    ref_at: Ints
    squares: int | None  # largest squared distance a table must hold; None: points are floats
    highest: float  # largest coordinate, as given

    @property
    def days(self) -> int:
        return len(self.gen_at) - 1

    def lengths(self) -> tuple[Ints, Ints]:
        """Return the points of each generated and each reference day."""
        return self.gen_at[1:] - self.gen_at[:-1], self.ref_at[1:] - self.ref_at[:-1]

    def batches(self) -> Iterator[tuple[Ints, Ints, Ints, NDArray[Any]]]:
        """Yield days of about equal length, their lengths, and squared distances for NumPy.

        These are by (generated point, reference point, day): a day shorter than the longest is
        padded with its last point.
        """
        n, m = self.lengths()
        by_length = np.argsort(n * m, kind="stable")[::-1]
        start = 0
        while start < len(by_length):
            longest = by_length[start]
            batch = by_length[start : start + max(1, _BATCH_CELLS // int(n[longest] * m[longest]))]
            start += len(batch)
            gen, ref = (
                points[at[batch] + np.minimum(np.arange(count.max())[:, None], count - 1)]
                for points, at, count in (
                    (self.gen, self.gen_at, n[batch]),
                    (self.ref, self.ref_at, m[batch]),
                )
            )
            gap = ref[None] - gen[:, None]
            squares = gap[..., 0] * gap[..., 0] + gap[..., 1] * gap[..., 1]
            yield batch, n[batch], m[batch], squares


def day_pairs(
    gen_xy: ArrayLike, ref_xy: ArrayLike, gen_offsets: ArrayLike, ref_offsets: ArrayLike
) -> DayPairs:
    """Check and lay out days for scoring; whole coordinates become int32, others float64."""
    gen, ref = _points(gen_xy, "generated"), _points(ref_xy, "reference")
    gen_at = _offsets(gen_offsets, len(gen), "generated")
    if ref_offsets is gen_offsets and len(ref) == len(gen):
        ref_at = gen_at
    else:
        ref_at = _offsets(ref_offsets, len(ref), "reference")
    if len(gen_at) != len(ref_at):
        raise ValueError(f"{len(gen_at) - 1} generated days against {len(ref_at) - 1} reference")
    low = high = 0
    if len(gen_at) > 1:
        # For a user's few points one copy and one search are faster than two searches.
        small = len(gen) < 4096 and gen.dtype == ref.dtype
        sides = (np.concatenate((gen, ref)),) if small else (gen, ref)
        low = min([np.minimum.reduce(side, axis=None).item() for side in sides])
        high = max([np.maximum.reduce(side, axis=None).item() for side in sides])
    span, squares = high - low, None
    if gen.dtype.kind != "f" and ref.dtype.kind != "f":
        if low < -(2**63) or high >= 2**63 or span >= 2**53:
            raise ValueError(
                f"coordinates from {low} to {high}: their distances have no exact double"
            )
        if not -(2**30) < low <= high < 2**30:
            gen, ref = gen.astype(np.int64) - low, ref.astype(np.int64) - low
        if 2 * span * span <= TABLE_LIMIT:
            squares = 2 * span * span
    kind: Any = float if squares is None else np.int32
    gen, ref = np.ascontiguousarray(gen, kind), np.ascontiguousarray(ref, kind)
    return DayPairs(gen, ref, gen_at, ref_at, squares, high)


def _points(points: ArrayLike, side: str) -> NDArray[Any]:
    """Return points as integers where every coordinate is whole, as float64 otherwise."""
    array = np.asarray(points)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iuf":
        raise ValueError(
            f"{side} points: expected numbers of shape (points, 2),"
            f" got {array.dtype} of shape {array.shape}"
        )
    if array.dtype.kind != "f":
        return array
    array = array.astype(np.float64)
    bad = np.flatnonzero(~np.isfinite(array).all(axis=1))
    if len(bad):
        got = array[bad[0]].tolist()
        raise ValueError(f"{side} point {bad[0]}: expected finite x and y, got {got}")
    whole = (np.abs(array) < 2**53) & (array == np.rint(array))
    return array.astype(np.int64) if whole.all() else array


def _offsets(offsets: ArrayLike, points: int, side: str) -> Ints:
    at = np.ascontiguousarray(offsets, dtype=np.int64)
    if at.ndim != 1 or len(at) == 0 or at[0] != 0 or at[-1] != points:
        raise ValueError(f"{side} offsets must run from 0 to the number of points, {points}")
    empty = np.flatnonzero(at[1:] <= at[:-1])
    if len(empty):
        raise ValueError(f"{side} day {empty[0]}: expected at least one point, got none")
    return at


def mean_by_user(per_day: Floats, users_at: ArrayLike) -> Floats:
    """Return the mean over each user's days; user k has days ``users_at[k]:users_at[k + 1]``.

    Users of equally many days are averaged together: the bits of ``np.mean`` over each alone.
    """
    at = np.asarray(users_at, dtype=np.int64)
    counts = at[1:] - at[:-1]
    means = np.full(len(counts), np.nan)
    for count in np.unique(counts[counts > 0]):
        users = np.flatnonzero(counts == count)
        means[users] = per_day[at[users][:, None] + np.arange(count)].mean(axis=1)
    return means
