"""An agent with a client of its own, which knows nothing of pytest-agentbench. The proxy serves it the models
of the scenario, and counts, limits and records what it asks:

pytest --benchmark examples/llm_scenario.yaml --agent examples/openai_agent.py --llm-proxy --agent-isolation process
"""

import re

from openai import OpenAI


class Agent:
    def __init__(self):
        self.client = OpenAI()  # OPENAI_BASE_URL and OPENAI_API_KEY lead to the proxy

    def forward(self, context):
        past = context["uir"].get_reviews(user_id=context["user_id"], limit=5)
        person = "\n".join(f"{review['stars']} stars: {review.get('text', '')}" for review in past)
        if context["target"] == "recommendation":
            candidates = context["candidate_list"]
            listed = "\n".join(f"{n}: {item}" for n, item in enumerate(candidates))
            text = self.ask(f"{person}\n\nWhat will they choose next? Numbers only:\n{listed}")
            named = [int(number) for number in re.findall(r"\d+", text)]
            chosen = [candidates[n] for n in dict.fromkeys(named) if n < len(candidates)]
            return {"item_list": chosen + [item for item in candidates if item not in chosen]}
        text = self.ask(f"{person}\n\nWrite as this person does, about {context['item_id']}.")
        return {"stars": 4.0, "review": text}

    def ask(self, text):
        reply = self.client.chat.completions.create(
            model="gpt-4o",  # the model of the scenario answers, unless it is this one
            messages=[{"role": "user", "content": text}],
        )
        return reply.choices[0].message.content
