"""Ways to end a process that an agent has no right to where it shares the process of the run.

``os._exit(0)`` there would end the session with exit code 0, and a run without a measurement would look like one that
passed. While it is guarded, ``os._exit`` and ``os.exec…`` fail the call of the agent that made them; called by anybody
else, they end the process with another code than 0, unless the run has passed. Code in C is not held up: only
a process of its own (``--agent-isolation process``) keeps that away from the run.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
from collections.abc import Callable
from typing import Any, NoReturn

from pytest_agentbench.agents.errors import EndedByAgent
from pytest_agentbench.agents.usage import CURRENT

_NAMES = ("_exit", "execv", "execve")  # the other forms of exec call one of these
_UNFINISHED = 1


class ExitGuard:
    """Stands before the functions that end this process, from :meth:`install` to :meth:`remove`."""

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._status = _UNFINISHED  # what the process must not hide, unless it is 0
        self.loading = True  # the agent is being imported
        self._real: dict[tuple[Any, str], Any] = {}

    def install(self) -> None:
        native = sys.modules.get("posix") or sys.modules.get("nt")
        for module in (os, native):
            for name in _NAMES:
                real = getattr(module, name, None)
                if real is not None:
                    self._real[module, name] = real
                    setattr(module, name, self._guarded(name, real))

    def remove(self, status: int) -> None:
        """The session has ended with this status. An agent's exit handler shall not change it either."""
        self._status = status
        self.loading = False
        self._restore()
        if status:
            # Handlers run last in, first out: this one before any that the agent has registered.
            atexit.register(self.install)

    def _restore(self) -> None:
        for (module, name), real in self._real.items():
            setattr(module, name, real)
        self._real.clear()

    def _guarded(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def guarded(*args: Any, **kwargs: Any) -> Any:
            if os.getpid() != self._pid:  # a child that was forked ends as it likes
                return real(*args, **kwargs)
            call = f"os.{name}({', '.join(map(repr, args))})"
            if self.loading or CURRENT.get() is not None:
                raise EndedByAgent(f"the agent called {call:.200}")
            if name == "_exit":
                self._exit(real, *args, **kwargs)
            if self._status:
                raise EndedByAgent(f"{call:.200} would hide that the run has not passed")
            return real(*args, **kwargs)

        return guarded

    def _exit(self, real: Callable[[int], NoReturn], status: int) -> NoReturn:
        if status == 0 and self._status:
            with contextlib.suppress(Exception):  # at the end of a process there may be no stream
                text = "agentbench: os._exit(0) was called in a run that has not passed"
                print(text, file=sys.__stderr__, flush=True)
            real(self._status)
        real(status)
