"""Draws the people to ask about, and makes tasks of their last reviews."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from pytest_agentbench.benchmarks.behavior_modeling.corpus.candidates import (
    CandidatePool,
    even_places,
)
from pytest_agentbench.benchmarks.behavior_modeling.corpus.scratch import Scratch
from pytest_agentbench.benchmarks.behavior_modeling.items import UNKNOWN, kind
from pytest_agentbench.benchmarks.behavior_modeling.tasks import RECOMMENDATION, REVIEW

NOWHERE = [-1, -1]  # `loc` of tasks that have none, as published ones


@dataclass(frozen=True)
class Recommendation:
    """Which of the candidates did this person review next?"""

    user: str
    item: str
    candidates: tuple[str, ...]
    kind: str

    def entry(self, number: int) -> dict[str, Any]:
        return {
            "task_id": number, "target": RECOMMENDATION, "user_id": self.user,
            "candidate_category": self.kind, "candidate_list": list(self.candidates),
            "loc": NOWHERE, "ground_truth": {"item_id": self.item},
        }  # fmt: skip


@dataclass(frozen=True)
class ReviewWriting:
    """What did this person write about the item?"""

    user: str
    item: str
    stars: float
    text: str

    def entry(self, number: int) -> dict[str, Any]:
        return {
            "task_id": number, "target": REVIEW, "user_id": self.user, "item_id": self.item,
            "ground_truth": {"stars": self.stars, "review": self.text},
        }  # fmt: skip


@dataclass
class TasksDrawn:
    """Tasks of both targets, one a person, and why other people were left out."""

    recommendations: list[Recommendation] = field(default_factory=list)
    reviews: list[ReviewWriting] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)

    def __len__(self) -> int:
        return len(self.recommendations) + len(self.reviews)

    def entries(self) -> list[dict[str, Any]]:
        """The content of test_tasks.json."""
        first = len(self.recommendations) + 1
        return [
            *(task.entry(number) for number, task in enumerate(self.recommendations, 1)),
            *(task.entry(number) for number, task in enumerate(self.reviews, first)),
        ]


def draw_tasks(scratch: Scratch, cut: float, tasks: int, candidates: int, seed: int) -> TasksDrawn:
    """As many tasks as the people allow, at most ``tasks``: one half for each target.

    No person has two tasks. The item of a review task would be the answer of the other one.
    """
    pool = CandidatePool(scratch.database, candidates)
    people = scratch.people(cut)
    random.Random(f"{seed} people").shuffle(people)
    wanted = (tasks - tasks // 2, tasks // 2)
    rng = random.Random(f"{seed} places")
    ranks = even_places(wanted[0], candidates, rng)
    positions = even_places(wanted[0], candidates, rng)
    drawn = TasksDrawn()
    for turn, (user, number) in enumerate(people):
        if len(drawn) == tasks:
            break
        truth = _truth(scratch, user, number, cut, drawn.left_out)
        if truth is None:
            continue
        done = len(drawn.recommendations)
        if done < wanted[0] and (turn % 2 == 0 or len(drawn.reviews) == wanted[1]):
            found = pool.draw(
                truth.item, truth.reviewed, ranks[done], positions[done],
                random.Random(f"{seed} {user}"),
            )  # fmt: skip
            if found is None:
                drawn.left_out["too few items to compare theirs with"] += 1
                continue
            drawn.recommendations.append(Recommendation(user, truth.item, found.listed, truth.kind))
        elif len(drawn.reviews) < wanted[1]:
            drawn.reviews.append(ReviewWriting(user, truth.item, truth.stars, truth.text))
    return drawn


@dataclass(frozen=True)
class _Truth:
    item: str
    kind: str
    stars: float
    text: str
    reviewed: frozenset[str]  # all that the person ever reviewed


def _truth(
    scratch: Scratch, user: str, number: int, cut: float, left_out: Counter[str]
) -> _Truth | None:
    """A person's last review, if it can be asked for and is not in the store in other words."""
    database = scratch.database
    item, fit, start = database.execute(
        "SELECT item, fit, start FROM review WHERE n = ?", (number,)
    ).fetchone()
    record = database.execute(
        "SELECT json FROM item JOIN known_item USING (id) WHERE id = ?", (item,)
    ).fetchone()
    if not fit:
        left_out["their last review has no stars or no text"] += 1
        return None
    if record is None:
        left_out["the item of their last review has no record, or no review before the cut"] += 1
        return None
    others = database.execute(
        "SELECT item, time, start FROM review WHERE user = ? AND n <> ? ORDER BY time, n",
        (user, number),
    ).fetchall()
    reviewed = frozenset(other for other, _, _ in others)
    if item in reviewed:
        left_out["they had reviewed the item before"] += 1
        return None
    review = scratch.text_at(start)
    text = str(review["text"]).strip()
    if any(str(scratch.text_at(s)["text"]).strip() == text for _, time, s in others if time < cut):
        left_out["they had written the same text before"] += 1
        return None
    sort = kind(json.loads(record[0]))
    return _Truth(
        item, "item" if sort == UNKNOWN else sort, float(review["stars"]), review["text"],
        reviewed | {item},
    )  # fmt: skip
