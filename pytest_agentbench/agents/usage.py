"""Usage of one call of an agent: tokens, cost, retries, and its conversation with the model."""

from __future__ import annotations

import threading
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, NamedTuple

_LONGEST_TEXT = 20_000  # characters of messages kept for one sample


@dataclass(frozen=True)
class Missing:
    """What the agent asked for and the run does not have; what to do; which line asked."""

    what: str
    advice: str
    at: str  # "agent.py:12", or empty

    def __str__(self) -> str:
        asked = f"; asked at {self.at}" if self.at else ""
        return f"the agent asked for {self.what}: {self.advice}{asked}"


class Tick(NamedTuple):
    """How far an agent has come that lives tick by tick.

    >>> print(Tick(34, 0, 30_600))
    tick 34 (day 0, 08:30)
    """

    number: int
    day: int
    seconds: int  # since midnight

    def __str__(self) -> str:
        clock = f"{self.seconds // 3600:02}:{self.seconds // 60 % 60:02}"
        return f"tick {self.number} (day {self.day}, {clock})"


@dataclass
class Usage:
    """Counts of one call of the agent: numbers by name, and the conversation with the model."""

    counts: dict[str, float] = field(default_factory=dict)
    messages: list[dict[str, Any]] = field(default_factory=list)
    missing: list[Missing] = field(default_factory=list)
    tick: Tick | None = None
    question: tuple[str, int] | None = None  # the sample's name and the epoch
    unrecorded: str | None = None  # what was asked of a model in a replay, and is not recorded
    seconds_asked: list[float] = field(default_factory=list)  # of calls that a server answered
    _kept: int = 0

    def add(self, **counts: float) -> None:
        """``add(input_tokens=12, output_tokens=3, cost=0.001)``"""
        for name, count in counts.items():
            self.counts[name] = self.counts.get(name, 0) + count

    def begin(self, tick: Tick) -> None:
        """Notes the tick that begins; a call that times out says how far it came."""
        self.tick = tick

    def said(self, role: str, content: str) -> None:
        """Keeps what was said to or by the model, up to a limit for the whole sample."""
        room = max(0, _LONGEST_TEXT - self._kept)
        cut = content if len(content) <= room else f"{content[:room]}… ({len(content)} characters)"
        self._kept += len(content)
        self.messages.append({"role": role, "content": cut})


# Set around every call of the agent; copied into the threads and tasks that the call starts.
CURRENT: ContextVar[Usage | None] = ContextVar("agentbench_usage", default=None)

_lock = threading.Lock()
_in_flight: list[Usage] = []


class counting:  # noqa: N801 -- a class as those of contextlib: a generator costs every call of an agent more
    """Within it, ``usage`` is that of the call of the agent which this thread makes."""

    __slots__ = ("_token", "_usage")

    def __init__(self, usage: Usage) -> None:
        self._usage = usage

    def __enter__(self) -> None:
        self._token = CURRENT.set(self._usage)
        with _lock:
            _in_flight.append(self._usage)

    def __exit__(self, *raised: object) -> None:
        with _lock:
            _in_flight[:] = [other for other in _in_flight if other is not self._usage]
        CURRENT.reset(self._token)


def current() -> Usage | None:
    """The usage of the call that asks. A plain thread of an agent inherits no context variable: what it
    asks belongs to the only call in flight, and to none if there are several.
    """
    found = suspects()
    return found[0] if len(found) == 1 else None


def suspects() -> list[Usage]:
    """The usage of every call that may be the one which asks."""
    own = CURRENT.get()
    return in_flight() if own is None else [own]


def in_flight() -> list[Usage]:
    """The usage of every call under way in this process, the oldest first."""
    with _lock:
        return list(_in_flight)


def reached() -> str:
    """For the message of a call that timed out: how far it came, if it lives tick by tick."""
    own = CURRENT.get()
    return "" if own is None or own.tick is None else f"; it had reached {own.tick}"
