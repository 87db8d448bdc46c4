"""The keys by which the proxy knows its clients, and which call of the agent each of them asks for."""

from __future__ import annotations

import contextlib
import secrets
import threading
from collections.abc import Iterator

from pytest_agentbench.agents.usage import CURRENT, Usage, in_flight


class Key:
    """A token, and the call of the agent that is credited with what its holder asks."""

    __slots__ = ("token", "usage")

    def __init__(self, token: str, usage: Usage | None = None) -> None:
        self.token = token
        self.usage = usage  # None: nothing is being asked of the holder

    def __repr__(self) -> str:
        return "Key(***)"


class Keys:
    """The keys of one proxy. :attr:`here` is for code in this process; others hold one each."""

    def __init__(self) -> None:
        # A part of every key: who hides it hides them all.
        self.secret = secrets.token_hex(16)
        self._lock = threading.Lock()
        self._known: dict[str, Key] = {}
        self.here = self.new()

    def new(self, usage: Usage | None = None) -> Key:
        key = Key(f"sk-agentbench-{self.secret}-{secrets.token_hex(8)}", usage)
        with self._lock:
            self._known[key.token] = key
        return key

    def revoke(self, key: Key) -> None:
        with self._lock:
            self._known.pop(key.token, None)

    def find(self, authorization: str | None) -> Key | None:
        """The key in the header ``Authorization``."""
        scheme, _, token = (authorization or "").partition(" ")
        with self._lock:
            return self._known.get(token.strip()) if scheme.lower() == "bearer" else None

    @contextlib.contextmanager
    def counting_for(self, key: Key) -> Iterator[None]:
        """Within it, this thread asks the model for the call that the key stands for."""
        token = CURRENT.set(self._usage_of(key))
        try:
            yield
        finally:
            CURRENT.reset(token)

    def _usage_of(self, key: Key) -> Usage:
        if key is not self.here:
            return key.usage or Usage()
        found = in_flight()
        if len(found) > 1:
            return _Unattributed()
        return found[0] if found else Usage()


class _Unattributed(Usage):
    """Of a request that any of several calls may have made. It counts for the oldest one.

    It has no question and keeps no conversation, for nobody knows whose it is.
    """

    def __init__(self) -> None:
        super().__init__()
        for call in in_flight()[:1]:
            self.seconds_asked = call.seconds_asked
        self.add(llm_calls_unattributed=1)

    def add(self, **counts: float) -> None:
        calls = in_flight()
        for call in calls[:1]:
            call.add(**counts)
        if "budget_exceeded" in counts:  # whoever it was must not go on with a made-up answer
            for call in calls[1:]:
                call.add(budget_exceeded=counts["budget_exceeded"])

    @property
    def unrecorded(self) -> str | None:
        return None

    @unrecorded.setter
    def unrecorded(self, text: str | None) -> None:
        for call in in_flight() if text else ():  # the same
            call.unrecorded = call.unrecorded or text

    def said(self, role: str, content: str) -> None:
        pass
