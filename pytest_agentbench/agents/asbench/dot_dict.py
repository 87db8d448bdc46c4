"""The dict that asbench's agents and blocks keep their context in."""

from __future__ import annotations

from typing import Any


class DotDict(dict[str, Any]):
    """A dict whose values are attributes, too; None for one that it lacks."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what copies and pickles ask for
            raise AttributeError(name)
        return self.get(name)

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value

    def merge(self, other: dict[str, Any]) -> DotDict:
        self.update(other)
        return self
