"""An agent as a command: `pytest --benchmark humob --agent "cmd:python examples/command_agent.py"`.

Any language works: read one line of JSON (the context), write one line of JSON (the answer), flush.
This agent answers humob: everybody is where they were most often at that time of day.
"""

# ruff: noqa: T201 -- commands print

import json
import sys
from collections import Counter


def answer(context):
    places = {}
    for _day, slot, x, y in context["history"]:
        places.setdefault(slot, Counter())[x, y] += 1
    anywhere = sum(places.values(), Counter()) or Counter({(100, 100): 1})
    rows = []
    for day, slot in context["targets"]:
        (x, y), _ = places.get(slot, anywhere).most_common(1)[0]
        rows.append([day, slot, x, y])
    return rows


for line in sys.stdin:
    context = json.loads(line)
    # Standard output is for answers. Standard error is kept in the record, as evidence.
    print("asked about", context.get("uid"), file=sys.stderr, flush=True)
    print(json.dumps(answer(context)), flush=True)
