"""From what ``--agent`` says to an agent that can be asked.

``builtin:NAME`` is a baseline of the benchmark, ``cmd:COMMAND`` a program, ``http://…`` an endpoint.
Anything else names Python code, which runs in this process or, with isolation, in one of its own.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from pytest_agentbench.agents import specs
from pytest_agentbench.agents.call import LocalAgent
from pytest_agentbench.agents.find import AgentError, Found, find, names_code, source_digest
from pytest_agentbench.agents.shapes import function_of
from pytest_agentbench.agents.signatures import check_callable
from pytest_agentbench.agents.ticks import is_ticking
from pytest_agentbench.benchmarks.protocol import Benchmark

if TYPE_CHECKING:
    from pytest_agentbench.agents.llm.calls import Model
    from pytest_agentbench.agents.llm.proxy import Proxy
    from pytest_agentbench.agents.process.sandbox import IsolationOptions


class Agent(Protocol):
    """Answers contexts, in calls that may overlap, and stays within its time limit."""

    def __call__(self, context: Any) -> Any: ...

    def close(self) -> None:
        """Ends what it started."""


@dataclass(frozen=True)
class LoadedAgent:
    """An agent, its name for people and files, and the digest of its source."""

    name: str
    digest: str
    # A submission has answers and no agent: whoever calls this one is told so.
    agent: Agent = field(default_factory=lambda: LocalAgent(None))
    confined: bool = False  # whether it runs in a process of ours that is kept from the truth
    note: str | None = None  # what the user should know of how it was loaded
    lives: bool = False  # tick by tick, and so needs a city


def load(
    spec: str,
    bases: Sequence[Path],
    benchmark: Benchmark,
    timeout: float | None = None,
    isolation: IsolationOptions | None = None,
    llm: Model | None = None,
    params: Mapping[str, Any] | None = None,
    run_code: bool = True,
    proxy: Proxy | None = None,
) -> LoadedAgent:
    """The agent that ``spec`` names; relative files are looked for in ``bases``.

    ``isolation`` is for commands and Python code; baselines and endpoints do without. ``params`` are for
    Python code. Without ``run_code`` an agent in Python is described and not imported.
    ``proxy`` is handed to agents outside of this process.
    """
    if params is not None and not specs.is_code(spec):
        raise AgentError(
            f"agent_params: expected an agent in Python (file.py, package.module:Name), got "
            f"{specs.shown(spec)!r}"
        )
    if (name := specs.baseline_of(spec)) is not None:
        target, digest = _baseline(name, benchmark)
        return LoadedAgent(spec, digest, LocalAgent(target, timeout, llm))
    if (program := specs.command_of(spec)) is not None:
        from pytest_agentbench.agents.process.command import CommandAgent

        command = CommandAgent(program, bases[-1], timeout, isolation, proxy)
        shown = specs.shown(spec)
        return LoadedAgent(shown, command.digest, command, confined=isolation is not None)
    if specs.is_endpoint(spec):
        from pytest_agentbench.agents.http_agent import HttpAgent

        endpoint = HttpAgent(spec, timeout, proxy)
        return LoadedAgent(specs.shown(spec), endpoint.digest, endpoint)
    if not names_code(spec):
        raise AgentError(f"--agent: expected {specs.EXPECTED}, got {spec!r}")
    if not run_code:
        return LoadedAgent(spec, source_digest(spec, bases), confined=isolation is not None)
    if isolation is not None:
        from pytest_agentbench.agents.process.isolated import IsolatedAgent

        isolated = IsolatedAgent(spec, bases, isolation, timeout, llm, params, proxy)
        isolated.start()  # a mistake in its file is found before any sample is asked
        return LoadedAgent(
            spec, isolated.digest, isolated, confined=True, note=isolated.note, lives=isolated.lives
        )
    found = find(spec, bases)
    check_callable(found.target, llm is not None, params)
    if params is not None or is_ticking(found.target):
        function_of(found.target, llm, params)  # what is wrong is said before any sample
    return of_code(found, spec, timeout, llm, params)


def of_code(
    found: Found,
    name: str,
    timeout: float | None = None,
    llm: Model | None = None,
    params: Mapping[str, Any] | None = None,
) -> LoadedAgent:
    """The agent that some Python code is."""
    agent = LocalAgent(found.target, timeout, llm, found.surroundings, params)
    note, lives = found.surroundings.note, is_ticking(found.target)
    return LoadedAgent(name, found.digest, agent, note=note, lives=lives)


def ready(agent: Any, timeout: float | None, llm: Model | None) -> Agent:
    """An agent of any shape, such as a conftest's own, so that it can be asked."""
    if isinstance(agent, LocalAgent):
        return agent
    from pytest_agentbench.agents.http_agent import HttpAgent
    from pytest_agentbench.agents.process.command import CommandAgent
    from pytest_agentbench.agents.process.isolated import IsolatedAgent

    if isinstance(agent, (CommandAgent, HttpAgent, IsolatedAgent)):
        return agent
    return LocalAgent(agent, timeout, llm)


def _baseline(name: str, benchmark: Benchmark) -> tuple[Any, str]:
    if name not in benchmark.baselines:
        known = ", ".join(map(specs.builtin, benchmark.baselines))
        raise AgentError(
            f"--agent: expected a baseline of {benchmark.name} ({known}), got {specs.builtin(name)!r}"
        )
    target = benchmark.baselines[name]
    source = inspect.getsource(inspect.getmodule(target) or type(target))
    return target, hashlib.sha256(source.encode()).hexdigest()
