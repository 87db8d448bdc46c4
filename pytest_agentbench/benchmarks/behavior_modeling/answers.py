"""What an agent may answer. Each refusal says what was expected and what came."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from pytest_agentbench.benchmarks.behavior_modeling.tasks import RECOMMENDATION
from pytest_agentbench.benchmarks.protocol import InvalidAnswer, Sample


def check(sample: Sample, answer: Any) -> dict[str, Any]:
    """``{"item_list": […]}`` or ``{"stars": 4.0, "review": "…"}`` in plain types."""
    if sample.key.target == RECOMMENDATION:
        return _recommendation(sample.truth["candidates"], answer)
    return _review(answer)


def _recommendation(candidates: list[str], answer: Any) -> dict[str, Any]:
    ranked = answer
    if isinstance(answer, Mapping):
        if "item_list" not in answer:
            raise InvalidAnswer('{"item_list": [ids, best first]}', answer)
        ranked = answer["item_list"]
    if not isinstance(ranked, (list, tuple)):
        raise InvalidAnswer('{"item_list": [ids, best first]} with a list', answer)
    if not ranked:
        raise InvalidAnswer("item_list with at least one of the candidates", answer)
    known = set(candidates)
    seen: set[str] = set()
    for place, item in enumerate(ranked, 1):
        if isinstance(item, bool) or not isinstance(item, (str, int)):
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
    stars, review = answer["stars"], answer["review"]
    try:
        if isinstance(stars, (bool, bytes, bytearray)):
            raise TypeError
        number = float(stars)
    except (TypeError, ValueError, OverflowError):
        raise InvalidAnswer("stars to be a number from 1 to 5", stars) from None
    if not math.isfinite(number) or not 1 <= number <= 5:
        raise InvalidAnswer("stars to be a number from 1 to 5", stars)
    if not isinstance(review, str):
        raise InvalidAnswer("review to be a text", review)
    if not review.strip():
        raise InvalidAnswer("review to be a text that is not empty", review)
    return {"stars": number, "review": str(review)}
