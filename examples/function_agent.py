"""A function is an agent:

pytest --benchmark humob --agent examples/function_agent.py
"""

from collections import Counter


def answer(context):
    """Everybody stays in the cell where they were seen most."""
    seen = Counter((x, y) for _, _, x, y in context["history"])
    usual = seen.most_common(1)[0][0] if seen else (100, 100)
    return [usual for _ in context["targets"]]
