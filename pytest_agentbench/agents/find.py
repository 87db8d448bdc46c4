"""The user's agent as Python code: found by ``file.py``, ``file.py:Name`` or ``package.module:Name``."""

from __future__ import annotations

import contextlib
import hashlib
import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from pytest_agentbench.agents.code_imports import (
    AgentError,
    Surroundings,
    import_file,
    import_module,
    module_file,
)
from pytest_agentbench.agents.framework_calls import derives
from pytest_agentbench.agents.shapes import EXPECTED, has_agent_method
from pytest_agentbench.agents.websociety.society_agents import TRACKS

__all__ = ["AgentError", "Found", "file_of", "find", "names_code"]

_FRAMEWORKS = ("CitizenAgentBase", "IndividualAgentBase", *TRACKS)


@dataclass(frozen=True)
class Found:
    """The user's function, class or object, the digest of its source, and what its imports need."""

    target: Any
    digest: str
    surroundings: Surroundings


def find(spec: str, bases: Sequence[Path]) -> Found:
    """Imports the agent that ``spec`` names; relative files are looked for in ``bases``."""
    where, name = _split(spec)
    if where.endswith(".py"):
        path = _file(spec, bases)
        module, around = import_file(path)
        source: str | Path | None = path
    else:
        module, around = import_module(spec, where, bases)
        source = getattr(module, "__file__", None)
    target = _named(module, name, where) if name else _only_candidate(module, where)
    return Found(target, _digest(source), around)


def source_digest(spec: str, bases: Sequence[Path]) -> str:
    """The digest that :func:`find` would give, without running any code of the agent's."""
    where, _ = _split(spec)
    source = _file(spec, bases) if where.endswith(".py") else module_file(where, bases)
    return _digest(source)


def _digest(source: str | Path | None) -> str:
    return hashlib.sha256(Path(source).read_bytes() if source else b"").hexdigest()


def _file(spec: str, bases: Sequence[Path]) -> Path:
    path = file_of(spec, bases)
    if path is None:
        looked = " and ".join(dict.fromkeys(map(str, bases)))
        raise AgentError(f"--agent: expected a file that exists, got {spec!r} (looked in {looked})")
    return path


def names_code(spec: str) -> bool:
    """Whether ``spec`` has a form that :func:`find` knows."""
    where, name = _split(spec)
    return where.endswith(".py") or name is not None


def name_in(spec: str) -> str | None:
    """The name in ``file.py:Name`` and ``package.module:Name``."""
    return _split(spec)[1]


def _split(spec: str) -> tuple[str, str | None]:
    """``file.py:Name`` apart; a drive letter's colon (``C:\\…``) is not one of ours."""
    where, colon, name = spec.rpartition(":")
    if colon and name.isidentifier() and (where.endswith(".py") or "\\" not in spec):
        return where, name
    return spec, None


def file_of(spec: str, bases: Sequence[Path]) -> Path | None:
    """The file that ``spec`` names, if it names one that exists."""
    where, _ = _split(spec)
    for base in bases:
        with contextlib.suppress(OSError, RuntimeError):  # far too long; ~nobody
            path = base / Path(where).expanduser()
            if where.endswith(".py") and path.is_file():
                return path.resolve()
    return None


def module_source(spec: str, bases: Sequence[Path]) -> Path | None:
    """The file of the module that ``spec`` names, if it is there; nothing is imported."""
    found = module_file(_split(spec)[0], bases)
    return None if found is None else Path(found)


def _named(module: ModuleType, name: str, where: str) -> Any:
    try:
        target = getattr(module, name)
    except AttributeError:
        names = ", ".join(_candidates(module)) or "none"
        raise AgentError(
            f"--agent: expected a name in {where} (candidates: {names}), got {name!r}"
        ) from None
    if not callable(target) and not has_agent_method(target):
        raise AgentError(f"--agent: expected {EXPECTED} as {where}:{name}, got {target!r}")
    return target


def _only_candidate(module: ModuleType, where: str) -> Any:
    candidates = _candidates(module)
    if len(candidates) == 1:
        return next(iter(candidates.values()))
    if not candidates:
        raise AgentError(f"--agent: expected {EXPECTED} in {where}, got none")
    raise AgentError(
        f"--agent: expected one agent in {where}, got {len(candidates)}: {', '.join(candidates)}; "
        f"name one ({where}:{next(iter(candidates))}) or start the others with an underscore"
    )


def _candidates(module: ModuleType) -> dict[str, Any]:
    """What may be the agent: classes and objects with an agent's method, otherwise functions.

    Functions beside an agent class are its helpers, so they count only where there is no class.
    """
    own = {
        name: value
        for name, value in vars(module).items()
        if not name.startswith("_") and _defined_in(module, value)
    }
    with_method = {n: v for n, v in own.items() if has_agent_method(v)}
    # asbench's blocks have a forward, too, and an agent that calls it.
    with_method = {n: v for n, v in with_method.items() if not derives(v, "Block")} or with_method
    # An object made from a class of the same file stands for it.
    objects = {n: v for n, v in with_method.items() if not isinstance(v, type)}
    if objects:
        return objects
    # Beside an agent of a framework, other classes with forward (a network, say) are its helpers.
    of_framework = {n: v for n, v in with_method.items() if derives(v, *_FRAMEWORKS)}
    found = _leaves(of_framework or with_method)
    return found or {n: v for n, v in own.items() if inspect.isfunction(v)}


def _leaves(classes: dict[str, Any]) -> dict[str, Any]:
    """The classes from which no other one derives: a common base is not the agent."""
    return {
        name: one
        for name, one in classes.items()
        if not any(other is not one and issubclass(other, one) for other in classes.values())
    }


def _defined_in(module: ModuleType, value: Any) -> bool:
    owner = value if isinstance(value, type) or inspect.isfunction(value) else type(value)
    return getattr(owner, "__module__", None) == module.__name__
