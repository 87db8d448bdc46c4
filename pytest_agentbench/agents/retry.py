"""When to try again, and after how long: one policy for agents and for models.

Waits grow exponentially, with jitter. Where the other side asks for a longer wait (``Retry-After``), that
is waited for, up to :data:`LONGEST_WAIT`.
"""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from pytest_agentbench.agents.errors import AgentTimeout

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 8.0
# An exception's ``code`` need not be an HTTP status, so only these count, and not every 5xx.
_STATUSES = {408, 425, 429, 500, 502, 503, 504, 529}
LONGEST_WAIT = 120.0  # seconds; a server that asks for more is taken not to answer


def is_transient(error: BaseException) -> bool:
    """Whether a later try may succeed: by type, by a status, or as the error itself declares."""
    declared = getattr(error, "transient", None)
    if isinstance(declared, bool):
        return declared
    if isinstance(error, AgentTimeout) or not isinstance(error, Exception):
        return False
    if isinstance(error, (ConnectionError, TimeoutError)):
        return True
    # urllib, openai and aiohttp name it differently.
    statuses = [getattr(error, name, None) for name in ("status", "status_code", "code")]
    statuses.append(getattr(getattr(error, "response", None), "status_code", None))
    return any(isinstance(status, int) and status in _STATUSES for status in statuses)


def is_transient_status(status: int) -> bool:
    """Whether an HTTP reply says that the same request may succeed later."""
    return status in (408, 425, 429) or status >= 500


def backoff(attempt: int, first: float, longest: float) -> float:
    """Seconds to wait after an attempt, counted from 0.

    The jitter keeps calls that failed together from returning together.
    """
    return min(longest, first * 2.0**attempt) * random.uniform(0.5, 1.0)


def wait_after(error: BaseException, attempt: int) -> float:
    """Seconds to wait after an error of an agent: longer where its ``retry_after`` asks for it."""
    pause = backoff(attempt, FIRST_PAUSE, LONGEST_PAUSE)
    asked = getattr(error, "retry_after", None)
    return max(pause, asked) if isinstance(asked, (int, float)) else pause


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
