"""The sandbox of an agent in a process of its own: its folder, its environment, and what it may touch.

Landlock confines it where the kernel has that, else bubblewrap where that is installed; :func:`available`
says which. Both follow one policy (:class:`~pytest_agentbench.agents.process.landlock.Policy`).
"""

from __future__ import annotations

import functools
import os
import shutil
import sys
import tempfile
import threading
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pytest_agentbench.agents.process import bubblewrap, landlock

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

_PACKAGE = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class IsolationOptions:
    """What an agent in a process of its own may have."""

    memory: int | None = None  # bytes of address space; Linux keeps to it, macOS does not
    environment: tuple[str, ...] = ()  # names of variables it gets beyond ENVIRONMENT: API keys
    cwd: Path | None = None  # its working directory; by default an empty one, removed at the end
    hidden: tuple[Path, ...] = ()  # what it must not read, where the system has the means
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


def confined(command: Sequence[str], policy: landlock.Policy) -> list[str]:
    """The command that runs ``command`` under the policy, where this machine has the means."""
    kind = available().kind
    if kind == "landlock":
        return landlock.confined(command, policy)
    if kind == "bubblewrap":
        bwrap = bubblewrap.program()
        assert bwrap is not None
        return bubblewrap.confined(bwrap, command, policy)
    return list(command)


class Sandbox:
    """Of one agent; its processes share it. ``own`` are the agent's files, readable wherever they lie."""

    def __init__(self, options: IsolationOptions, own: Sequence[Path] = ()) -> None:
        self._options = options
        self._own = tuple(own)
        self._folder: Path | None = options.cwd
        self._lock = threading.Lock()

    @property
    def folder(self) -> Path:
        """Where the agent may write; made at the first use, unless it is the user's own."""
        with self._lock:
            if self._folder is None:
                self._folder = Path(tempfile.mkdtemp(prefix="agentbench-agent-"))
                # For callers that never close: it would otherwise stay.
                weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
            return self._folder

    def environment(self) -> dict[str, str]:
        given = allowed(os.environ, self._options.environment)
        return {**given, **dict.fromkeys(_OF_THE_FOLDER, str(self.folder))}

    def confined(self, command: Sequence[str]) -> list[str]:
        """The command that starts ``command`` so that it sees and changes no more than it may."""
        # Python itself may lie in the folder of the data: a project with its environment in it.
        python = (Path(sys.prefix), Path(sys.base_prefix), _PACKAGE)
        policy = landlock.Policy(
            self._options.hidden, readable=(*python, *self._own), writable=(self.folder,)
        )
        return confined(command, policy)

    def close(self) -> None:
        if self._options.cwd is None and self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


def allowed(environment: Mapping[str, str], more: Sequence[str] = ()) -> dict[str, str]:
    """The part of an environment that an agent gets: :data:`ENVIRONMENT`, LC_* and what is listed."""
    names = {*ENVIRONMENT, *more}
    return {
        name: value
        for name, value in environment.items()
        if name in names or name.startswith(_PREFIXES)
    }
