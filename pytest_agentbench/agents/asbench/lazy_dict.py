"""Dicts whose values are made when they are asked for: there are many, and few are looked at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar


class LazyDict(dict[str, Any]):
    """A dict of the keys ``SHOWN``; those ``HIDDEN`` are there for whoever asks by name.

    Whoever looks at the whole has it filled before. Written and deleted, it is as any other dict.
    """

    __slots__ = ("_filled",)
    SHOWN: ClassVar[tuple[str, ...]] = ()
    HIDDEN: ClassVar[tuple[str, ...]] = ()

    def __init__(self, key: str, value: Any) -> None:
        """One key is there at once: code in C, such as json's, does not look into an empty dict."""
        self[key] = value
        self._filled = False

    def make(self, key: str) -> Any:
        """The value that a key begins with; ``KeyError`` if this one has none."""
        raise NotImplementedError

    def __missing__(self, key: str) -> Any:
        if key not in self.HIDDEN and (self._filled or key not in self.SHOWN):
            raise KeyError(key)
        value = self.make(key)
        self[key] = value
        return value

    def _fill(self) -> None:
        if self._filled:
            return
        written = dict(dict.items(self))
        dict.clear(self)
        # In one order, whatever was asked for before.
        for key in self.SHOWN:
            if key in written:
                self[key] = written.pop(key)
            else:
                try:
                    self[key] = self.make(key)
                except KeyError:
                    continue
        dict.update(self, written)
        self._filled = True

    def get(self, key: str, default: Any = None) -> Any:
        try:
            return self[key]
        except KeyError:
            return default

    def __contains__(self, key: object) -> bool:
        if dict.__contains__(self, key) or key in self.HIDDEN:
            return True
        self._fill()
        return dict.__contains__(self, key)

    def __len__(self) -> int:
        self._fill()
        return dict.__len__(self)

    def __iter__(self) -> Iterator[str]:
        self._fill()
        return dict.__iter__(self)

    def __reversed__(self) -> Iterator[str]:
        self._fill()
        return dict.__reversed__(self)

    def keys(self) -> Any:
        self._fill()
        return dict.keys(self)

    def values(self) -> Any:
        self._fill()
        return dict.values(self)

    def items(self) -> Any:
        self._fill()
        return dict.items(self)

    def copy(self) -> dict[str, Any]:
        return dict(self.items())

    def __delitem__(self, key: str) -> None:
        self._fill()
        dict.__delitem__(self, key)

    def pop(self, key: str, *default: Any) -> Any:
        self._fill()
        return dict.pop(self, key, *default)

    def popitem(self) -> tuple[str, Any]:
        self._fill()
        return dict.popitem(self)

    def clear(self) -> None:
        self._filled = True
        dict.clear(self)

    def setdefault(self, key: str, default: Any = None) -> Any:
        if key not in self:
            self[key] = default
        return self[key]

    def __eq__(self, other: object) -> bool:
        self._fill()
        if isinstance(other, LazyDict):
            other._fill()
        return dict.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None

    def __or__(self, other: Any) -> Any:
        return self.copy() | other

    def __ror__(self, other: Any) -> Any:
        return other | self.copy()

    def __repr__(self) -> str:
        self._fill()
        return dict.__repr__(self)

    def __reduce__(self) -> Any:  # a copy is a plain dict, with all that is hidden
        hidden = {key: self[key] for key in self.HIDDEN}
        return dict, ({**self.copy(), **hidden},)
