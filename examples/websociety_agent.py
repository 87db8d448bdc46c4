"""An agent written for WebSocietySimulator (the AgentSociety Challenge), which need not be installed:

    pytest --benchmark BehaviorModeling --agent examples/websociety_agent.py -k recommendation

A RecommendationAgent answers only recommendations (a SimulationAgent writes reviews): hence the -k.
"""

from websocietysimulator.agent import RecommendationAgent


class PopularAgent(RecommendationAgent):
    def __init__(self, llm):
        super().__init__(llm=llm)

    def workflow(self):
        # With a model: text = self.llm(messages=[{"role": "user", "content": "…"}], max_tokens=200)
        count = {
            item: len(self.interaction_tool.get_reviews(item_id=item))
            for item in self.task["candidate_list"]
        }
        return sorted(count, key=lambda item: -count[item])
