"""Tasks of the two tracks, as objects with ``to_dict()``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

# By the target of a context.
DESCRIPTIONS = {
    "review_writing": "Write the review, with stars, that this user would give to this item.",
    "recommendation": "Rank the candidates by how likely this user is to choose them.",
}


class SimulationTask:
    """A review to be written."""

    def __init__(self, user_id: str, item_id: str) -> None:
        self.user_id = user_id
        self.item_id = item_id

    def to_dict(self) -> dict[str, Any]:
        return {
            "description": DESCRIPTIONS["review_writing"],
            "user_id": self.user_id,
            "item_id": self.item_id,
        }


class RecommendationTask:
    """Candidates to be ranked."""

    def __init__(
        self, user_id: str, candidate_category: str, candidate_list: Sequence[str], loc: Any = None
    ) -> None:
        self.user_id = user_id
        self.candidate_category = candidate_category
        self.candidate_list = list(candidate_list)
        self.loc = [-1, -1] if loc is None else loc

    def to_dict(self) -> dict[str, Any]:
        return {
            "description": DESCRIPTIONS["recommendation"],
            "user_id": self.user_id,
            "candidate_category": self.candidate_category,
            "candidate_list": self.candidate_list,
            "loc": self.loc,
        }
