"""A model for modules under test: it answers by a script, notes what it was asked, and embeds by vowels."""

from __future__ import annotations

from pytest_agentbench.agents.llm.embeddings import Embeddings


class ScriptedModel:
    def __init__(self, *replies):
        self.replies = list(replies)
        self.asked = []
        self.embedded = []

    def __call__(self, messages, temperature=None, n=1, **options):
        self.asked.append([message["content"] for message in messages])
        self.temperature = temperature
        if n > 1:
            return [self.replies.pop(0) for _ in range(n)]
        return self.replies.pop(0)

    def get_embedding_model(self):
        return Embeddings(self._vectors)

    def _vectors(self, texts):
        self.embedded.append(list(texts))
        return [[float(text.count(letter)) for letter in "aeiou"] for text in texts]
