"""When to try again, and after how long: one policy for agents and for models, which ``tenacity`` carries out.

Waits grow exponentially, with jitter. Where the other side asks for a longer wait (``Retry-After``), that
is waited for, up to :data:`LONGEST_WAIT`.
"""

from __future__ import annotations

import http
import random
import time
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from typing import Any

from pytest_agentbench.agents.errors import AgentTimeout

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 8.0
# An exception's ``code`` need not be an HTTP status, so only these count, and not every 5xx.
_STATUSES = {408, 425, 429, 500, 502, 503, 504, 529}
_WHOLE = (int, http.HTTPStatus)
LONGEST_WAIT = 120.0  # seconds; a server that asks for more is taken not to answer


def is_transient(error: Any) -> bool:
    """Whether a later try may succeed: by type, by a status, or as the error itself declares."""
    declared = _attribute(error, "transient")
    if isinstance(declared, bool):
        return declared
    if isinstance(error, AgentTimeout) or not isinstance(error, Exception):
        return False
    if isinstance(error, (ConnectionError, TimeoutError)):
        return True
    statuses = statuses_of(error)
    statuses.append(_attribute(_attribute(error, "response"), "status_code"))
    # Of exactly this class: an agent's own may never say whether it is equal to another.
    return any(type(status) in _WHOLE and int(status) in _STATUSES for status in statuses)


def statuses_of(error: BaseException) -> list[Any]:
    """The HTTP status that an error may carry, under each of its names: urllib's, openai's, aiohttp's."""
    return [_attribute(error, name) for name in ("status", "status_code", "code")]


def _attribute(holder: Any, name: str) -> Any:
    try:
        return getattr(holder, name, None)
    except Exception:  # a property of somebody's own
        return None


def is_transient_status(status: int) -> bool:
    """Whether an HTTP reply says that the same request may succeed later."""
    return status in (408, 425, 429) or status >= 500


def backoff(attempt: int, first: float, longest: float) -> float:
    """Seconds to wait after an attempt, counted from 0.

    The jitter keeps calls that failed together from returning together.
    """
    return min(longest, first * 2.0**attempt) * random.uniform(0.5, 1.0)


def wait_after(error: Any, attempt: int) -> float:
    """Seconds to wait after an error of an agent: longer where its ``retry_after`` asks for it."""
    pause = backoff(attempt, FIRST_PAUSE, LONGEST_PAUSE)
    asked = asked_wait(error)
    return pause if asked is None else max(pause, asked)


def asked_wait(error: Any) -> float | None:
    """The seconds that an error asks to wait, if it does."""
    asked = _attribute(error, "retry_after")
    return asked if type(asked) in (int, float) else None


def policy(
    retries: int, pause: Callable[[Any, int], float], note: Callable[[], None]
) -> dict[str, Any]:
    """The options of tenacity's ``Retrying`` and ``AsyncRetrying`` for what returns its failure.

    A failure is an exception, or anything else with ``transient`` and ``retry_after``. ``pause(failure, attempt)``
    gives the seconds until the next attempt, ``note()`` is called before it.
    """
    import tenacity  # not where nothing is tried again: calls of agents that answer at once are many

    return {
        "retry": tenacity.retry_if_result(_may_pass),
        "stop": tenacity.stop_after_attempt(retries + 1),
        "wait": lambda state: pause(state.outcome.result(), state.attempt_number - 1),
        "before_sleep": lambda _: note(),
        "retry_error_callback": lambda state: state.outcome.result(),  # the last failure
    }


def _may_pass(result: Any) -> bool:
    if result is None or not is_transient(result):
        return False
    asked = asked_wait(result)
    return asked is None or asked <= LONGEST_WAIT


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
