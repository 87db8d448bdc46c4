"""Users of a submission file, many at a time: their rows are checked, scored and written as JSON in arrays.

What this finds valid has the record that :mod:`answers` and :mod:`scoring` would give it one by one.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pytest_agentbench.benchmarks.humob.data import HumobDataset
from pytest_agentbench.benchmarks.humob.editions import CELL_MAX, CELL_MIN
from pytest_agentbench.benchmarks.humob.scoring import (
    bounds_of_days,
    in_one_piece,
    means,
    score_days,
)
from pytest_agentbench.benchmarks.humob.submission import found, of_all_rows, times_fit
from pytest_agentbench.benchmarks.humob.tables import Table, joined
from pytest_agentbench.benchmarks.protocol import Accepted, Measured

if TYPE_CHECKING:
    import numpy.typing as npt

    from pytest_agentbench.benchmarks.humob.scoring import DayScores

_SIDE = CELL_MAX - CELL_MIN + 1


class ValidUsers(NamedTuple):
    """Users with a cell for every target and nothing else, one after another."""

    at: npt.NDArray[np.intp]  # among the users asked for
    cells: npt.NDArray[np.int32]
    truth: npt.NDArray[np.int16]
    sizes: npt.NDArray[np.int64]  # rows of each


def valid_users(
    dataset: HumobDataset, table: Table, places: npt.NDArray[np.intp]
) -> ValidUsers | None:
    """Those of these users whose answers in the table of a submission are valid; None if nobody's is."""
    at, there = found(table, dataset, places)
    valid = np.flatnonzero(times_fit(table, dataset, places, at, there))
    starts, stops = table.starts[at], table.starts[at + 1]
    cells = _cells(table, starts[valid], stops[valid])
    if len(cells) and (cells.min() < CELL_MIN or cells.max() > CELL_MAX):
        inside = ((cells >= CELL_MIN) & (cells <= CELL_MAX)).min(axis=1)
        valid = valid[of_all_rows(inside, (stops - starts)[valid])]
        cells = _cells(table, starts[valid], stops[valid])
    return ValidUsers(valid, cells, *dataset.targets_of(places[valid])) if len(valid) else None


def score_submitted(
    dataset: HumobDataset, table: Table, indices: Sequence[int]
) -> list[Accepted | None]:
    """The answers of these users in the table of a submission; None for one that is missing or invalid."""
    accepted: list[Accepted | None] = [None] * len(indices)
    users = valid_users(dataset, table, np.asarray(indices, np.intp))
    if users is None:
        return accepted
    metrics = [Measured({})] * len(users.at)
    if dataset.truth_known:
        metrics = means(*day_scores(users))
    texts = _texts(users.cells, users.sizes)
    for place, text, measured in zip(users.at.tolist(), texts, metrics, strict=True):
        accepted[place] = Accepted(text, measured)
    return accepted


def day_scores(users: ValidUsers) -> tuple[DayScores, npt.NDArray[np.int64]]:
    """The scores of all their days, and how many each of them has."""
    bounds, counts = bounds_of_days(users.truth[:, 0], users.sizes)
    return score_days(users.cells, users.truth[:, 2:], bounds), counts


def _cells(
    table: Table, starts: npt.NDArray[np.int64], stops: npt.NDArray[np.int64]
) -> npt.NDArray[np.int32]:
    return in_one_piece(joined(table.rows, starts, stops)[:, 2:])


def _texts(cells: npt.NDArray[np.int32], sizes: npt.NDArray[np.int64]) -> list[str]:
    """``[[x,y],[x,y]]`` of each user."""
    places, lengths = _cell_texts()
    cell = (cells[:, 0] - CELL_MIN) * _SIDE + (cells[:, 1] - CELL_MIN)
    text = places[cell].tobytes().translate(None, b"\0").decode("ascii")
    ends = np.append(0, np.cumsum(lengths[cell]))[np.append(0, np.cumsum(sizes))].tolist()
    return [f"[{text[low : high - 1]}]" for low, high in itertools.pairwise(ends)]


@functools.cache
def _cell_texts() -> tuple[npt.NDArray[np.bytes_], npt.NDArray[np.int64]]:
    """The JSON of every cell with a comma, ``[x,y],``, and its length."""
    numbers = range(CELL_MIN, CELL_MAX + 1)
    texts = np.array([f"[{x},{y}],".encode() for x in numbers for y in numbers])
    return texts, np.char.str_len(texts)
