"""How often the true item comes first where nobody looked at the person: orders that should be chance."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pytest_agentbench.benchmarks.behavior_modeling.corpus.tasks_drawn import Recommendation
from pytest_agentbench.benchmarks.behavior_modeling.items import categories

TOPS = (1, 3, 5)
# Held to the margin, by the way candidates are drawn. The others use more than order and popularity; they
# are shown for comparison.
HELD = ("unchanged", "by popularity", "by popularity, reversed")


@dataclass(frozen=True)
class Rate:
    """The average hit rate of one order, beside chance."""

    order: str
    value: float
    error: float  # standard error
    chance: float

    @property
    def above(self) -> float:
        return round(self.value - self.chance, 9) + 0.0  # no -0.000


def measure(
    tasks: Sequence[Recommendation], database: sqlite3.Connection
) -> tuple[list[Rate], float]:
    """The average hit rate of each order, and the margin by which those that are held may differ."""
    known = {
        item: _known(database, item) for task in tasks for item in dict.fromkeys(task.candidates)
    }
    orders: dict[str, Callable[[Recommendation], list[str]]] = {
        "unchanged": lambda task: list(task.candidates),
        "by popularity": lambda task: sorted(task.candidates, key=lambda i: (-known[i][0], i)),
        "by popularity, reversed": lambda task: sorted(
            task.candidates, key=lambda i: (-known[i][0], i)
        )[::-1],
        "by mean stars": lambda task: sorted(task.candidates, key=lambda i: (-known[i][1], i)),
        "by newest review": lambda task: sorted(task.candidates, key=lambda i: (-known[i][2], i)),
        # Many have the same number: those stay as they are listed.
        "fewest categories": lambda task: sorted(task.candidates, key=lambda i: known[i][3]),
        "most categories": lambda task: sorted(task.candidates, key=lambda i: -known[i][3]),
    }
    chance = sum(chance_of(len(task.candidates)) for task in tasks) / len(tasks)
    rates = []
    for name, order in orders.items():
        hits = [average_hit(order(task).index(task.item)) for task in tasks]
        mean = math.fsum(hits) / len(hits)
        spread = math.fsum((hit - mean) ** 2 for hit in hits) / max(1, len(hits) - 1)
        rates.append(Rate(name, mean, math.sqrt(spread / len(hits)), chance))
    return rates, 1 / len(tasks)


def average_hit(place: int) -> float:
    """The mean of the top 1, 3 and 5 hits of an item at a place (0 is first).

    >>> [average_hit(place) for place in (0, 4, 5)]
    [1.0, 0.3333333333333333, 0.0]
    """
    return sum(place < top for top in TOPS) / len(TOPS)


def chance_of(candidates: int) -> float:
    """The average hit rate of a random order.

    >>> round(chance_of(20), 3)
    0.15
    """
    return sum(min(top, candidates) / candidates for top in TOPS) / len(TOPS)


def table(rates: Sequence[Rate]) -> list[str]:
    """The rates as a table in Markdown, which is readable in a terminal, too."""
    width = max(len(rate.order) for rate in rates)
    lines = [
        f"| {'candidates':{width}} | average hit rate | above chance | standard error |",
        f"|{'-' * (width + 2)}|-----------------:|-------------:|---------------:|",
    ]
    for rate in rates:
        lines.append(
            f"| {rate.order:{width}} | {rate.value:16.3f} | {rate.above:+12.3f} | {rate.error:14.3f} |"
        )
    chance = f"| {'chance':{width}} | {rates[0].chance:16.3f} | {'':12} | {'':14} |"
    return [*lines, chance]


def _known(database: sqlite3.Connection, item: str) -> tuple[int, float, float, int]:
    count, mean, newest, record = database.execute(
        "SELECT count, mean, newest, json FROM known_item JOIN item USING (id) WHERE id = ?",
        (item,),
    ).fetchone()
    return count, mean or 0.0, newest, len(set(categories(json.loads(record))))
