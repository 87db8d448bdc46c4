"""How long a server asks to wait before it is asked again."""

from __future__ import annotations

import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

LONGEST_WAIT = 120.0  # seconds; a server that asks for more is taken not to answer


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that a server asks to wait, given as seconds or as a date; names in lower case.

    >>> retry_after({"retry-after": "1.5"})
    1.5
    """
    for name, unit in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        value = headers.get(name, "")
        try:
            seconds = float(value) * unit
        except ValueError:
            try:
                seconds = parsedate_to_datetime(value).timestamp() - _now(headers)
            except (TypeError, ValueError):
                continue
        if 0 <= seconds < float("inf"):
            return seconds
        if seconds < 0:
            return 0.0
    return None


def _now(headers: Mapping[str, str]) -> float:
    """The time by our clock, unless it is wrong: a server names a date by its own."""
    ours = time.time()
    try:
        theirs = parsedate_to_datetime(headers.get("date", "")).timestamp()
    except (TypeError, ValueError):
        return ours
    return theirs if abs(theirs - ours) > 5 else ours  # theirs has whole seconds only
