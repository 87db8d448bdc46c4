"""Asking an agent's function, whatever its kind, and a model that stands for a server."""

from __future__ import annotations

import asyncio
import inspect


def asked(function, context):
    answer = function(context)
    return asyncio.run(_awaited(answer)) if inspect.isawaitable(answer) else answer


async def _awaited(answer):
    return await answer


class Model:
    """In the place of the LLM."""

    def __init__(self):
        self.asked = []

    async def atext_request(self, messages, **options):
        self.asked.append(messages)
        await asyncio.sleep(0)
        return "reply"

    def __call__(self, messages, **options):
        self.asked.append(messages)
        return "reply"
