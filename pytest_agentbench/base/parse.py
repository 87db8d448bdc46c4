"""Values as people write them, on a command line, in an ini file or in YAML, checked and made plain.

Each function raises ValueError or TypeError for anything else; the caller says what was expected.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any


def text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError
    return value.strip()


def path(value: Any) -> str:
    """A text that the system can take for a path; nothing need be there."""
    found = text(value)
    try:
        Path(found).expanduser().stat()
    except (FileNotFoundError, NotADirectoryError):
        return found
    except (OSError, RuntimeError, ValueError) as error:  # far too long; ~nobody; a NUL
        raise ValueError(f"expected a path, got {found[:200]!r} ({error!s:.200})") from None
    return found


def number(least: float, most: float = 1e15, *, whole: bool = True) -> Callable[[Any], float]:
    kind: Callable[[Any], float] = int if whole else float

    def parse(value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise ValueError
        found = kind(value)
        if not least <= found <= most or (whole and found != float(value)):
            raise ValueError
        return found

    return parse


def yes_or_no(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if value in ("True", "False"):  # as a manifest holds the parameters of a benchmark
        return bool(value == "True")
    raise ValueError


def one_of(*words: str) -> Callable[[Any], str]:
    def parse(value: Any) -> str:
        if value not in words:
            raise ValueError
        return str(value)

    return parse


def texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)) or not all(isinstance(one, str) for one in value):
        raise ValueError
    return tuple(value)
