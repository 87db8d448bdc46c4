"""One exchange with a model's server: what came back, or that nothing did."""

from __future__ import annotations

import json
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, Protocol


class LLMError(Exception):
    """A request that got no answer. ``transient`` says whether a later one may."""

    def __init__(self, text: str, *, status: int | None = None, transient: bool = False) -> None:
        super().__init__(text)
        self.status = status
        self.transient = transient


@dataclass(frozen=True)
class Exchange:
    """What came back: the JSON object of a reply or, where a stream was asked for, all its events in order."""

    body: dict[str, Any] | None
    chunks: list[dict[str, Any]] | None = None
    source: str = "the model"  # for errors about what it says: "gpt-4o at https://…"


class Exchanging(Protocol):
    """What makes exchanges: a model."""

    def exchange(
        self, path: str, body: Mapping[str, Any], *, configured: bool = False
    ) -> Exchange: ...

    def aexchange(
        self, path: str, body: Mapping[str, Any], *, configured: bool = False
    ) -> Coroutine[Any, Any, Exchange]: ...


def events_of(chunks: list[dict[str, Any]]) -> bytes:
    """Server-sent events; those of /responses have a type, which is the event's name as well."""
    parts = []
    for chunk in chunks:
        kind = chunk.get("type")
        name = f"event: {kind}\n" if isinstance(kind, str) else ""
        parts.append(f"{name}data: {json.dumps(chunk)}\n\n")
    return "".join([*parts, "data: [DONE]\n\n"]).encode()
