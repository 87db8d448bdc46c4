"""The child's side of process isolation: a fresh interpreter that runs the agent.

It is started by :mod:`pytest_agentbench.agents.process.isolated`, finds the socket to its parent as its standard
input, and takes it away from there: what the agent prints, or C code writes to a file descriptor, cannot
disturb the messages. Nothing here knows a benchmark or its data.
"""

from __future__ import annotations

import builtins
import contextlib
import copy
import faulthandler
import functools
import itertools
import operator
import os
import socket
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from pytest_agentbench.agents.call import LocalAgent
from pytest_agentbench.agents.described import described
from pytest_agentbench.agents.find import find
from pytest_agentbench.agents.llm.calls import RelayedLLM
from pytest_agentbench.agents.process import wire
from pytest_agentbench.agents.shapes import function_of
from pytest_agentbench.agents.ticks import is_ticking
from pytest_agentbench.agents.usage import Tick, Usage, counting
from pytest_agentbench.base.errors import BenchmarkError, told
from pytest_agentbench.base.plain import jsonable

_UNTIL_KILLED = 10.0  # seconds
_TOO_LATE = (
    "expected a question to a tool while the agent answers the context that came with it, got one after "
    "its answer; take the tool from each context anew"
)


def main() -> None:
    """Serves one parent until it says that it is done."""
    channel = _Channel(socket.socket(fileno=os.dup(0)))
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    for stream in (sys.stdout, sys.stderr):
        cast(Any, stream).reconfigure(
            encoding="utf-8", errors="backslashreplace", line_buffering=True
        )
    # The last lines of stderr then show where a segmentation fault happened, in Python's code.
    if sys.version_info >= (3, 14):
        faulthandler.enable(all_threads=False, c_stack=False)
    else:
        faulthandler.enable(all_threads=False)
    try:
        _serve_parent(channel)
    except ConnectionError:
        time.sleep(_UNTIL_KILLED)  # the parent is gone: the supervisor kills us and cleans up
        os._exit(1)


def _serve_parent(channel: _Channel) -> None:
    llm = RelayedLLM()
    agent = _prepared(channel, llm)
    if agent is None:
        return
    while (message := channel.receive()) is not None:
        _serve(channel, agent, llm, message)
        del message  # the next call must not find the context of this one
    with contextlib.suppress(Exception):
        agent.close()


class _Channel:
    """Messages to the parent and back, from any thread.

    The thread that waits reads, if no other does, and passes on what is for other threads. So an agent
    with one thread never waits until another thread is woken.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._buffer = bytearray()
        self._state = threading.Condition()  # its lock is reentrant
        self._reading = False
        self._over = False  # the parent said so, or it is gone
        self._lost = False
        self._orders: deque[dict[str, Any]] = deque()
        self._process = os.getpid()
        self._call = 0
        self._numbers = itertools.count(1)
        # By the number of a question to a tool: where its reply goes.
        self._waiting: dict[int, list[dict[str, Any]]] = {}

    def receive(self) -> dict[str, Any] | None:
        """The parent's next order; None after its last, ConnectionError if it is gone."""
        with self._state:
            self._read_until(lambda: bool(self._orders) or self._over)
            if self._orders:
                return self._orders.popleft()
            if self._lost:
                raise ConnectionError("the parent is gone")
            return None

    def send(self, payload: bytes) -> None:
        with self._state:
            self._connection.sendall(wire.framed(payload))

    def finish(self, payload: bytes) -> None:
        """Sends the reply to a call, after which the tools of that call can be asked no more."""
        with self._state:
            self._call += 1
            for replies in self._waiting.values():
                replies.append({"error": {"type": "RuntimeError", "args": [_TOO_LATE]}})
            self._waiting.clear()
            self._state.notify_all()
            self.send(payload)

    def ask(self) -> Callable[[str, tuple[Any, ...], dict[str, Any]], Any]:
        """The function by which the tools of the present call ask the parent."""
        mine = self._call

        def ask(call: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            if os.getpid() != self._process:
                raise RuntimeError(
                    f"{call}: expected a call from the agent's own process, not from a fork of it"
                )
            number = next(self._numbers)
            question = {"call": call, "args": args, "kwargs": kwargs, "id": number}
            payload = wire.encoded(question)
            replies: list[dict[str, Any]] = []
            with self._state:
                if mine != self._call:
                    raise RuntimeError(_TOO_LATE)
                self._waiting[number] = replies
                self.send(payload)
                self._read_until(lambda: bool(replies) or self._over)
            if not replies:
                raise ConnectionError(f"{call}: the parent is gone")
            if "error" in replies[0]:
                raise _error(replies[0]["error"])
            return replies[0]["result"]

        return ask

    def _read_until(self, done: Callable[[], bool]) -> None:
        while not done():
            if self._reading:
                self._state.wait()
                continue
            self._reading = True
            self._state.release()
            try:
                message = self._read()
            finally:
                self._state.acquire()
                self._reading = False
                self._state.notify_all()
            if message is None or "end" in message:
                self._over, self._lost = True, message is None
            elif "id" in message:
                self._waiting.pop(message["id"], []).append(message)
            else:
                self._orders.append(message)

    def _read(self) -> dict[str, Any] | None:
        while (payload := wire.take_frame(self._buffer)) is None:
            data = self._connection.recv(1 << 18)
            if not data:
                return None
            self._buffer += data
        message: dict[str, Any] = wire.unpacked(payload)
        return message


def _error(told: dict[str, Any]) -> Exception:
    """The exception that a tool raised, by its built-in class."""
    kind = getattr(builtins, told["type"])
    try:
        error: Exception = kind(*told["args"])
    except TypeError:  # UnicodeDecodeError and others take more than texts
        error = RuntimeError(f"{kind.__name__}: {' '.join(told['args'])}")
    for name in ("status", "transient"):
        if told.get(name) is not None:
            setattr(error, name, told[name])
    return error


class Tool:
    """Stands for a tool that stays with the parent: offers its methods, and nothing else."""

    def __init__(self, name: str, methods: tuple[str, ...], ask: Callable[..., Any]) -> None:
        self._name = name
        self._methods = methods
        self._ask = ask

    def __getattr__(self, method: str) -> Callable[..., Any]:
        if method.startswith("_") or method not in self._methods:
            raise AttributeError(
                f"expected a method of {self._name} ({', '.join(self._methods)}), got {method!r}"
            )

        def call(*args: Any, **kwargs: Any) -> Any:
            return self._ask(f"{self._name}.{method}", args, kwargs)

        call.__name__ = call.__qualname__ = method
        return call

    def __dir__(self) -> list[str]:
        return [*object.__dir__(self), *self._methods]

    def __repr__(self) -> str:
        return f"<tool {self._name}: {', '.join(self._methods)}>"

    def __copy__(self) -> Tool:
        return self

    def __deepcopy__(self, memo: Any) -> Tool:
        return self


class DictTool(Tool, dict[str, Any]):
    """A tool that is a dict as well."""

    def __init__(self, name: str, methods: tuple[str, ...], ask: Any, data: Any) -> None:
        super().__init__(name, methods, ask)
        self.update(data)

    __repr__ = dict.__repr__

    def __copy__(self) -> DictTool:
        return DictTool(self._name, self._methods, self._ask, self)

    def __deepcopy__(self, memo: Any) -> DictTool:
        data = copy.deepcopy(dict(self), memo)
        return DictTool(self._name, self._methods, self._ask, data)


def _with_tools(context: Any, tools: list[dict[str, Any]], ask: Callable[..., Any]) -> Any:
    # The outermost last: it becomes a new dict, which must hold the inner ones already.
    for tool in sorted(tools, key=lambda tool: -len(tool["at"])):
        *above, last = tool["at"]
        holder = functools.reduce(operator.getitem, above, context)
        parts = (tool["name"], tuple(tool["methods"]), ask)
        data = holder[last]
        holder[last] = Tool(*parts) if data is None else DictTool(*parts, data)
    return context


def _prepared(channel: _Channel, llm: RelayedLLM) -> LocalAgent | None:
    """The agent that the parent's first message names, or None after saying why there is none."""
    orders = channel.receive()
    if orders is None:
        return None
    sys.path[:] = orders["path"]
    sys.argv[:] = ["agentbench-agent"]
    try:
        _limit_memory(orders["memory"])
        bases = [Path(base) for base in orders["bases"]]
        found = find(orders["spec"], bases)
        # Without a model in the parent, the agent gets NoLLM, which says so.
        function = function_of(found.target, llm if orders["llm"] else None, orders["params"])
    except BaseException as error:
        ours = isinstance(error, BenchmarkError)
        text = told(error) if ours else f"--agent: {type(error).__name__}: {told(error)}"
        channel.send(wire.encoded({"failed": text}))
        return None
    note, lives = found.surroundings.note, is_ticking(found.target)
    channel.send(wire.encoded({"ready": found.digest, "note": note, "lives": lives}))
    # Its own model classes find the model of the run, too.
    return LocalAgent(function, llm=llm if orders["llm"] else None, surroundings=found.surroundings)


def _limit_memory(limit: int | None) -> None:
    import resource

    # A core dump would be as large as the agent, and of no use.
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    if limit is not None:
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        most = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


class _Told(Usage):
    """The usage of a call in this process; how far the agent came is told at once, as it may be killed."""

    channel: _Channel

    def begin(self, tick: Tick) -> None:
        super().begin(tick)
        self.channel.send(wire.encoded({"tick": list(tick)}))


def _serve(channel: _Channel, agent: LocalAgent, llm: RelayedLLM, message: dict[str, Any]) -> None:
    usage = _Told()
    usage.channel = channel
    ask = channel.ask()
    llm.remote = Tool(wire.LLM, ("relayed", "embeddings"), ask)
    try:
        with counting(usage):
            context = _with_tools(message["context"], message["tools"], ask)
            reply = {"answer": agent(context)}
    except BaseException as error:
        reply = {"error": described(error)}
    missing = [[one.what, one.advice, one.at] for one in usage.missing]
    reply["usage"] = {"counts": usage.counts, "messages": usage.messages, "missing": missing}
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # the agent may have put anything in their place
            stream.flush()
    channel.finish(_payload(reply))


def _payload(reply: dict[str, Any]) -> bytes:
    # Keys that are no strings, cycles, lists that raise: kept as a record would keep them.
    with contextlib.suppress(Exception, SystemExit):
        return wire.encoded(reply, default=jsonable)
    try:
        return wire.encoded(jsonable(reply))
    except Exception as error:
        return wire.encoded({"error": described(error)})
