"""An agent that is a command, in any language: ``--agent "cmd:./agent --json"``.

The command is started at the first question and kept. Each question is one line on its standard input,
the context as JSON; the answer is one line of JSON on its standard output, flushed. Its standard error is
kept as evidence; logging belongs there.

Tools in a context stand there as null (or as their data) and may be asked by line as well: after
``{"call": "uir.get_item", "args": ["i7"]}`` (``kwargs`` too, if needed) the next line on standard input is
``{"result": …}`` or ``{"error": {"type": …, "args": […]}}``.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_agentbench.agents.errors import AgentCrashed
from pytest_agentbench.agents.process import readable, wire
from pytest_agentbench.agents.process.agent import ProcessAgent, Unasked
from pytest_agentbench.agents.process.process import Ended, Process
from pytest_agentbench.agents.process.sandbox import IsolationOptions, Own, Sandbox
from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.base.redaction import Secrets, command_shown, in_command

if TYPE_CHECKING:
    from pytest_agentbench.agents.llm.proxy import Proxy


class CommandAgent(ProcessAgent):
    """A command that answers contexts, started in ``cwd`` without a shell.

    With ``isolation`` it is confined and has the environment of an isolated agent.
    """

    def __init__(
        self,
        command: str,
        cwd: str | Path | None = None,
        timeout: float | None = None,
        isolation: IsolationOptions | None = None,
        proxy: Proxy | None = None,
    ) -> None:
        super().__init__(timeout, proxy)
        self._cwd = Path.cwd() if cwd is None else Path(cwd).resolve()
        self._arguments = _split(command, self._cwd)
        self._command = command
        self._secrets = Secrets(in_command(command))
        self._sandbox = None if isolation is None else Sandbox(isolation, self._own())

    @property
    def digest(self) -> str:
        """Of the command and of the files that it names."""
        digest = hashlib.sha256(self._command.encode("utf-8", "surrogateescape"))
        for path in self._files():
            digest.update(path.read_bytes())
        return digest.hexdigest()

    def _files(self) -> list[Path]:
        paths = [self._cwd / argument for argument in self._arguments]
        return [path for path in paths if path.is_file()]

    def _own(self) -> Own:
        """The files that the command names with their folders, and the folder where it starts."""
        files = self._files()
        program = self._arguments[0]
        found = Path(shutil.which(program) or self._cwd / program).absolute()
        real = found.resolve()
        # Another Python brings its packages: those of its environment, and of the one below that.
        prefixes = [real.parents[1]] if real.name.startswith("python") else []
        prefixes += [one for one in (found.parents[1],) if (one / "pyvenv.cfg").exists()]
        pythons = [place for prefix in prefixes for place in readable.environment(prefix)]
        folders = dict.fromkeys([self._cwd, *(path.parent for path in files)])
        return Own((*files, found, real, *pythons), tuple(folders))

    def _start(self, variables: Mapping[str, str]) -> Process:
        if self._sandbox is None:
            return Process(self._arguments, cwd=self._cwd, env={**os.environ, **variables})
        command, policy = self._sandbox.confined(self._arguments)
        return Process(
            command,
            cwd=self._cwd,
            env={**self._sandbox.environment(), **variables},
            policy=policy,
            folder=self._sandbox.removed,
        )

    def __call__(self, context: Any, timeout: float | None = None) -> Any:
        """The command's answer; :class:`AgentCrashed` or :class:`AgentTimeout` where there is none.

        The time that a process needs to start is part of its first answer's.
        """
        __tracebackhide__ = True
        process, answer = self._ask(context, timeout)
        self._give_back(process)
        return answer

    def _crashed(
        self, process: Process, text: str, kind: type[AgentCrashed] = AgentCrashed
    ) -> AgentCrashed:
        error = super()._crashed(process, text, kind)
        hint = "" if self._sandbox is None else self._sandbox.hint(str(error))
        return kind(f"{error}{hint}") if hint else error

    def close(self) -> None:
        """Ends the command: by the end of its standard input, or else by force."""
        super().close()
        if self._sandbox is not None:
            self._sandbox.close()

    def _question(self, context: Any, tools: wire.Tools) -> bytes:
        return wire.encoded(context) + b"\n"

    def _output(self, process: Process) -> tuple[str, str]:
        waiting = process.waiting if process.waiting.strip() else b""
        return waiting.decode("utf-8", "backslashreplace"), process.output()[1]

    def _exchange(
        self, process: Process, question: bytes, tools: wire.Tools, deadline: float | None
    ) -> Any:
        __tracebackhide__ = True
        if process.waiting.strip():
            # More than one line for an earlier context: nobody knows which line answers what.
            raise Unasked
        process.send(question)
        try:
            return self._conversation(process, tools, deadline)
        except wire.Garbled as error:
            process.alive()
            text = (
                f"{self._command}: {error}; the answer is one line of JSON on standard output, and "
                f"everything else belongs on standard error"
            )
            raise self._crashed(process, text) from None

    def _conversation(self, process: Process, tools: wire.Tools, deadline: float | None) -> Any:
        __tracebackhide__ = True
        lines = _Lines()
        while True:
            try:
                line = process.receive(lines.take, deadline)
            except Ended:
                return self._last_words(process)
            line = self._secrets.cleaned_bytes(line)  # before any of it is cut and quoted
            message = wire.decoded(line)
            if not _is_call(message, tools):
                break
            process.send(tools.answer(message) + b"\n")
        if more := bytes(process.waiting).strip():
            raise wire.Garbled(
                f"expected one line for one context, got {wire.shown(line)} and after it "
                f"{wire.shown(more)}"
            )
        return message

    def _last_words(self, process: Process) -> Any:
        """The answer of a command that ended after a line without a newline, or an error."""
        ending, code = process.ending(), process.exit_code
        rest = bytes(process.waiting).strip()
        if code == 0 and rest:
            answer = wire.decoded(rest)
            process.waiting.clear()
            return answer
        process.waiting.clear()
        before = f" after {wire.shown(rest)}" if rest else ""
        text = f"{self._command} {ending}{before} instead of answering"
        if code == 0:  # one that answers a single question and ends is started again
            text += ": expected one line of JSON on its standard output"
        raise self._crashed(process, text, Unasked if code == 0 else AgentCrashed) from None


class _Lines:
    """Takes lines out of a buffer; one that is not blank is a message."""

    def __init__(self) -> None:
        self._searched = 0

    def take(self, buffer: bytearray) -> bytes | None:
        while (end := buffer.find(b"\n", self._searched)) >= 0:
            line = bytes(buffer[:end]).strip()
            del buffer[: end + 1]
            self._searched = 0
            if line:
                return line
        self._searched = len(buffer)
        if self._searched > wire.LARGEST:
            raise wire.Garbled(f"expected a line of at most {wire.LARGEST} bytes, got a longer one")
        return None


def _is_call(message: Any, tools: wire.Tools) -> bool:
    """Whether a line asks a tool. Contexts without tools have no calls: any object is an answer there."""
    return isinstance(message, dict) and isinstance(message.get("call"), str) and bool(tools)


def _split(command: str, cwd: Path) -> list[str]:
    def refused(expected: str) -> BenchmarkError:
        return BenchmarkError(f"--agent cmd:{command_shown(command)}: expected {expected}")

    try:
        arguments = shlex.split(command)
    except ValueError as error:
        raise refused(f"a command as a shell would read it ({error})") from None
    if not arguments:
        raise refused("a command, such as cmd:./agent --json; got none")
    program = arguments[0]
    found = cwd / program if os.path.dirname(program) else shutil.which(program)  # noqa: PTH120
    if found is None:
        raise refused(f"a program in PATH, got {program!r}, which is not there")
    if not Path(found).is_file():
        raise refused(f"a program, got no such file: {found}")
    if not os.access(found, os.X_OK):
        raise refused(f"a program, got a file that is not executable: {found}")
    return arguments
