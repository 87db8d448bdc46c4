"""The sandbox of an agent in a process of its own: its folder, its environment, and what it may touch.

Landlock confines it where the kernel has that, else bubblewrap where that is installed; :func:`available`
says which. Both follow one policy (:class:`~pytest_agentbench.agents.process.landlock.Policy`), a list of what
is allowed (:mod:`pytest_agentbench.agents.process.readable`).
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import shutil
import sys
import tempfile
import threading
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pytest_agentbench.agents.process import bubblewrap, landlock, readable

# What programs and libraries need to work at all, and nothing that holds keys or passwords. Proxies are not
# among them: their addresses may hold passwords.
ENVIRONMENT = (
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ",
    "VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "PYTHONHOME", "PYTHONHASHSEED", "PYTHONUTF8",
    "PYTHONDONTWRITEBYTECODE", "PYTHONWARNINGS", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS",
    "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "HF_HOME", "HF_HUB_OFFLINE", "XDG_CACHE_HOME",
)  # fmt: skip
_PREFIXES = ("LC_",)
# Where programs put caches and temporary files: numba does not work without such a place.
_OF_THE_FOLDER = ("TMPDIR", "TEMP", "TMP", "NUMBA_CACHE_DIR", "MPLCONFIGDIR", "TRITON_CACHE_DIR")


@dataclass(frozen=True)
class IsolationOptions:
    """What an agent in a process of its own may have."""

    memory: int | None = None  # bytes of address space; Linux keeps to it, macOS does not
    environment: tuple[str, ...] = ()  # names of variables it gets beyond ENVIRONMENT: API keys
    cwd: Path | None = None  # its working directory; by default an empty one, removed at the end
    readable: tuple[
        Path, ...
    ] = ()  # what it may read beyond Python, its packages and its own folder
    hidden: tuple[Path, ...] = ()  # what it must not read although it lies in one of those
    start_timeout: float = 120.0  # seconds for the interpreter and the agent's imports


class Confinement(NamedTuple):
    """How this machine confines: ``landlock (ABI 7)``, ``bubblewrap (0.8.0)`` or ``none (why)``."""

    kind: str
    detail: str

    def __str__(self) -> str:
        return f"{self.kind} ({self.detail})"


@functools.cache
def available() -> Confinement:
    """The means that is in force for agents in processes of their own."""
    if sys.platform != "linux":
        return Confinement("none", "Landlock and bubblewrap are of Linux")
    abi, no_landlock = landlock.abi()
    if abi >= landlock.OLDEST_ABI:
        return Confinement("landlock", f"ABI {abi}")
    bwrap = bubblewrap.program()
    version, no_bubblewrap = (None, "not installed") if bwrap is None else bubblewrap.tried(bwrap)
    if version is not None:
        return Confinement("bubblewrap", version)
    return Confinement("none", f"Landlock: {no_landlock}; bubblewrap: {no_bubblewrap}")


@dataclass(frozen=True)
class Own:
    """What of an agent lies on this machine, and is readable wherever it lies."""

    files: tuple[Path, ...] = ()
    folders: tuple[Path, ...] = ()  # with all below
    roots: tuple[Path, ...] = ()  # of these, what can be imported


class Sandbox:
    """Of one agent; its processes share it."""

    def __init__(self, options: IsolationOptions, own: Own = Own()) -> None:  # noqa: B008 -- frozen
        self._options = options
        self._own = own
        self._folder: Path | None = options.cwd
        self._lock = threading.Lock()
        self._confining = threading.Lock()

    @property
    def folder(self) -> Path:
        """Where the agent may write; made at the first use, unless it is the user's own."""
        with self._lock:
            if self._folder is None:
                self._folder = Path(tempfile.mkdtemp(prefix="agentbench-agent-")).resolve()
                # For callers that never close: it would otherwise stay.
                weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
            return self._folder

    @property
    def removed(self) -> Path | None:
        """The folder, if nobody but the agent needs it."""
        return self.folder if self._options.cwd is None else None

    def environment(self) -> dict[str, str]:
        given = allowed(os.environ, self._options.environment)
        return {**given, **dict.fromkeys(_OF_THE_FOLDER, str(self.folder))}

    @functools.cached_property
    def _asked(self) -> landlock.Policy:
        """What the agent may read and write. Found once: what comes to lie there later does not count."""
        options, own = self._options, self._own
        hidden = [Path(os.path.realpath(path)) for path in options.hidden]
        paths = [entry or str(Path.cwd()) for entry in sys.path]
        packages, code = readable.python(paths)
        code += [place for root in own.roots for place in readable.importable(root)]
        for folder in own.folders:
            # A folder of the data set is not the agent's, even if the agent lies there.
            if not any(landlock.is_below(folder.resolve(), one) for one in hidden):
                code += readable.whole(folder)
        left = readable.remains(code) + readable.remains(options.readable, beyond_reach=False)
        return landlock.Policy(
            (*readable.system(), *packages, *code, *own.files, *options.readable),
            (self.folder,),
            (*options.hidden, *left),
            (*map(Path, paths), readable.PACKAGE.parent, *own.roots, *own.folders),
        )

    @functools.cached_property
    def policy(self) -> landlock.Policy:
        """The same, with links resolved."""
        return landlock.real_places(self._asked)

    @functools.cached_property
    def _wrapping(self) -> list[str]:
        bwrap = bubblewrap.program()
        assert bwrap is not None
        return bubblewrap.confined(bwrap, [], self._asked)

    def confined(self, command: Sequence[str]) -> tuple[list[str], landlock.Policy | None]:
        """The command that starts ``command`` so that it sees and changes no more than it may.

        And what is left to do for its supervisor, with Landlock.
        """
        kind = available().kind
        with self._confining:
            if kind == "bubblewrap":
                return [*self._wrapping, *command], None
            return list(command), self.policy if kind == "landlock" else None

    def hint(self, text: str) -> str:
        """What to add to the text of an error that confinement may be the reason of; else nothing."""
        if available().kind == "none":
            return ""
        for path in map(Path, _DENIED.findall(text)):
            with contextlib.suppress(OSError, ValueError):
                if path.exists() and not self._may_read(path):
                    return _hint(path, self.policy)
        return ""

    def _may_read(self, path: Path) -> bool:
        real, policy = Path(os.path.realpath(path)), self.policy
        allowed_here = _depth(real, (*policy.readable, *policy.writable))
        return allowed_here > _depth(real, policy.hidden)

    def close(self) -> None:
        if self._options.cwd is None and self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


# In messages of Python: [Errno 13] Permission denied: '/a/b'. In a view without it, a file is not there.
_DENIED = re.compile(r"(?:Permission denied|No such file or directory)[^'\n]{0,80}'(/[^'\n\0]+)'")


def _depth(path: Path, places: Sequence[Path]) -> int:
    """How near the nearest of these places around a path is: its number of parts."""
    return max((len(one.parts) for one in places if landlock.is_below(path, one)), default=0)


def _hint(path: Path, policy: landlock.Policy) -> str:
    real = Path(os.path.realpath(path))
    if _depth(real, policy.hidden):
        return f"; confined: {path} is kept from agents, because it may tell the truth"
    return f"; confined: the agent may not read {path}; if it needs it, add --agent-read {path}"


def allowed(environment: Mapping[str, str], more: Sequence[str] = ()) -> dict[str, str]:
    """The part of an environment that an agent gets: :data:`ENVIRONMENT`, LC_* and what is listed."""
    names = {*ENVIRONMENT, *more}
    return {
        name: value
        for name, value in environment.items()
        if name in names or name.startswith(_PREFIXES)
    }
