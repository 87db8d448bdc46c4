"""Agents of the toy benchmark that several test files use, as source text."""

# Right for even samples; each other kind of failure once.
MIXED = """
import time
async def agent(context):
    a = context["a"]
    if a == 1:
        raise RuntimeError("no idea")
    if a == 3:
        return "three"
    return a + context["b"]
"""

HALF = "def agent(context):\n    return context['a'] + context['b'] if context['a'] % 3 else 'x'\n"

# Of sample 3 the first attempt fails, in whichever process it is made.
FLAKY = """
import os
def agent(context):
    flag = f"seen-{context['a']}"
    if context["a"] == 3 and not os.path.exists(flag):
        open(flag, "w").close()
        raise RuntimeError("first time")
    return context["a"] + context["b"]
"""
