"""Memory modules, on a small store of embeddings that lives as long as the agent's object."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

from pytest_agentbench.agents.llm.calls import configured

_MARK = "review:"  # a text with it is kept; any other is a question


class Document:
    """A text and what is known of it, as vector stores hand it out."""

    def __init__(self, page_content: str, metadata: dict[str, Any] | None = None) -> None:
        self.page_content = page_content
        self.metadata = metadata or {}

    def __repr__(self) -> str:
        return f"Document({self.page_content!r:.60})"


class ScenarioMemory:
    """A vector store. Texts are embedded when the first question comes, all at once."""

    def __init__(self, embedding: Any) -> None:
        self._embedding = embedding
        self._documents: list[Any] = []
        self._vectors: list[list[float]] = []

    @property
    def _collection(self) -> ScenarioMemory:  # agents count the documents as Chroma does
        return self

    def count(self) -> int:
        return len(self._documents)

    def add_documents(self, documents: Iterable[Any], **options: Any) -> None:
        """Keeps objects with ``page_content`` and ``metadata``."""
        self._documents.extend(documents)

    def add_texts(self, texts: Iterable[str], metadatas: Any = None, **options: Any) -> None:
        listed = list(texts)
        known = list(metadatas or [{}] * len(listed))
        self.add_documents(Document(t, m) for t, m in zip(listed, known, strict=True))

    def similarity_search_with_score(
        self, query: str, k: int = 4, **options: Any
    ) -> list[tuple[Any, float]]:
        """The nearest documents, each with its squared distance: less is nearer."""
        if not self._documents:
            return []
        new = self._documents[len(self._vectors) :]
        if new:
            self._vectors += self._embedding.embed_documents([d.page_content for d in new])
        asked = self._embedding.embed_query(query)
        scored = [
            (document, math.dist(asked, vector) ** 2)
            for document, vector in zip(self._documents, self._vectors, strict=True)
        ]
        return sorted(scored, key=lambda pair: pair[1])[:k]

    def similarity_search(self, query: str, k: int = 4, **options: Any) -> list[Any]:
        return [document for document, _ in self.similarity_search_with_score(query, k)]


class MemoryBase:
    """A memory: called with a text it keeps it, or answers with what it knows."""

    def __init__(self, memory_type: str, llm: Any) -> None:
        self.llm = llm
        own = getattr(llm, "get_embedding_model", None)
        self.embedding = own() if callable(own) else configured().get_embedding_model()
        self.scenario_memory = ScenarioMemory(self.embedding)

    def __call__(self, current_situation: str = "") -> Any:
        if _MARK in current_situation:
            return self.addMemory(current_situation.replace(_MARK, ""))
        return self.retriveMemory(current_situation)

    def retriveMemory(self, query_scenario: str) -> Any:  # noqa: N802 -- the published name
        raise NotImplementedError(f"expected retriveMemory in {type(self).__name__}")

    def addMemory(self, current_situation: str) -> Any:  # noqa: N802 -- the published name
        raise NotImplementedError(f"expected addMemory in {type(self).__name__}")

    def _nearest(self, text: str, k: int = 1) -> list[str]:
        found = self.scenario_memory.similarity_search_with_score(text, k=k)
        return [str(document.metadata["task_trajectory"]) for document, _ in found]

    def _keep(self, key: str, text: str) -> None:
        known = {"task_name": key, "task_trajectory": text}
        self.scenario_memory.add_documents([Document(key, known)])

    def _asked(self, text: str) -> str:
        return str(self.llm(messages=[{"role": "user", "content": text}], temperature=0.1))


class MemoryDILU(MemoryBase):
    """Answers with the nearest text; '' while it is empty."""

    def __init__(self, llm: Any) -> None:
        super().__init__("dilu", llm)

    def retriveMemory(self, query_scenario: str) -> str:  # noqa: N802
        return "\n".join(self._nearest(query_scenario))

    def addMemory(self, current_situation: str) -> None:  # noqa: N802
        self._keep(current_situation, current_situation)


class MemoryGenerative(MemoryDILU):
    """Answers with the one of the three nearest that the model finds most helpful."""

    def retriveMemory(self, query_scenario: str) -> str:  # noqa: N802
        nearest = self._nearest(query_scenario, k=3)
        if not nearest:
            return ""
        scores = [self._helpfulness(text, query_scenario) for text in nearest]
        return nearest[scores.index(max(scores))]

    def _helpfulness(self, text: str, situation: str) -> float:
        reply = self._asked(
            "How much does this memory help in this situation, from 1 (not at all) to 10? Answer with the "
            f"number alone.\nMemory: {text}\nSituation: {situation}"
        )
        numbers = re.findall(r"\d+(?:\.\d+)?", reply)
        return float(numbers[-1]) if numbers else 0.0


class MemoryTP(MemoryDILU):
    """Answers with a plan that the model makes of the nearest text."""

    def retriveMemory(self, query_scenario: str) -> str:  # noqa: N802
        nearest = self._nearest(query_scenario)
        if not nearest:
            return ""
        return self._asked(
            "This is how a similar task went. Write a short plan for the present one, with what can be "
            f"carried over.\nBefore: {nearest[0]}\nNow: {query_scenario}"
        )


class MemoryVoyager(MemoryDILU):
    """Keeps texts under a summary by the model, and answers with the one whose summary is nearest."""

    def addMemory(self, current_situation: str) -> None:  # noqa: N802
        summary = self._asked(
            f"Say in at most six sentences what happened here and why.\n{current_situation}"
        )
        self._keep(summary, current_situation)
