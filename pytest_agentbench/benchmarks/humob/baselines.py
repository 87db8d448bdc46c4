"""Baselines as agents: each takes the context and answers with a cell per target.

They look at the user's own history and nothing else. Somebody without a history is put in the
middle of the map. Ties go to the cell seen last.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

Context = Mapping[str, Any]
Cell = tuple[int, int]
Answer = list[list[int]]

HALF_LIFE_DAYS = 14.0
SLOTS = 48


def mean(context: Context) -> Answer:
    """The organisers' baseline: the mean point of the history, rounded to a cell, held."""
    history = context["history"]
    if not history:
        return _held(context, _middle(context))
    x = sum(row[2] for row in history) / len(history)
    y = sum(row[3] for row in history) / len(history)
    return _held(context, (math.floor(x + 0.5), math.floor(y + 0.5)))


def mode(context: Context) -> Answer:
    """The cell seen most often, held."""
    votes = Votes(((), (x, y), 1.0) for _, _, x, y in context["history"])
    return _held(context, votes.winner((), _middle(context)))


def slot_mode(context: Context) -> Answer:
    """For each half hour, the cell seen most often in it, or else in the nearest half hour."""
    slots = _slot_votes(context)
    fallback = _nearest_slots(context, slots)
    return [list(slots.winner(t, fallback[t])) for _, t in context["targets"]]


def weekday_slot_mode(context: Context) -> Answer:
    """:func:`slot_mode` of the same day of the week; where there is none, of all days."""
    slots = _slot_votes(context)
    fallback = _nearest_slots(context, slots)
    weekdays = Votes(((d % 7, t), (x, y), 1.0) for d, t, x, y in context["history"])
    return [
        list(weekdays.winner((d % 7, t), slots.winner(t, fallback[t])))
        for d, t in context["targets"]
    ]


def decayed_slot_mode(context: Context) -> Answer:
    """:func:`slot_mode` with votes that lose half their weight in two weeks.

    The half hours next to a slot vote with less weight, and the same day of the week counts
    ten times, so that a slot with few sightings is not decided by one of them.
    """
    today = context["targets"][0][0] if context["targets"] else 0
    ballots: dict[tuple[int, int], dict[Cell, float]] = defaultdict(lambda: defaultdict(float))
    for d, t, x, y in context["history"]:
        weight = 0.5 ** ((today - d) / HALF_LIFE_DAYS)
        for slot, share in ((t, 1.0), (t - 1, 0.3), (t + 1, 0.3)):
            ballots[d % 7, slot][x, y] += weight * share
    fallback = _nearest_slots(context, _slot_votes(context))
    chosen: dict[tuple[int, int], Cell] = {}
    for d, t in context["targets"]:
        if (d % 7, t) not in chosen:
            total: dict[Cell, float] = defaultdict(float)
            for weekday in range(7):
                for cell, weight in ballots.get((weekday, t), {}).items():
                    total[cell] += weight * (10.0 if weekday == d % 7 else 1.0)
            chosen[d % 7, t] = max(total, key=total.__getitem__) if total else fallback[t]
    return [list(chosen[d % 7, t]) for d, t in context["targets"]]


def bigram(context: Context) -> Answer:
    """Walks from target to target: where did the user go next from this cell at such an hour?

    The first known answer wins of: same cell and half hour, same cell and a half hour beside it,
    and the :func:`slot_mode` of the half hour.
    """
    history = context["history"]
    following = Votes(
        (((x, y), t_next), (x_next, y_next), 1.0)
        for (d, _, x, y), (d_next, t_next, x_next, y_next) in itertools.pairwise(history)
        if d_next == d
    )
    slots = _slot_votes(context)
    fallback = _nearest_slots(context, slots)
    answer: Answer = []
    day: int | None = None
    cell: Cell | None = None
    for d, t in context["targets"]:
        found: Cell | None = None
        if d == day and cell is not None:  # each day starts afresh
            for slot in (t, t - 1, t + 1):
                found = found or following.find((cell, slot))
        cell = found or slots.winner(t, fallback[t])
        day = d
        answer.append(list(cell))
    return answer


class Votes:
    """Votes for cells, by key."""

    def __init__(self, seen: Iterable[tuple[Hashable, Cell, float]]) -> None:
        weights: dict[Hashable, dict[Cell, float]] = defaultdict(dict)
        self._winners: dict[Hashable, Cell] = {}
        best: dict[Hashable, float] = {}
        for key, cell, weight in seen:
            ballot = weights[key]
            ballot[cell] = total = ballot.get(cell, 0.0) + weight
            if total >= best.get(key, 0.0):  # the later of two equals
                best[key] = total
                self._winners[key] = cell

    def find(self, key: Hashable) -> Cell | None:
        return self._winners.get(key)

    def winner(self, key: Hashable, fallback: Cell) -> Cell:
        return self._winners.get(key, fallback)


def _slot_votes(context: Context) -> Votes:
    return Votes((t, (x, y), 1.0) for _, t, x, y in context["history"])


def _nearest_slots(context: Context, slots: Votes) -> list[Cell]:
    """For every half hour, the winner of the nearest half hour that has one."""
    known = [t for t in range(SLOTS) if slots.find(t) is not None]
    middle = _middle(context)
    if not known:
        return [middle] * SLOTS
    nearest = [min(known, key=lambda other: abs(other - t)) for t in range(SLOTS)]
    return [slots.winner(t, middle) for t in nearest]


def _held(context: Context, cell: Cell) -> Answer:
    return [list(cell) for _ in context["targets"]]


def _middle(context: Context) -> Cell:
    grid = context["grid"]
    return sum(grid["x"]) // 2, sum(grid["y"]) // 2


BASELINES: Mapping[str, Callable[[Context], Answer]] = {
    "mean": mean,
    "mode": mode,
    "slot-mode": slot_mode,
    "weekday-slot-mode": weekday_slot_mode,
    "decayed-slot-mode": decayed_slot_mode,
    "bigram": bigram,
}
