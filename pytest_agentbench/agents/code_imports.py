"""An agent's file or module, imported as it would be where it lies.

Its folder and the root of its repository are importable while it is imported and while it is called, and
not otherwise: ``sys.path`` is the user's. A file with relative imports is imported as a part of its package.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import importlib
import importlib.util
import sys
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType

from pytest_agentbench.agents import framework_imports
from pytest_agentbench.agents.errors import NotProvided
from pytest_agentbench.agents.missing import refusing_imports
from pytest_agentbench.base.errors import BenchmarkError

_OURS = str(Path(__file__).parents[1])
_ROOT_MARKS = (".git", "pyproject.toml", "websocietysimulator")


class AgentError(BenchmarkError):
    """An agent that cannot be found or loaded."""


@dataclass(frozen=True)
class Surroundings:
    """What an agent's code needs to import, then and later: its folders, and stand-ins for packages."""

    folders: tuple[str, ...] = ()
    instead_of: Mapping[str, str] = field(default_factory=dict)
    note: str | None = None  # what the user should know of it
    provides: framework_imports.Names = field(default_factory=dict)  # beyond the stand-ins

    @classmethod
    def of(cls, path: Path, provides: framework_imports.Names | None = None) -> Surroundings:
        """Those of a file: its folder, and the root of its repository."""
        folders = dict.fromkeys(map(str, (path.parent, _root_of(path))))
        return cls(tuple(folders), provides=provides or {})

    def without_broken(self, error: ImportError) -> Surroundings | None:
        """The same with stand-ins for the real package in which an import failed; None if none did."""
        broken = _broken_framework(error)
        if broken is None:
            return None
        _forget(broken[0])
        note = (
            f"{broken[0]} in {broken[1]} cannot be imported ({error}): stand-ins take its place; "
            f"to use it, install what it needs"
        )
        return replace(self, instead_of=dict([broken]), note=note)

    def importable(self) -> _Importable:
        """Within it, all that can be imported."""
        return _Importable(self)


class _Importable:
    """A class, for a generator costs every call of an agent more."""

    __slots__ = ("_available", "_on_path")

    def __init__(self, around: Surroundings) -> None:
        self._available = framework_imports.available(around.instead_of, around.provides)
        self._on_path = _on_path(around.folders)

    def __enter__(self) -> None:
        self._on_path.__enter__()
        self._available.__enter__()

    def __exit__(self, *raised: object) -> None:
        self._available.__exit__()
        self._on_path.__exit__()


NOTHING_AROUND = Surroundings()

_lock = threading.Lock()
_counts: dict[str, int] = {}  # of those who need a folder that we put on sys.path


class _on_path:  # noqa: N801
    """These folders come first on ``sys.path`` within it, if they are not on it anyway."""

    __slots__ = ("_folders", "_mine")

    def __init__(self, folders: Sequence[str]) -> None:
        self._folders = folders

    def __enter__(self) -> None:
        with _lock:
            self._mine = [f for f in self._folders if f in _counts or f not in sys.path]
            for folder in reversed(self._mine):
                _counts[folder] = _counts.get(folder, 0) + 1
                if _counts[folder] == 1:
                    sys.path.insert(0, folder)

    def __exit__(self, *raised: object) -> None:
        with _lock:
            for folder in self._mine:
                _counts[folder] -= 1
                if not _counts[folder]:
                    del _counts[folder]
                    if folder in sys.path:
                        sys.path.remove(folder)


def import_file(path: Path) -> tuple[ModuleType, Surroundings]:
    """The module in a file. What is in ``if __name__ == "__main__":`` does not run."""
    source = path.read_bytes()
    # The name keeps two agents called agent.py apart, and an agent from its earlier version: the server
    # behind --tx socket=… lives from run to run.
    digest = hashlib.sha256(str(path).encode() + source).hexdigest()[:8]
    name = f"{framework_imports.AGENT_PREFIX}{path.stem}_{digest}"
    levels = _relative_levels(source)
    if not levels:
        name = _measured_name(path) or name
    load = (lambda: _in_package(name, path, levels)) if levels else (lambda: _alone(name, path))
    return _imported(str(path), Surroundings.of(path), load, path)


def reached(path: Path) -> tuple[Path, ...]:
    """The folders that the imports of a file lead to, its own first; the file is read and not run."""
    folders = [path.parent, _root_of(path)]
    with contextlib.suppress(OSError):
        if levels := _relative_levels(path.read_bytes()):
            folders.append(_top_package(path, levels).parent)
    return tuple(dict.fromkeys(folders))


def import_module(spec: str, where: str, bases: Sequence[Path]) -> tuple[ModuleType, Surroundings]:
    """A module by its dotted name, which may lie in one of ``bases``."""

    def load() -> ModuleType:
        try:
            return importlib.import_module(where)
        except ModuleNotFoundError as error:
            if error.name and f"{where}.".startswith(f"{error.name}."):
                raise AgentError(
                    f"--agent: expected a module that can be imported, got {spec!r}: no module named "
                    f"{error.name!r}"
                ) from None
            raise

    return _imported(where, Surroundings(tuple(map(str, bases))), load, None)


def module_file(where: str, bases: Sequence[Path]) -> str | None:
    """The file of a module, found as :func:`import_module` finds it; neither it nor its packages are imported.

    None for a namespace, and for a module that is not there: whoever imports it will say so.
    """
    path: Sequence[str] | None = None
    spec = None
    with _on_path(tuple(map(str, bases))):
        for count in range(1, where.count(".") + 2):
            name = ".".join(where.split(".")[:count])
            finders = (getattr(finder, "find_spec", None) for finder in sys.meta_path)
            found = (find(name, path, None) for find in finders if find is not None)
            spec = next((one for one in found if one is not None), None)
            if spec is None:
                return None
            path = spec.submodule_search_locations or []
    return spec.origin if spec is not None and spec.has_location else None


def _imported(
    where: str, around: Surroundings, load: Callable[[], ModuleType], path: Path | None
) -> tuple[ModuleType, Surroundings]:
    stood_in: list[str] = []

    def loaded() -> ModuleType:
        try:
            with refusing_imports():
                return load()
        except ImportError:
            stood_in[:] = filter(framework_imports.stands_in, framework_imports.ROOTS)
            raise

    try:
        try:
            with around.importable():
                return loaded(), around
        except ImportError as error:
            mended = around.without_broken(error)
            if mended is None:
                raise
            around = mended
        with around.importable():
            return loaded(), around
    except BenchmarkError:
        raise
    except (Exception, SystemExit, NotProvided) as error:
        raise AgentError(_import_failed(where, error, path, stood_in)) from None


def _alone(name: str, path: Path) -> ModuleType:
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise AgentError(f"--agent: expected a Python file, got {str(path)!r}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _measured_name(path: Path) -> str | None:
    """The name by which coverage.py was asked to measure this file (``--cov=my_agent``); None if it was not.

    It goes by names of modules, unless the name is a folder's. A module of that name from another file stays.
    """
    coverage = sys.modules.get("coverage")
    running = None if coverage is None else coverage.Coverage.current()
    if running is None:
        return None
    options = (running.get_option(f"run:{key}") for key in ("source", "source_pkgs"))
    asked = tuple(f"{name}." for names in options for name in names or ())
    folders = [folder.name for folder in path.parents if folder.name]
    for depth in range(len(folders) + 1):
        name = ".".join([*reversed(folders[:depth]), path.stem])
        if f"{name}.".startswith(asked):
            there = sys.modules.get(name)
            same = there is None or getattr(there, "__file__", None) == str(path)
            return name if same else None
    return None


def _in_package(name: str, path: Path, levels: int) -> ModuleType:
    """The file as a module of its package, which has a name of our own: ``tests`` may be another's."""
    top = _top_package(path, levels)
    parts = [name, *path.relative_to(top).with_suffix("").parts]
    if name not in sys.modules:
        init = top / "__init__.py"
        spec = importlib.util.spec_from_file_location(
            name, init if init.is_file() else None, submodule_search_locations=[str(top)]
        )
        spec = spec or importlib.machinery.ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = [str(top)]
        package = importlib.util.module_from_spec(spec)
        sys.modules[name] = package
        try:
            if spec.loader is not None and init.is_file():
                spec.loader.exec_module(package)
        except BaseException:
            _forget(name)
            raise
    try:
        return importlib.import_module(".".join(parts))
    except BaseException:
        _forget(name)
        raise


def _forget(root: str) -> None:
    for name in [name for name in sys.modules if name == root or name.startswith(f"{root}.")]:
        del sys.modules[name]


def _relative_levels(source: bytes) -> int:
    """How many packages up the file's relative imports lead; 0 if it has none, or is no Python."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return 0
    return max(
        (node.level for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)), default=0
    )


def _top_package(path: Path, levels: int = 1) -> Path:
    """The outermost folder that is a package, by its ``__init__.py`` or by what the file imports."""
    top = path.parents[levels - 1]
    while (top / "__init__.py").is_file() and (top.parent / "__init__.py").is_file():
        top = top.parent
    return top


def _root_of(path: Path) -> Path:
    """The nearest folder above a file that is a repository, or else the file's own."""
    for folder in path.parents:
        if any((folder / mark).exists() for mark in _ROOT_MARKS):
            return folder
    return path.parent


def _broken_framework(error: ImportError) -> tuple[str, str] | None:
    """The real package in whose code another one is missing or broken, and its folder."""
    if (error.name or "").partition(".")[0] in framework_imports.ROOTS:
        return None
    for frame, _ in traceback.walk_tb(error.__traceback__):
        root = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        file = frame.f_code.co_filename
        if root in framework_imports.ROOTS and root in Path(file).parts:
            parts = Path(file).parts
            at = len(parts) - 1 - parts[::-1].index(root)
            return root, str(Path(*parts[: at + 1]))
    return None


def _import_failed(
    where: str, error: BaseException, path: Path | None, stood_in: Sequence[str]
) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not frame.filename.startswith(("<frozen", _OURS))]
    at = f" (line {own[-1].lineno} of {own[-1].filename})" if own else ""
    if isinstance(error, SyntaxError):
        at = f" (line {error.lineno})"
    text = f"--agent: importing {where} failed: {type(error).__name__}: {error}{at}"
    if not isinstance(error, ImportError):
        return text
    root, _, below = (error.name or "").partition(".")
    if path is not None and below and root.startswith(framework_imports.AGENT_PREFIX):
        top = _top_package(path, _relative_levels(path.read_bytes()))
        wanted = top.joinpath(*below.split("."))
        return f"--agent: importing {where} failed: a relative import{at} expects {wanted}.py; put it there"
    if root in stood_in:
        text += f"; {root} is not installed, and what stands in for it does not have that: install {root}"
    if path is not None and (path.parent / "__init__.py").is_file():
        top = _top_package(path)
        dotted = ".".join(path.relative_to(top.parent).with_suffix("").parts)
        text += f"; the file is part of a package: --agent {dotted}:Name, started in {top.parent}, imports it as such"
    return text
