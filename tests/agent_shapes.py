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


class Store:
    """A user-item-review store that knows whose question it is for."""

    def __init__(self, user):
        self.user = user

    def get_user(self, user_id):
        return {"user_id": user_id, "store": self.user}


def question(user, **fields):
    return {"target": "recommendation", "user_id": user, "uir": Store(user), **fields}
