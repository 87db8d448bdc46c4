"""Imports of agents written for asbench and WebSocietySimulator, without those packages installed.

While an agent's code is imported or called (:func:`available`), ``from agentsociety.agent import
IndividualAgentBase`` and the like find our stand-ins, unless the real package is there: our finder is asked
last. Afterwards the finder and its modules are gone, so that a test which asks whether ``agentsociety`` is
installed gets a true answer.

A real package that cannot be imported, because a package that it needs is missing, is stood in for as well
(``instead_of``). What it has beyond the published modules is then still found in its folder.
"""

from __future__ import annotations

import functools
import importlib
import importlib.abc
import importlib.machinery
import sys
import threading
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from pytest_agentbench.agents.missing import refuse


class _Unavailable:
    """A class of the real package that has no stand-in. It may be derived from and named in types."""

    _full_name = ""

    def __init__(self, *args: Any, **options: Any) -> None:
        __tracebackhide__ = True
        package = self._full_name.partition(".")[0]
        refuse(
            self._full_name,
            f"it is not part of what stands in for {package} here; install {package}, or use what the agent "
            f"is handed (self.llm, its tools)",
        )


Names = Mapping[str, Mapping[str, Any]]  # by module

AGENT_PREFIX = "agentbench_agent_"  # of the names under which agents' files are imported
# The packages that are stood in for. What they have is imported when an agent asks: few do.
ROOTS = frozenset(
    ("agentsociety", "agentsociety_benchmark", "mobisimbench", "pycityproto", "websocietysimulator")
)


@functools.cache
def _modules() -> Names:
    """Where published agents import from, and what is there beside classes without a stand-in."""
    from pytest_agentbench.agents.asbench import asbench_modules
    from pytest_agentbench.agents.websociety import society_modules

    return {**asbench_modules.MODULES, **society_modules.MODULES}


@functools.cache  # the same class each time
def _further(module: str, name: str) -> Any:
    # Only what looks like a class: `hasattr(module, "__path__")` and the like stay as they are.
    if not name[:1].isupper():
        raise AttributeError(
            f"module {module!r} has no attribute {name!r} (a stand-in: {module.partition('.')[0]} is not used)"
        )
    if name.endswith(("Error", "Exception")):  # to be caught, never raised
        return type(name, (Exception,), {"__module__": module})
    from pytest_agentbench.agents.asbench import asbench_modules
    from pytest_agentbench.agents.websociety import society_modules

    found = asbench_modules.further(module, name) or society_modules.further(module, name)
    if found is not None:
        return found
    return type(name, (_Unavailable,), {"__module__": module, "_full_name": f"{module}.{name}"})


_lock = threading.RLock()
_users = 0  # of the stand-ins, at present
_made: dict[str, ModuleType] = {}  # the stand-ins in sys.modules


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the stand-ins of some packages; ``folders`` has those of packages that cannot be imported.

    ``provides`` are further names by module; modules in ``always`` are ours even in the real package.
    """

    def __init__(
        self,
        roots: frozenset[str],
        folders: Mapping[str, str],
        provides: Names,
        always: Collection[str] = (),
    ) -> None:
        self._roots = roots
        self._folders = folders
        self._provides = provides
        self._always = always

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        root, _, below = fullname.partition(".")
        if fullname not in self._always:
            if root not in self._roots or fullname not in _modules():
                return None
            if below and sys.modules.get(root) is not _made.get(root):
                return None  # a module that the real package does not have
        is_package = any(name.startswith(f"{fullname}.") for name in _modules())
        spec = importlib.machinery.ModuleSpec(fullname, self, is_package=is_package)
        if is_package and root in self._folders:
            assert spec.submodule_search_locations is not None
            spec.submodule_search_locations.append(
                str(Path(self._folders[root], *below.split(".")))
            )
        return spec

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        further = functools.partial(_further, name)
        names = {**_modules()[name], **self._provides.get(name, {})}
        module.__dict__.update(names, __getattr__=further)
        _made[name] = module


def _beside() -> Mapping[str, str]:
    from pytest_agentbench.agents.asbench import asbench_modules

    return asbench_modules.BESIDE_AN_AGENT


class _Beside(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds what a lone agent file imports as if it lay in asbench's folder (``from .interactiontool …``).

    It is asked last: a file of that name beside the agent is what the agent means.
    """

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        package, _, name = fullname.rpartition(".")
        if not package.startswith(AGENT_PREFIX) or name not in _beside():
            return None
        return importlib.machinery.ModuleSpec(fullname, self)

    def exec_module(self, module: ModuleType) -> None:
        name = _beside()[module.__name__.rpartition(".")[2]]
        # The real one where it is installed, else the stand-in.
        module.__dict__["__getattr__"] = functools.partial(getattr, importlib.import_module(name))


# Those of an agent that needs no more than the stand-ins: made once, for they are put up with each call.
_NONE_FIRST: tuple[_Finder, ...] = ()
_USUAL: tuple[_Finder | _Beside, ...] = (_Finder(ROOTS, {}, {}), _Beside())


class available:  # noqa: N801 -- a class as those of contextlib: a generator costs every call of an agent more
    """Within it, agents of asbench and WebSocietySimulator can be imported, whether or not their packages are installed.

    ``instead_of``: the folders of packages that are there and cannot be imported. ``provides``: what there
    is beyond the stand-ins, by module; modules below a package are then ours in the real package, too.
    """

    __slots__ = ("_first", "_last")

    def __init__(
        self, instead_of: Mapping[str, str] | None = None, provides: Names | None = None
    ) -> None:
        self._first, self._last = _NONE_FIRST, _USUAL
        folders, further = instead_of or {}, provides or {}
        if folders or further:
            below = [name for name in further if name not in ROOTS]
            self._last = (_Finder(ROOTS - folders.keys(), {}, further), _Beside())
            if folders or below:
                self._first = (_Finder(frozenset(folders), folders, further, below),)

    def __enter__(self) -> None:
        global _users
        with _lock:
            _users += 1
            sys.meta_path[:] = [*self._first, *sys.meta_path, *self._last]

    def __exit__(self, *raised: object) -> None:
        global _users
        with _lock:
            _users -= 1
            for finder in (*self._first, *self._last):
                if finder in sys.meta_path:
                    sys.meta_path.remove(finder)
            if not _users:  # others may be importing them at this moment
                _forget()


def stands_in(root: str) -> bool:
    """Whether a package that is imported at present is one of our stand-ins."""
    return root in _made and sys.modules.get(root) is _made[root]


def _forget() -> None:
    if not _made:  # the usual case, with each call of an agent; there are thousands of modules
        return
    for name, module in _made.items():
        if sys.modules.get(name) is module:
            del sys.modules[name]
    # What was found in the folder of a package that cannot be imported goes with it.
    for name in [name for name in sys.modules if name.partition(".")[0] in _made]:
        del sys.modules[name]
    _made.clear()
