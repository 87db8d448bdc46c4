"""A drop-in for the reference package ``geobleu``: its functions and argument rules, made fast.

``from pytest_agentbench import geobleu`` replaces ``import geobleu``. Each function takes an
``edition``, ``"2023"`` or ``"2025"``. Trajectories are rows (d, t, x, y) or (uid, d, t, x, y): a
list of tuples, a NumPy array, or a data frame, whose columns are taken by these names where it has
them, else in order. Nothing passed in is changed. Unlike the reference, rows of several users,
missing numbers and masked cells (999) are errors here, never scores.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pytest_agentbench.metrics import dtw as _dtw
from pytest_agentbench.metrics import geobleu as _geobleu
from pytest_agentbench.metrics.trajectory_days import DayPairs, Ints, day_pairs, mean_by_user

__all__ = [
    "calc_dtw",
    "calc_dtw_bulk",
    "calc_dtw_orig",
    "calc_dtw_single",
    "calc_geobleu",
    "calc_geobleu_bulk",
    "calc_geobleu_orig",
    "calc_geobleu_single",
]

MASKED = 999
_COLUMNS = ("uid", "d", "t", "x", "y")


def calc_geobleu(
    generated: Any, reference: Any, processes: int | None = 4, *, edition: str = "2023"
) -> float:
    """Return one user's GEO-BLEU, the mean over days: 0 to 1, higher is better.

    ``processes`` is accepted for the reference's sake; one user needs no second process.

    >>> calc_geobleu([(60, 12, 84, 88), (61, 3, 7, 7)], [(60, 12, 84, 88), (61, 3, 7, 7)])
    1.0
    """
    _threads(processes)
    return calc_geobleu_single(generated, reference, edition=edition)


def calc_dtw(
    generated: Any, reference: Any, processes: int | None = 4, *, edition: str = "2023"
) -> float:
    """Return one user's dynamic time warping cost in km, the mean over days: lower is better.

    >>> calc_dtw([(60, 12, 84, 88), (61, 3, 7, 7)], [(60, 12, 84, 90), (61, 3, 7, 7)])
    0.5
    """
    _threads(processes)
    return calc_dtw_single(generated, reference, edition=edition)


def calc_geobleu_single(generated: Any, reference: Any, *, edition: str = "2023") -> float:
    """Return what :func:`calc_geobleu` returns.

    >>> calc_geobleu_single([(7, 60, 12, 84, 88)], [(7, 60, 12, 84, 90)], edition="2025")
    0.36787944117144233
    """
    return float(_geobleu.score_pairs(_user_days(generated, reference), edition).mean())


def calc_dtw_single(generated: Any, reference: Any, *, edition: str = "2023") -> float:
    """Return what :func:`calc_dtw` returns.

    >>> calc_dtw_single([(7, 60, 12, 84, 88)], [(7, 60, 12, 84, 90)])
    1.0
    """
    return float(_dtw.score_pairs(_user_days(generated, reference), edition).mean())


def calc_geobleu_bulk(
    generated: Any, reference: Any, processes: int | None = 4, *, edition: str = "2023"
) -> float:
    """Return the mean GEO-BLEU over users, rows (uid, d, t, x, y): 0 to 1, higher is better.

    ``processes`` is the number of threads. Users may come in any order on either side.

    >>> calc_geobleu_bulk([(1, 60, 12, 8, 8), (2, 60, 3, 7, 7)],
    ...                   [(2, 60, 3, 7, 7), (1, 60, 12, 8, 8)])
    1.0
    """
    threads = _threads(processes)
    pairs, users_at = _all_users(generated, reference)
    days = _geobleu.score_pairs(pairs, edition, threads=threads)
    return float(mean_by_user(days, users_at).mean())


def calc_dtw_bulk(
    generated: Any, reference: Any, processes: int | None = 4, *, edition: str = "2023"
) -> float:
    """Return the mean warping cost over users, rows (uid, d, t, x, y): km, lower is better.

    >>> calc_dtw_bulk([(1, 60, 12, 8, 8), (2, 60, 3, 7, 7)],
    ...               [(1, 60, 12, 8, 8), (2, 60, 3, 7, 9)])
    0.5
    """
    threads = _threads(processes)
    pairs, users_at = _all_users(generated, reference)
    days = _dtw.score_pairs(pairs, edition, threads=threads)
    return float(mean_by_user(days, users_at).mean())


def calc_geobleu_orig(
    generated: Any,
    reference: Any,
    max_n: int = 3,
    beta: float = 0.5,
    weights: None = None,
    *,
    edition: str = "2023",
) -> float:
    """Return the GEO-BLEU of two sequences of (x, y) points: 0 to 1, higher is better.

    Points need not be cells of the grid, so 999 is a coordinate like any other here.

    >>> calc_geobleu_orig([(1, 1), (2, 2), (3, 3)], [(1, 1), (1, 1), (1, 2), (2, 2), (2, 2)])
    0.2644414706605502
    """
    if weights is not None:
        raise ValueError(f"weights: only None, equal weights, is defined, got {weights!r}")
    points = _plain_points(generated, "generated"), _plain_points(reference, "reference")
    return _geobleu.geobleu_score(*points, edition, max_n=max_n, beta=beta)


def calc_dtw_orig(
    generated: Any, reference: Any, scale_factor: float = 1.0, *, edition: str = "2023"
) -> float:
    """Return the warping cost of two sequences of (x, y) points: 0 or more, lower is better.

    >>> calc_dtw_orig([(1, 1), (4, 5)], [(1, 1), (1, 1)])
    5.0
    """
    points = _plain_points(generated, "generated"), _plain_points(reference, "reference")
    return _dtw.dtw_distance(*points, edition, scale_factor=scale_factor)


class _Rows(NamedTuple):
    """One trajectory's columns; ``uid`` is None for rows (d, t, x, y)."""

    uid: NDArray[Any] | None
    d: NDArray[Any]
    t: NDArray[Any]
    xy: NDArray[Any]

    def take(self, rows: Ints) -> _Rows:
        """Return these rows in this order."""
        uid = None if self.uid is None else self.uid[rows]
        return _Rows(uid, self.d[rows], self.t[rows], self.xy[rows])


def _threads(processes: int | None) -> int:
    cores = os.cpu_count() or 1
    if processes is None:
        return cores
    if processes < 1:
        raise ValueError(f"processes must be at least 1, got {processes}")
    return min(int(processes), cores)


def _user_days(generated: Any, reference: Any) -> DayPairs:
    """Return one user's days in order of day and time."""
    gen, ref = _both(generated, reference)
    if gen.uid is not None and ref.uid is not None:
        one = gen.uid[0]
        if not ((gen.uid == one).all() and (ref.uid == one).all()):
            uids = np.unique(np.concatenate((gen.uid, ref.uid)))
            raise ValueError(
                f"expected the rows of one uid, got {len(uids)} uids, {uids[0]} and {uids[1]} among"
                " them: score users one by one or with the _bulk functions"
            )
    _same_times(gen, ref, None)
    new_day = gen.d[1:] != gen.d[:-1]
    if not _in_order(gen, new_day):
        order = np.lexsort((gen.t, gen.d))
        gen, ref = gen.take(order), ref.take(order)
        new_day = gen.d[1:] != gen.d[:-1]
    return _unmasked_pairs(gen, ref, _starts(new_day))


def _all_users(generated: Any, reference: Any) -> tuple[DayPairs, Ints]:
    """Return all days in order of uid, day and time, and where in them each user's begin."""
    gen, ref = _both(generated, reference)
    gen_uid, ref_uid = gen.uid, ref.uid
    if gen_uid is None or ref_uid is None:
        raise ValueError("expected rows (uid, d, t, x, y), 5 columns, got 4")
    row_of = np.arange(len(gen_uid))
    if not (np.array_equal(gen_uid, ref_uid) and (gen_uid[1:] >= gen_uid[:-1]).all()):
        row_of = np.argsort(gen_uid, kind="stable")
        ref_row_of = np.argsort(ref_uid, kind="stable")
        if not np.array_equal(gen_uid[row_of], ref_uid[ref_row_of]):
            raise ValueError(_different_users(gen_uid, ref_uid))
        gen, ref, gen_uid = gen.take(row_of), ref.take(ref_row_of), gen_uid[row_of]
    _same_times(gen, ref, row_of)
    new_user = gen_uid[1:] != gen_uid[:-1]
    new_day = new_user | (gen.d[1:] != gen.d[:-1])
    if not _in_order(gen, new_day, new_user):
        order = np.lexsort((gen.t, gen.d, np.concatenate(([0], np.cumsum(new_user)))))
        gen, ref = gen.take(order), ref.take(order)
        new_day = new_user | (gen.d[1:] != gen.d[:-1])
    days_at = _starts(new_day)
    return _unmasked_pairs(gen, ref, days_at), np.searchsorted(days_at, _starts(new_user))


def _in_order(rows: _Rows, new_day: NDArray[Any], new_user: NDArray[Any] | None = None) -> bool:
    """Say whether days, and times within them, rise already: most trajectories come sorted."""
    later = np.where(new_day, rows.d[1:] > rows.d[:-1], rows.t[1:] >= rows.t[:-1])
    return bool((later if new_user is None else later | new_user).all())


def _starts(new: NDArray[Any]) -> Ints:
    """Return where runs begin, and the end, from whether each row but the first begins one."""
    inside = np.flatnonzero(new)
    starts = np.empty(len(inside) + 2, dtype=np.int64)
    starts[0], starts[-1] = 0, len(new) + 1
    np.add(inside, 1, out=starts[1:-1])
    return starts


def _unmasked_pairs(gen: _Rows, ref: _Rows, days_at: Ints) -> DayPairs:
    pairs = day_pairs(gen.xy, ref.xy, days_at, days_at)
    if pairs.highest >= MASKED:
        for side, rows in (("generated", gen), ("reference", ref)):
            masked = (rows.xy == MASKED).any(axis=1)
            if masked.any():
                row = int(masked.argmax())
                user = "" if rows.uid is None else f" of uid {rows.uid[row]}"
                raise ValueError(
                    f"{side} row d={rows.d[row]} t={rows.t[row]}{user}: expected a cell, got"
                    f" {rows.xy[row].tolist()}, and {MASKED} masks what is to be predicted"
                )
    return pairs


def _different_users(gen: NDArray[Any], ref: NDArray[Any]) -> str:
    missing, extra = np.setdiff1d(ref, gen), np.setdiff1d(gen, ref)
    if len(missing) or len(extra):
        return (
            f"users differ: {len(missing)} missing in generated {missing[:5].tolist()},"
            f" {len(extra)} not in reference {extra[:5].tolist()}"
        )
    uids, gen_rows = np.unique(gen, return_counts=True)
    ref_rows = np.unique(ref, return_counts=True)[1]
    first = np.flatnonzero(gen_rows != ref_rows)[0]
    return (
        f"uid {uids[first]}: expected {ref_rows[first]} generated rows as in the reference,"
        f" got {gen_rows[first]}"
    )


def _same_times(gen: _Rows, ref: _Rows, row_of: Ints | None) -> None:
    """Refuse sides whose day and time differ at some step, as the reference does."""
    same = (gen.d == ref.d) & (gen.t == ref.t)
    if not same.all():
        step = int(same.argmin())
        where = step if row_of is None else f"{row_of[step]} (uid {gen.uid[step]})"  # type: ignore[index]  # bulk rows have uids
        raise ValueError(
            f"day and time differ at step {where}: generated d={gen.d[step]} t={gen.t[step]},"
            f" reference d={ref.d[step]} t={ref.t[step]}"
        )


def _both(generated: Any, reference: Any) -> tuple[_Rows, _Rows]:
    """Check the two sides' shapes against each other, in the reference's order, and read them."""
    for side, rows in (("generated", generated), ("reference", reference)):
        if len(rows) == 0:
            raise ValueError(f"{side} trajectory: expected at least one row, got none")
    if len(generated) != len(reference):
        raise ValueError(
            f"expected as many generated as reference rows, got {len(generated)} generated"
            f" and {len(reference)} reference"
        )
    plain = _integers(generated) and _integers(reference)
    gen = generated.T if plain else _columns(generated, "generated")
    ref = reference.T if plain else _columns(reference, "reference")
    if len(gen) != len(ref):
        raise ValueError(
            f"expected the same columns on both sides, got {len(gen)} generated"
            f" and {len(ref)} reference"
        )
    if len(gen) not in (4, 5):
        raise ValueError(f"expected rows (d, t, x, y) or (uid, d, t, x, y), got {len(gen)} columns")
    if plain:
        return _integer_rows(generated), _integer_rows(reference)
    return _rows(gen, "generated"), _rows(ref, "reference")


def _integers(rows: Any) -> bool:
    """Say whether rows are a plain array of signed integers, which needs no conversion."""
    return type(rows) is np.ndarray and rows.ndim == 2 and rows.dtype.kind == "i"


def _integer_rows(rows: NDArray[Any]) -> _Rows:
    uid = rows[:, 0] if rows.shape[1] == 5 else None
    return _Rows(uid, rows[:, -4], rows[:, -3], rows[:, -2:])


def _rows(columns: list[NDArray[Any]], side: str) -> _Rows:
    uid = None
    if len(columns) == 5:
        uid = np.asarray(columns[0].tolist()) if columns[0].dtype.kind == "O" else columns[0]
        if uid.dtype.kind not in "USiu":  # names are as good as numbers
            uid = _numbers(uid, side, "uid")
    d, t, x, y = (
        _numbers(column, side, name)
        for column, name in zip(columns[-4:], _COLUMNS[1:], strict=True)
    )
    return _Rows(uid, d, t, np.stack((x, y), axis=1))


def _columns(rows: Any, side: str) -> list[NDArray[Any]]:
    """Return a trajectory's columns, from a frame, an array or a sequence of rows."""
    names = getattr(rows, "column_names", None)  # a pyarrow table, whose `columns` are the data
    if names is None and hasattr(rows, "columns"):
        names = rows.columns
    elif names is None and not isinstance(rows, list | tuple) and hasattr(rows, "__array__"):
        rows = np.asarray(rows)
        names = rows.dtype.names
        if names is None and rows.ndim != 2:
            raise ValueError(f"{side} trajectory: expected 2 dimensions, got shape {rows.shape}")
        if names is None:
            return list(rows.T)
    if names is not None:
        names = list(names)
        if len(set(names)) != len(names):
            raise ValueError(f"{side} trajectory: expected distinct columns, got {names}")
        known = _COLUMNS[-len(names) :] if len(names) in (4, 5) else ()
        in_order = known if set(known) == set(names) else names
        return [np.asarray(rows[name]) for name in in_order]
    widths = Counter(len(row) for row in rows)
    if len(widths) != 1:
        raise ValueError(f"{side} trajectory: rows differ in columns: {dict(widths)} (width: rows)")
    return [np.asarray(column) for column in zip(*rows, strict=True)]


def _numbers(column: NDArray[Any], side: str, name: str) -> NDArray[Any]:
    """Return a column as int64 or float64; refuse what is missing or no number."""
    if column.dtype.kind == "O":
        # Nullable columns and mixed lists: give NumPy the chance to see plain numbers.
        column = np.asarray(column.tolist())
    if column.dtype.kind == "i":
        return column.astype(np.int64, copy=False)
    if column.dtype.kind == "u":
        if column.dtype.itemsize == 8 and column.max() >= 2**63:
            row = int(column.argmax())
            raise ValueError(f"{side} row {row}: {name} {column[row]} exceeds 64 signed bits")
        # Signed, because unsigned differences wrap around.
        return column.astype(np.int64)
    if column.dtype.kind != "f":
        for row, value in enumerate(column.tolist()):
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise ValueError(f"{side} row {row}: expected a number as {name}, got {value!r}")
        raise ValueError(f"{side} trajectory: {name} holds numbers beyond 64 bits")
    bad = ~np.isfinite(column)
    if bad.any():
        row = int(bad.argmax())
        raise ValueError(f"{side} row {row}: expected a finite {name}, got {column[row]}")
    return column.astype(np.float64, copy=False)


def _plain_points(points: Any, side: str) -> NDArray[Any]:
    if len(points) == 0:
        raise ValueError(f"{side} points: expected at least one (x, y), got none")
    columns = _columns(points, side)
    if len(columns) != 2:
        raise ValueError(f"{side} points: expected (x, y), got {len(columns)} columns")
    return np.stack([_numbers(c, side, n) for c, n in zip(columns, "xy", strict=True)], axis=1)
