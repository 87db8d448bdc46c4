"""Baselines as agents. Each answers both kinds of question, so that each has a final score.

One named after a way to recommend (``candidate-order``, ``random``, ``popular``, ``user-category``)
writes reviews as ``user-mean`` does; one named after a way to write reviews (``constant``,
``user-mean``) recommends as ``random`` does, which is chance. They see what any agent sees.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

from pytest_agentbench.benchmarks.behavior_modeling.items import categories
from pytest_agentbench.benchmarks.behavior_modeling.tasks import RECOMMENDATION

Context = Mapping[str, Any]
Answer = dict[str, Any]

USUAL_STARS = 4.0
MOST_REVIEWS = 500  # of one user or item; more would hardly change the mean
SENTENCES = {
    1: "This was a bad experience and I would not recommend it to anybody.",
    2: "I was disappointed, there are better choices than this one.",
    3: "It was okay, with some good points and some bad points.",
    4: "I liked it, it was good and I would recommend it.",
    5: "I loved it, it was excellent and I recommend it to everybody.",
}


def _as_listed(context: Context) -> list[str]:
    """The candidates as they come: chance, unless their order was kept and leaks the answer."""
    return list(context["candidate_list"])


def _random(context: Context) -> list[str]:
    """The candidates in a random order, the same in every run."""
    listed = sorted(context["candidate_list"])
    random.Random(f"{context['task_id']} {context['user_id']}").shuffle(listed)
    return listed


def _popular(context: Context) -> list[str]:
    """The candidates with most reviews first."""
    count = {item: context["uir"].count_reviews(item_id=item) for item in context["candidate_list"]}
    return sorted(count, key=lambda item: (-count[item], item))


def _user_category(context: Context) -> list[str]:
    """The candidates of the categories that the user reviews most and rates best first."""
    uir = context["uir"]
    liking: dict[str, float] = defaultdict(float)
    for review in uir.get_reviews(user_id=context["user_id"], limit=MOST_REVIEWS):
        stars = float(review.get("stars") or USUAL_STARS)
        for category in categories(uir.get_item(review["item_id"])):
            liking[category] += stars - 2  # even a poor review shows an interest

    def appeal(item: str) -> float:
        known = categories(uir.get_item(item))
        return sum(liking.get(category, 0.0) for category in known) / max(1, len(known))

    places = {item: place for place, item in enumerate(_popular(context))}
    return sorted(places, key=lambda item: (-appeal(item), places[item]))


def _constant(_: Context) -> Answer:
    """Four stars and one sentence, always the same."""
    return _written(USUAL_STARS)


def _user_mean(context: Context) -> Answer:
    """The user's mean stars (else the item's), and a sentence that goes with them."""
    uir = context["uir"]
    reviews = uir.get_reviews(user_id=context["user_id"], limit=MOST_REVIEWS)
    reviews = reviews or uir.get_reviews(item_id=context["item_id"], limit=MOST_REVIEWS)
    stars = [float(review["stars"]) for review in reviews if review.get("stars") is not None]
    return _written(sum(stars) / len(stars) if stars else USUAL_STARS)


def _written(stars: float) -> Answer:
    kept = min(5.0, max(1.0, stars))
    return {"stars": kept, "review": SENTENCES[int(kept + 0.5)]}


def _baseline(
    rank: Callable[[Context], list[str]], write: Callable[[Context], Answer] = _user_mean
) -> Callable[[Context], Answer]:
    def answer(context: Context) -> Answer:
        if context["target"] == RECOMMENDATION:
            return {"item_list": rank(context)}
        return write(context)

    return answer


BASELINES = {
    "candidate-order": _baseline(_as_listed),
    "random": _baseline(_random),
    "popular": _baseline(_popular),
    "user-category": _baseline(_user_category),
    "constant": _baseline(_random, _constant),
    "user-mean": _baseline(_random),
}
