"""What an agent may answer. Each refusal says what was expected and what came."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from pytest_agentbench.base.errors import InvalidAnswer
from pytest_agentbench.base.plain import is_finite, items, unpacked
from pytest_agentbench.benchmarks.behavior_modeling.tasks import RECOMMENDATION
from pytest_agentbench.benchmarks.protocol import Sample


def check(sample: Sample, answer: Any) -> dict[str, Any]:
    """``{"item_list": […]}`` or ``{"stars": 4.0, "review": "…"}`` in plain types."""
    if sample.key.target == RECOMMENDATION:
        return _recommendation(sample.truth["candidates"], answer)
    return _review(answer)


def _recommendation(candidates: list[str], answer: Any) -> dict[str, Any]:
    given = answer
    if isinstance(answer, Mapping):
        if "item_list" not in answer:
            raise InvalidAnswer('{"item_list": [ids, best first]}', answer)
        given = answer["item_list"]
    ranked = items(given)
    if ranked is None:
        raise InvalidAnswer('{"item_list": [ids, best first]} with a list', answer)
    if not ranked:
        raise InvalidAnswer("item_list with at least one of the candidates", answer)
    known = set(candidates)
    seen: set[str] = set()
    for place, item in enumerate(ranked, 1):
        if not isinstance(item, str) and not (is_finite(item) and isinstance(item, int)):
            raise InvalidAnswer(f"item_list with ids (place {place})", item)
        if str(item) not in known:
            raise InvalidAnswer(
                f"item_list with ids out of the {len(known)} candidates (place {place})", item
            )
        if str(item) in seen:
            raise InvalidAnswer(f"item_list with each candidate at most once (place {place})", item)
        seen.add(str(item))
    return {"item_list": [str(item) for item in ranked]}


def _review(answer: Any) -> dict[str, Any]:
    if not isinstance(answer, Mapping) or not {"stars", "review"} <= answer.keys():
        raise InvalidAnswer('{"stars": 1 to 5, "review": "text"}', answer)
    stars, review = unpacked(answer["stars"]), unpacked(answer["review"])
    number = _stars(stars)
    if not 1 <= number <= 5:  # NaN is refused, too
        raise InvalidAnswer("stars to be a number from 1 to 5", stars)
    if not isinstance(review, str):
        raise InvalidAnswer("review to be a text", review)
    if not review.strip():
        raise InvalidAnswer("review to be a text that is not empty", review)
    return {"stars": number, "review": review}


def _stars(stars: Any) -> float:
    """A number, or a text that is one; NaN for anything else."""
    try:
        # Python would also accept "4_5" and digits of other scripts.
        is_text = isinstance(stars, str) and stars.isascii() and "_" not in stars
        return float(stars) if is_text or is_finite(stars) else math.nan
    except ValueError:
        return math.nan
