"""The user's agent as Python code: found by ``file.py``, ``file.py:Name`` or ``package.module:Name``."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from pytest_agentbench.agents.framework_imports import available
from pytest_agentbench.agents.shapes import EXPECTED, has_agent_method
from pytest_agentbench.base.errors import BenchmarkError


class AgentError(BenchmarkError):
    """An agent that cannot be found or loaded."""


@dataclass(frozen=True)
class Found:
    """The user's function, class or object, and the digest of its source."""

    target: Any
    digest: str


def find(spec: str, bases: Sequence[Path]) -> Found:
    """Imports the agent that ``spec`` names; relative files are looked for in ``bases``."""
    where, name = _split(spec)
    if where.endswith(".py"):
        path = file_of(spec, bases)
        if path is None:
            looked = " and ".join(dict.fromkeys(map(str, bases)))
            raise AgentError(
                f"--agent: expected a file that exists, got {spec!r} (looked in {looked})"
            )
        module = _import_file(path)
        source: str | Path | None = path
    else:
        module = _import_module(spec, where, bases)
        source = getattr(module, "__file__", None)
    digest = hashlib.sha256(Path(source).read_bytes() if source else b"").hexdigest()
    target = _named(module, name, where) if name else _only_candidate(module, where)
    return Found(target, digest)


def names_code(spec: str) -> bool:
    """Whether ``spec`` has a form that :func:`find` knows."""
    where, name = _split(spec)
    return where.endswith(".py") or name is not None


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


def _import_file(path: Path) -> ModuleType:
    # The name keeps two agents called agent.py apart, and an agent from its earlier version: the server
    # behind --tx socket=… lives from run to run.
    digest = hashlib.sha256(str(path).encode() + path.read_bytes()).hexdigest()[:8]
    name = f"agentbench_agent_{path.stem}_{digest}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise AgentError(f"--agent: expected a Python file, got {str(path)!r}")
    module = importlib.util.module_from_spec(spec)
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))  # so that the agent's neighbours can be imported
    sys.modules[name] = module
    try:
        with available():
            spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise AgentError(_import_failed(str(path), error)) from None
    return module


def _import_module(spec: str, where: str, bases: Sequence[Path]) -> ModuleType:
    for base in bases:
        if str(base) not in sys.path:
            sys.path.append(str(base))
    try:
        with available():
            return importlib.import_module(where)
    except (Exception, SystemExit) as error:
        absent = isinstance(error, ModuleNotFoundError) and error.name
        if absent and f"{where}.".startswith(f"{absent}."):
            raise AgentError(
                f"--agent: expected a module that can be imported, got {spec!r}: no module named "
                f"{absent!r}"
            ) from None
        raise AgentError(_import_failed(where, error)) from None


def _import_failed(where: str, error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    at = f" (line {frames[-1].lineno} of {frames[-1].filename})" if frames else ""
    if isinstance(error, SyntaxError):
        at = f" (line {error.lineno})"
    return f"--agent: importing {where} failed: {type(error).__name__}: {error}{at}"


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
    # An object made from a class of the same file stands for it.
    objects = {n: v for n, v in with_method.items() if not isinstance(v, type)}
    return objects or with_method or {n: v for n, v in own.items() if inspect.isfunction(v)}


def _defined_in(module: ModuleType, value: Any) -> bool:
    owner = value if isinstance(value, type) or inspect.isfunction(value) else type(value)
    return getattr(owner, "__module__", None) == module.__name__
