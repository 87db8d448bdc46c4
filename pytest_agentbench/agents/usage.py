"""Usage of one call of an agent: tokens, cost, retries, and its conversation with the model."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

_LONGEST_TEXT = 20_000  # characters of messages kept for one sample


@dataclass
class Usage:
    """Counts of one call of the agent: numbers by name, and the conversation with the model."""

    counts: dict[str, float] = field(default_factory=dict)
    messages: list[dict[str, Any]] = field(default_factory=list)
    _kept: int = 0

    def add(self, **counts: float) -> None:
        """``add(input_tokens=12, output_tokens=3, cost=0.001)``"""
        for name, count in counts.items():
            self.counts[name] = self.counts.get(name, 0) + count

    def said(self, role: str, content: str) -> None:
        """Keeps what was said to or by the model, up to a limit for the whole sample."""
        room = max(0, _LONGEST_TEXT - self._kept)
        cut = content if len(content) <= room else f"{content[:room]}… ({len(content)} characters)"
        self._kept += len(content)
        self.messages.append({"role": role, "content": cut})


# Set around every call of the agent; copied into the threads and tasks that the call starts.
CURRENT: ContextVar[Usage | None] = ContextVar("agentbench_usage", default=None)
