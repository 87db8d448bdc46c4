"""``self.memory`` of an asbench agent: its status by name, and the stream of what it experienced.

An agent's object keeps its memory from task to task or from tick to tick, as in asbench. Searching by
meaning needs an embedding model, which is not part of this.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_agentbench.agents.asbench.absent import not_here


@dataclass(kw_only=True)
class MemoryAttribute:
    """One entry of ``StatusAttributes``: a name, and the value that every agent begins with."""

    name: str
    type: Any
    default_or_value: Any
    description: str
    whether_embedding: bool = False
    embedding_template: str | None = None


class KVMemory:
    """Values by name."""

    def __init__(self, values: Mapping[Any, Any] | None = None) -> None:
        self._values = dict(values or {})

    async def get(self, key: Any, default_value: Any = None) -> Any:
        """A copy of the value; KeyError if there is neither a value nor a default."""
        if key in self._values:
            return copy.deepcopy(self._values[key])
        if default_value is None:
            raise KeyError(
                f"memory: expected one of {', '.join(map(str, self._values))}; got {key!r}"
            )
        return default_value

    async def update(self, key: Any, value: Any, mode: str = "replace") -> None:
        """Replaces a value; ``merge`` adds to a list, set or dict that is there."""
        if mode not in ("replace", "merge"):
            raise ValueError(f"memory: expected the mode replace or merge, got {mode!r}")
        old = self._values.get(key)
        if mode == "merge" and isinstance(old, (dict, set)):
            old.update(value)
        elif mode == "merge" and hasattr(old, "extend"):
            old.extend(value)  # type: ignore[union-attr]
        else:
            self._values[key] = value

    async def export(self, keys: Iterable[Any]) -> dict[Any, Any]:
        return {key: copy.deepcopy(self._values[key]) for key in keys if key in self._values}

    async def search(self, *args: Any, **options: Any) -> str:
        not_here("memory.status.search", "look values up by name (memory.status.get)")


@dataclass
class StreamMemory:
    """What the agent noted down, in its order; ``moment`` tells day, time and place, where there are any."""

    _notes: list[dict[str, Any]] = field(default_factory=list)
    moment: Callable[[], Mapping[str, Any]] = dict

    async def add(self, topic: str, description: str) -> int:
        """Notes something down; its number, with which it is found again."""
        note = {"id": len(self._notes), "topic": topic, "description": description}
        self._notes.append({**note, **self.moment()})
        return len(self._notes) - 1

    async def get_all(self) -> list[dict[str, Any]]:
        return copy.deepcopy(self._notes)

    async def search(self, *args: Any, **options: Any) -> str:
        not_here("memory.stream.search", "read all notes (memory.stream.get_all)")

    async def search_today(self, *args: Any, **options: Any) -> str:
        not_here("memory.stream.search_today", "read all notes (memory.stream.get_all)")


class Memory:
    """Both memories of one agent."""

    def __init__(
        self,
        attributes: Iterable[Any] = (),
        known: Mapping[str, Any] | None = None,
        moment: Callable[[], Mapping[str, Any]] = dict,
    ) -> None:
        """``known`` goes before the values that the attributes begin with."""
        values = {one.name: copy.deepcopy(one.default_or_value) for one in attributes}
        self.status = KVMemory({**values, **(known or {})})
        self.stream = StreamMemory(moment=moment)

    async def initialize_embeddings(self) -> None:
        """Nothing to do without embeddings."""
