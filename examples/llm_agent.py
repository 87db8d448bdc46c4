"""An agent that asks a model. A parameter called ``llm`` gets the model of the scenario:

pytest --benchmark examples/llm_scenario.yaml
"""

import re


async def answer(context, llm):
    uir = context["uir"]
    past = uir.get_reviews(user_id=context["user_id"], limit=5)
    person = "\n".join(f"{review['stars']} stars: {review.get('text', '')}" for review in past)
    if context["target"] == "recommendation":
        listed = "\n".join(
            f"{n}: {describe(uir, item)}" for n, item in enumerate(context["candidate_list"])
        )
        reply = await llm.atext_request(
            f"A person wrote these reviews:\n{person}\n\nWhat will they choose next? Answer with "
            f"the numbers, the likeliest first:\n{listed}"
        )
        return {"item_list": ranked(context["candidate_list"], reply)}
    reply = await llm.atext_request(
        [
            {"role": "system", "content": "Write as this person does. First line: stars, 1 to 5."},
            {"role": "user", "content": f"{person}\n\nNow: {describe(uir, context['item_id'])}"},
        ],
        max_tokens=300,
    )
    first, _, text = reply.strip().partition("\n")
    stars = re.search(r"[1-5](\.\d)?", first)
    return {"stars": min(5.0, float(stars[0])) if stars else 4.0, "review": text.strip() or first}


def describe(uir, item_id):
    item = uir.get_item(item_id) or {}
    return item.get("name") or item.get("title") or item_id


def ranked(candidates, reply):
    """The candidates that the reply names by number, in its order, then the others."""
    named = [int(number) for number in re.findall(r"\d+", reply)]
    chosen = [candidates[n] for n in dict.fromkeys(named) if n < len(candidates)]
    return chosen + [item for item in candidates if item not in chosen]


class Agent:
    """The agent. In a file that has a class with ``forward``, functions are only helpers."""

    async def forward(self, context, llm):
        return await answer(context, llm)
