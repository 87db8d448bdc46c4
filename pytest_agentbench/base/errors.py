"""Errors that users and agents cause, and values as error messages show them."""

from __future__ import annotations

import itertools
import reprlib
import urllib.parse
from typing import Any


class BenchmarkError(ValueError):
    """A mistake in what the user gave (a file, a key, a value); the message says which and where."""


def expect(holds: object, where: object, expected: str, got: object) -> None:
    """:class:`BenchmarkError` in the usual words, unless the condition holds."""
    if not holds:
        raise BenchmarkError(f"{where}: expected {expected}, got {shown(got)}")


class InvalidAnswer(ValueError):
    """An answer that cannot be scored: what was expected, and what came instead.

    ``described`` says in words what came, where the value itself would say too much or too little.
    """

    def __init__(self, expected: str, got: object = None, *, described: str | None = None) -> None:
        came = shown(got) if described is None else _cut(described)
        super().__init__(f"expected {expected}, got {came}")


LONGEST_SHOWN = 200


class _Shown(reprlib.Repr):
    """A repr that stops when it is long enough: a value may be huge, or contain itself."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 10
        self.maxlist = self.maxtuple = self.maxset = self.maxfrozenset = self.maxdict = 50
        self.maxstring = self.maxother = self.maxlong = LONGEST_SHOWN + 1

    def repr_dict(self, value: dict[Any, Any], level: int) -> str:
        """Keeps the order of the keys, which ``reprlib`` would sort."""
        if level <= 0:
            return "{...}"
        pairs = [
            f"{self.repr1(key, level - 1)}: {self.repr1(item, level - 1)}"
            for key, item in itertools.islice(value.items(), self.maxdict)
        ]
        return f"{{{', '.join(pairs)}{', ...' if len(value) > self.maxdict else ''}}}"


def shown(value: object) -> str:
    """The repr of any value for an error message: short, and never an exception.

    >>> shown({"stars": 6, "review": "Fine."})
    "{'stars': 6, 'review': 'Fine.'}"
    """
    holds_others = issubclass(type(value), (list, tuple, dict, set, frozenset))
    try:
        text = _Shown().repr(value) if holds_others else repr(value)
    except (Exception, SystemExit) as error:  # any object may come
        text = f"a {type(value).__name__} whose repr raised {type(error).__name__}"
    # A container's repr is cut already: how long the whole would be is not known.
    return _cut(text, count=not holds_others)


def _cut(text: str, count: bool = True) -> str:
    if len(text) <= LONGEST_SHOWN:
        return text
    return f"{text[:LONGEST_SHOWN]}..." + (f" ({len(text)} characters)" if count else "")


def without_secrets(url: str) -> str:
    """A URL for a message: without user, password and query, which may hold keys.

    >>> without_secrets("https://me:word@host:8000/answer?key=k")
    'https://host:8000/answer'
    """
    parts = urllib.parse.urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
