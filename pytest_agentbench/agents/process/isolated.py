"""The parent's side of process isolation: the agent lives in a child that never holds the truth.

The child is a fresh interpreter, not a fork: it imports the agent's file itself and is sent contexts
alone, as JSON over a socket; tools in a context stay here and are called by message
(:mod:`pytest_agentbench.agents.process.wire`). What comes back is not trusted: it is data from code that
may have gone wrong in any way. Where the system has the means, the child cannot reach the truth through
the file system or other processes either (:mod:`pytest_agentbench.agents.process.sandbox`).
"""

from __future__ import annotations

import contextvars
import math
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pytest_agentbench.agents.errors import AgentCrashed, AgentTimeout, RemoteAgentError
from pytest_agentbench.agents.find import file_of
from pytest_agentbench.agents.process import wire
from pytest_agentbench.agents.process.process import Ended, Pool, Process, TimeUp, last_lines
from pytest_agentbench.agents.process.sandbox import IsolationOptions, Sandbox
from pytest_agentbench.agents.usage import CURRENT
from pytest_agentbench.base.errors import BenchmarkError

# Not `-m`, which puts the working directory before the standard library. The package's folder goes last
# for the same reason, until the child has the parent's whole path.
_START = (
    "import sys; sys.path[:1] = []; sys.path.append(sys.argv[1]); "
    "from pytest_agentbench.agents.process import child; child.main()"
)
_PACKAGE = str(Path(__file__).resolve().parents[3])


class IsolatedAgent:
    """The agent that ``spec`` names (``file.py``, ``file.py:Name``, ``package.module:Name``), in children.

    Calls from several threads at once have a child each. A child that crashes or hangs is replaced at
    the next call. Contexts and answers travel as JSON: tuples arrive as lists, keys as strings.
    """

    def __init__(
        self,
        spec: str,
        bases: Sequence[Path],
        options: IsolationOptions = IsolationOptions(),  # noqa: B008 -- it is frozen
        timeout: float | None = None,
        llm: Any = None,
    ) -> None:
        """``llm`` is the model of :mod:`pytest_agentbench.agents.llm.client`, asked here: the child has no key."""
        self._spec = spec
        self._bases = [Path(base).resolve() for base in bases]
        self._options = options
        self._timeout = timeout
        self._model = wire.Tools()
        if llm is not None:
            self._model.add(tuple(wire.LLM.split(".")), llm)
        file = file_of(spec, self._bases)
        self._sandbox = Sandbox(options, () if file is None else (file,))
        self._digest: str | None = None
        self._local = threading.local()
        self._pool = Pool(self._start)

    @property
    def last_output(self) -> tuple[str, str]:
        """Standard output and error of the agent in this thread's last call (the last 64 KiB of each)."""
        output: tuple[str, str] = getattr(self._local, "output", ("", ""))
        return output

    @property
    def digest(self) -> str:
        """Of the agent's source, as the child read it; starts a child if there was none yet."""
        if self._digest is None:
            self.start()
        assert self._digest is not None
        return self._digest

    def start(self) -> None:
        """Lets a child import the agent; :class:`BenchmarkError` if that fails."""
        process, _ = self._pool.take()
        self._pool.give_back(process)

    def __call__(self, context: Any, timeout: float | None = None) -> Any:
        """The agent's answer; :class:`RemoteAgentError`, :class:`AgentCrashed` or :class:`AgentTimeout`."""
        __tracebackhide__ = True
        self._local.output = ("", "")
        plain, tools = wire.split(context)
        question = wire.packed({"context": plain, "tools": tools.described()})
        limit = self._timeout if timeout is None else timeout
        while True:
            child, asked_before = self._pool.take()
            try:
                reply = self._exchange(child, question, tools, limit)
                self._local.output = child.output()
                break
            except BaseException as error:
                self._pool.discard(child)
                # A killed process holds its socket until its last thread is gone. One that was killed
                # after its last answer may take the question, and never reads it.
                if not (asked_before and isinstance(error, _Unread)):
                    raise
        _count(reply.get("usage"))
        if "answer" in reply:
            self._pool.give_back(child)
            return reply["answer"]
        raised = _raised(reply.get("error"))
        if "MemoryError" in raised.types:
            self._pool.discard(child)  # its state after that is unknown
        else:
            self._pool.give_back(child)
        raise raised

    def close(self) -> None:
        """Ends the children and removes their working directory."""
        self._pool.close(wire.framed(wire.encoded({"end": True})))
        self._sandbox.close()

    def _exchange(
        self, child: Process, question: bytes, tools: wire.Tools, timeout: float | None
    ) -> dict[str, Any]:
        __tracebackhide__ = True
        deadline = None if timeout is None else time.monotonic() + timeout
        child.send(wire.framed(question))
        calls = 0
        try:
            while True:
                reply = wire.decoded(child.receive(wire.take_frame, deadline))
                if not isinstance(reply, dict) or not reply.keys() & {"call", "answer", "error"}:
                    raise wire.Garbled(
                        f"expected an answer, an error or a call, got {reply!r:.200}"
                    )
                if "call" not in reply:
                    return reply
                calls += 1
                if self._model and str(reply["call"]).startswith(wire.LLM):
                    self._ask_model(child, reply)
                else:
                    child.send(wire.framed(tools.answer(reply)))
        except TimeUp:
            self._local.output = child.output()
            raise AgentTimeout(f"no answer within {timeout:g} s") from None
        except Ended:
            kind = _Unread if child.unread and not calls else AgentCrashed
            raise self._crashed(child, "instead of answering", kind) from None
        except wire.Garbled as error:
            self._local.output = child.output()
            raise AgentCrashed(
                f"the agent's process wrote to the connection of its parent: {error}"
            ) from None

    def _ask_model(self, child: Process, call: dict[str, Any]) -> None:
        """In a thread: the model takes its time, and meanwhile the agent may ask more or time out."""

        def ask() -> None:
            try:
                child.post(wire.framed(self._model.answer(call)))
            except BaseException as error:
                child.post(error)  # the budget is spent: that is for the run, not for the agent

        # The context variables of this thread say where usage is counted.
        run = contextvars.copy_context().run
        threading.Thread(target=run, args=(ask,), name="agentbench-llm", daemon=True).start()

    def _crashed(
        self, child: Process, when: str, kind: type[AgentCrashed] = AgentCrashed
    ) -> AgentCrashed:
        ending = child.ending()
        self._local.output = child.output()
        said = last_lines(self._local.output[1])
        return kind(f"the agent's process {ending} {when}{said}")

    def _start(self) -> Process:
        folder = self._sandbox.folder
        child = Process(
            self._sandbox.confined([sys.executable, "-c", _START, _PACKAGE]),
            cwd=folder,
            env=self._sandbox.environment(),
            over_socket=True,
        )
        orders = {
            "spec": self._spec,
            "bases": [str(base) for base in self._bases],
            "path": [entry or str(Path.cwd()) for entry in sys.path],
            "folder": None if self._options.cwd is not None else str(folder),
            "memory": self._options.memory,
            "llm": bool(self._model),
        }
        try:
            child.send(wire.framed(wire.encoded(orders)))
            deadline = time.monotonic() + self._options.start_timeout
            reply = wire.decoded(child.receive(wire.take_frame, deadline))
            if "ready" not in reply:
                raise BenchmarkError(str(reply.get("failed")))
            self._digest = reply["ready"]
        except BaseException as error:
            problem = self._start_problem(child, error)
            child.kill()
            raise problem from None
        return child

    def _start_problem(self, child: Process, error: BaseException) -> BaseException:
        if isinstance(error, Ended):
            return self._crashed(child, f"while it imported {self._spec}")
        if isinstance(error, TimeUp):
            return AgentCrashed(
                f"importing {self._spec} took longer than {self._options.start_timeout:g} s "
                f"in the agent's process{last_lines(child.output()[1])}"
            )
        if isinstance(error, (wire.Garbled, AttributeError, TypeError)):
            return AgentCrashed(f"the agent's process could not be started: {error}")
        return error


class _Unread(AgentCrashed):
    """The process ended before it had read the question."""


def _raised(error: Any) -> RemoteAgentError:
    """The exception of a reply; each part may be anything if the agent forged it."""
    told = error if isinstance(error, dict) else {}
    types = told.get("types")
    status = told.get("status")
    return RemoteAgentError(
        tuple(map(str, types)) if isinstance(types, list) else ("Exception",),
        str(told.get("message", error)),
        str(told.get("traceback", "")),
        status if type(status) is int else None,
        _finite(told.get("retry_after")),
        told.get("transient") is True,
    )


def _count(usage: Any) -> None:
    """Adds the usage that the child counted to that of the present call."""
    current = CURRENT.get()
    if current is None or not isinstance(usage, dict):
        return
    counts, messages = usage.get("counts"), usage.get("messages")
    for name, count in counts.items() if isinstance(counts, dict) else ():
        number = _finite(count)
        if number is not None:
            current.add(**{name: number})
    for message in messages if isinstance(messages, list) else ():
        if isinstance(message, dict):
            current.said(str(message.get("role")), str(message.get("content")))


def _finite(value: Any) -> float | None:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return value if number and math.isfinite(value) else None
