"""An agent written for asbench (agentsociety-benchmark); agentsociety need not be installed:

pytest --benchmark BehaviorModeling --agent examples/asbench_agent.py
"""

from typing import Any

from agentsociety.agent import IndividualAgentBase


class ReviewerAgent(IndividualAgentBase):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)

    async def forward(self, task_context: dict[str, Any]) -> dict[str, Any]:
        reviews = self.toolbox.get_tool_object("uir")  # or self.toolbox.uir
        if task_context["target"] == "recommendation":
            candidates = task_context["candidate_list"]
            count = {item: len(reviews.get_reviews(item_id=item)) for item in candidates}
            return {"item_list": sorted(candidates, key=lambda item: -count[item])}
        own = reviews.get_reviews(user_id=task_context["user_id"])
        stars = sum(review["stars"] for review in own) / len(own) if own else 4.0
        # With a model: text = await self.llm.atext_request([{"role": "user", "content": "…"}])
        text = "I liked it and would come again." if stars >= 3 else "It was not for me."
        return {"stars": stars, "review": text}
