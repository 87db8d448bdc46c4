"""The parent's side of process isolation: the agent lives in a child that never holds the truth.

The child is a fresh interpreter, not a fork: it imports the agent's file itself and is sent contexts
alone, as JSON over a socket; tools in a context stay here and are called by message
(:mod:`pytest_agentbench.agents.process.wire`). What comes back is not trusted: it is data from code that
may have gone wrong in any way. Where the system has the means, the child cannot reach the truth through
the file system or other processes either (:mod:`pytest_agentbench.agents.process.sandbox`).
"""

from __future__ import annotations

import contextvars
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_agentbench.agents.code_imports import reached
from pytest_agentbench.agents.errors import AgentCrashed, AgentTimeout, RemoteAgentError
from pytest_agentbench.agents.find import file_of, module_source
from pytest_agentbench.agents.missing import note as note_missing
from pytest_agentbench.agents.missing import shown_place
from pytest_agentbench.agents.process import wire
from pytest_agentbench.agents.process.agent import ProcessAgent, Unasked
from pytest_agentbench.agents.process.process import Ended, Process, TimeUp
from pytest_agentbench.agents.process.sandbox import IsolationOptions, Own, Sandbox
from pytest_agentbench.agents.usage import CURRENT, Missing, Tick
from pytest_agentbench.base.errors import BenchmarkError, shown

if TYPE_CHECKING:
    from pytest_agentbench.agents.llm.proxy import Proxy

# Not `-m`, which puts the working directory before the standard library. The package's folder goes last
# for the same reason, until the child has the parent's whole path.
_START = (
    "import sys; sys.path[:1] = []; sys.path.append(sys.argv[1]); "
    "from pytest_agentbench.agents.process import child; child.main()"
)
_KINDS = {"answer", "call", "error", "tick"}  # of the child's messages
_LARGEST_AMOUNT, _MOST_COUNTS, _LONGEST_NAME = 1e15, 50, 100
_TIMEOUT = f"{AgentTimeout.__module__}.{AgentTimeout.__name__}"
_PACKAGE = str(Path(__file__).resolve().parents[3])


class IsolatedAgent(ProcessAgent):
    """The agent that ``spec`` names (``file.py``, ``file.py:Name``, ``package.module:Name``), in children.

    Contexts and answers travel as JSON: tuples arrive as lists, keys as strings.
    """

    _farewell = wire.framed(wire.encoded({"end": True}))

    def __init__(
        self,
        spec: str,
        bases: Sequence[Path],
        options: IsolationOptions = IsolationOptions(),  # noqa: B008 -- it is frozen
        timeout: float | None = None,
        llm: Any = None,
        params: Mapping[str, Any] | None = None,
        proxy: Proxy | None = None,
    ) -> None:
        """``llm`` is the model of :mod:`pytest_agentbench.agents.llm.client`, asked here: the child has no key."""
        super().__init__(timeout, proxy)
        self._spec = spec
        self._bases = [Path(base).resolve() for base in bases]
        self._options = options
        self._params = params
        self._model = wire.Tools()
        if llm is not None:
            self._model.add(tuple(wire.LLM.split(".")), llm)
        self._sandbox = Sandbox(options, _own(spec, self._bases))
        self._digest: str | None = None
        self.note: str | None = None  # what the user should know of how it was imported
        self.lives = False  # tick by tick

    @property
    def digest(self) -> str:
        """Of the agent's source, as the child read it; starts a child if there was none yet."""
        if self._digest is None:
            self.start()
        assert self._digest is not None
        return self._digest

    def start(self) -> None:
        """Lets a child import the agent; :class:`BenchmarkError` if that fails."""
        process, _ = self._take()
        self._give_back(process)

    def __call__(self, context: Any, timeout: float | None = None) -> Any:
        """The agent's answer; :class:`RemoteAgentError`, :class:`AgentCrashed` or :class:`AgentTimeout`."""
        __tracebackhide__ = True
        child, reply = self._ask(context, timeout)
        _count(reply.get("usage"))
        raised = None if "answer" in reply else _raised(reply.get("error"), self._sandbox.hint)
        if raised is not None and "MemoryError" in raised.types:
            self._discard(child)  # its state after that is unknown
        else:
            self._give_back(child)
        if raised is not None and raised.types[:1] == (_TIMEOUT,):  # a tick took too long
            raise AgentTimeout(raised.message)
        if raised is not None:
            raise raised
        return reply["answer"]

    def close(self) -> None:
        """Ends the children and removes their working directory."""
        super().close()
        self._sandbox.close()

    def _question(self, context: Any, tools: wire.Tools) -> bytes:
        return wire.framed(wire.packed({"context": context, "tools": tools.described()}))

    def _exchange(
        self, process: Process, question: bytes, tools: wire.Tools, deadline: float | None
    ) -> dict[str, Any]:
        __tracebackhide__ = True
        process.send(question)
        calls = 0
        try:
            while True:
                reply = wire.decoded(process.receive(wire.take_frame, deadline))
                if not isinstance(reply, dict) or not reply.keys() & _KINDS:
                    raise wire.Garbled(
                        f"expected an answer, an error or a call, got {shown(reply)}"
                    )
                calls += 1
                if "tick" in reply:
                    _begin(reply["tick"])
                    continue
                if "call" not in reply:
                    return reply
                if self._model and str(reply["call"]).startswith(wire.LLM):
                    self._ask_model(process, reply)
                else:
                    process.send(wire.framed(tools.answer(reply)))
        except Ended:
            # A killed process holds its socket until its last thread is gone. One that was killed
            # after its last answer may take the question, and never reads it.
            kind = Unasked if process.unread and not calls else AgentCrashed
            text = f"the agent's process {process.ending()} instead of answering"
            raise self._crashed(process, text, kind) from None
        except wire.Garbled as error:
            self._local.output = process.output()
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

    def _start(self, variables: Mapping[str, str]) -> Process:
        command, policy = self._sandbox.confined([sys.executable, "-c", _START, _PACKAGE])
        child = Process(
            command,
            cwd=self._sandbox.folder,
            env={**self._sandbox.environment(), **variables},
            over_socket=True,
            policy=policy,
            folder=self._sandbox.removed,
        )
        orders = {
            "spec": self._spec,
            "bases": [str(base) for base in self._bases],
            "path": [entry or str(Path.cwd()) for entry in sys.path],
            "memory": self._options.memory,
            "llm": bool(self._model),
            "params": self._params,
        }
        try:
            child.send(wire.framed(wire.encoded(orders)))
            deadline = time.monotonic() + self._options.start_timeout
            reply = wire.decoded(child.receive(wire.take_frame, deadline))
            if "ready" not in reply:
                failed = str(reply.get("failed"))
                raise BenchmarkError(failed + self._sandbox.hint(failed))
            self._digest, self.note = reply["ready"], reply.get("note")
            self.lives = reply.get("lives") is True
        except BaseException as error:
            problem = self._start_problem(child, error)
            child.kill()
            raise problem from None
        return child

    def _start_problem(self, child: Process, error: BaseException) -> BaseException:
        if isinstance(error, Ended):
            text = f"the agent's process {child.ending()} while it imported {self._spec}"
            return self._crashed(child, text)
        if isinstance(error, TimeUp):
            text = f"importing {self._spec} took longer than {self._options.start_timeout:g} s"
            return self._crashed(child, f"{text} in the agent's process")
        if isinstance(error, (wire.Garbled, AttributeError, TypeError)):
            return AgentCrashed(f"the agent's process could not be started: {error}")
        return error


def _own(spec: str, bases: Sequence[Path]) -> Own:
    """What of an agent's code lies where; nothing is imported to find out."""
    file = file_of(spec, bases)
    if file is not None:
        own, *roots = reached(file)
        return Own((file,), (own,), tuple(roots))
    module = module_source(spec, bases)
    return Own((), () if module is None else (module.parent,), tuple(bases))


def _raised(error: Any, hint: Callable[[str], str]) -> RemoteAgentError:
    """The exception of a reply; each part may be anything if the agent forged it."""
    told = error if isinstance(error, dict) else {}
    types = told.get("types")
    status = told.get("status")
    message = str(told.get("message", error))
    return RemoteAgentError(
        tuple(map(str, types)) if isinstance(types, list) else ("Exception",),
        message + hint(message),
        str(told.get("traceback", "")),
        status if type(status) is int else None,
        _amount(told.get("retry_after")),
        told.get("transient") is True,
    )


def _begin(told: Any) -> None:
    """Notes how far the agent has come, for the case that it comes no further."""
    current = CURRENT.get()
    whole = isinstance(told, list) and len(told) == 3 and all(type(one) is int for one in told)
    if current is not None and whole:
        current.begin(Tick(*told))


def _count(usage: Any) -> None:
    """Adds the usage that the child counted to that of the present call."""
    current = CURRENT.get()
    if current is None or not isinstance(usage, dict):
        return
    counts, messages, missing = (usage.get(key) for key in ("counts", "messages", "missing"))
    # Whatever the agent forged, no sum of these is below zero or infinite.
    for name, count in list(counts.items())[:_MOST_COUNTS] if isinstance(counts, dict) else ():
        number = _amount(count)
        if number is not None:
            current.add(**{name[:_LONGEST_NAME]: number})
    for message in messages if isinstance(messages, list) else ():
        if isinstance(message, dict):
            current.said(str(message.get("role")), str(message.get("content")))
    for told in missing if isinstance(missing, list) else ():
        if isinstance(told, list) and len(told) == 3:
            what, advice, at = map(str, told)
            note_missing(Missing(what, advice, shown_place(at)))


def _amount(value: Any) -> float | None:
    """A number of tokens, seconds or units of money; None for what cannot be one."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return value if number and 0 <= value <= _LARGEST_AMOUNT else None
