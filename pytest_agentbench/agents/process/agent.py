"""An agent in processes of its own: one for each call in flight, kept for later calls."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pytest_agentbench.agents.errors import AgentCrashed, AgentTimeout
from pytest_agentbench.agents.process import wire
from pytest_agentbench.agents.process.process import GRACE, Process, TimeUp, last_lines
from pytest_agentbench.agents.usage import CURRENT, reached

if TYPE_CHECKING:
    from pytest_agentbench.agents.llm.proxy import Proxy
    from pytest_agentbench.agents.llm.proxy_keys import Key


class Unasked(AgentCrashed):
    """The process cannot have seen the question: if it has answered before, another one is asked."""


class ProcessAgent(ABC):
    """What commands and isolated agents share.

    A process that crashes, hangs or falls out of step is ended with all it started, and the next call
    starts another.
    """

    # Asks an idle process to end. Without it, the end of its input does.
    _farewell: bytes | None = None

    def __init__(self, timeout: float | None, proxy: Proxy | None = None) -> None:
        """``proxy``: where clients of the agent's own find the model; each process has a key of its own."""
        self._timeout = timeout
        self._proxy = proxy
        self._keys: dict[Process, Key] = {}
        self._idle: list[Process] = []
        self._all: set[Process] = set()
        self._closed = False
        self._lock = threading.Lock()
        self._local = threading.local()

    @property
    def last_output(self) -> tuple[str, str]:
        """Standard output and error of this thread's last call (the last 64 KiB of each)."""
        output: tuple[str, str] = getattr(self._local, "output", ("", ""))
        return output

    @abstractmethod
    def _start(self, variables: Mapping[str, str]) -> Process:
        """Another process, with these variables in its environment."""

    @abstractmethod
    def _question(self, context: Any, tools: wire.Tools) -> bytes:
        """What is sent for a context whose tools are apart."""

    @abstractmethod
    def _exchange(
        self, process: Process, question: bytes, tools: wire.Tools, deadline: float | None
    ) -> Any:
        """Sends the question, answers calls of the tools, and returns the reply."""

    def _output(self, process: Process) -> tuple[str, str]:
        return process.output()

    def _crashed(
        self, process: Process, text: str, kind: type[AgentCrashed] = AgentCrashed
    ) -> AgentCrashed:
        """The error for a process that is of no use any more; keeps what it printed."""
        self._local.output = self._output(process)
        return kind(text + last_lines(self._local.output[1]))

    def _ask(self, context: Any, timeout: float | None) -> tuple[Process, Any]:
        """A reply and its process, to be given back or discarded."""
        __tracebackhide__ = True
        self._local.output = ("", "")
        plain, tools = wire.split(context)
        question = self._question(plain, tools)
        limit = self._timeout if timeout is None else timeout
        while True:
            process, asked_before = self._take()
            deadline = None if limit is None else time.monotonic() + limit
            key = self._keys.get(process)
            try:
                if key is not None:
                    key.usage = CURRENT.get()
                reply = self._exchange(process, question, tools, deadline)
                self._local.output = self._output(process)
                return process, reply
            except TimeUp:
                self._local.output = self._output(process)
                self._discard(process)
                raise AgentTimeout(f"no answer within {limit:g} s{reached()}") from None
            except BaseException as error:
                self._discard(process)
                if not (asked_before and isinstance(error, Unasked)):
                    raise
            finally:
                if key is not None:
                    key.usage = None

    def _take(self) -> tuple[Process, bool]:
        """A process that waits for a question, and whether it has been asked before."""
        while True:
            with self._lock:
                if self._closed:
                    raise RuntimeError("the agent was closed: make another one")
                process = self._idle.pop() if self._idle else None
            if process is None:
                return self._started(), False
            if process.alive():
                return process, True
            self._discard(process)

    def _started(self) -> Process:
        if self._proxy is None:
            process = self._start({})
        else:
            key = self._proxy.keys.new()
            try:
                process = self._start(self._proxy.variables(key))
            except BaseException:
                self._proxy.keys.revoke(key)
                raise
            self._keys[process] = key
        with self._lock:
            self._all.add(process)
        return process

    def _give_back(self, process: Process) -> None:
        with self._lock:
            if not self._closed:
                self._idle.append(process)

    def _discard(self, process: Process) -> None:
        """Ends a process that is not to be asked again."""
        with self._lock:
            self._all.discard(process)
        key = self._keys.pop(process, None)
        if key is not None and self._proxy is not None:
            self._proxy.keys.revoke(key)
        process.kill()

    def close(self) -> None:
        """Ends all processes; those that are idle have a moment to end by themselves."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
            processes, self._all = self._all, set()
        for process in idle:
            process.hang_up(self._farewell)
        deadline = time.monotonic() + GRACE
        for process in idle:
            process.wait(deadline)
        for process in processes:
            if process in idle:
                process.kill()
            else:  # another thread waits for its answer, and discards it when it has ended
                process.strike()
