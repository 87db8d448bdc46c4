"""What an agent in a process of its own finds around it: a folder, an environment, and what it may touch."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import threading
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_agentbench.agents.process import confinement

# What programs and libraries need to work at all; nothing in which keys and passwords are kept. Proxies
# are not among them: their addresses may hold passwords.
ENVIRONMENT = (
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ",
    "VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH", "PYTHONHOME", "PYTHONHASHSEED", "PYTHONUTF8",
    "PYTHONDONTWRITEBYTECODE", "PYTHONWARNINGS", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS",
    "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "HF_HOME", "HF_HUB_OFFLINE", "XDG_CACHE_HOME",
)  # fmt: skip
_PREFIXES = ("LC_",)
# Where programs put what they make beside their results: numba does not work without such a place.
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


class Surroundings:
    """Of one agent; its processes share them. ``own`` are the agent's files, readable wherever they lie."""

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
                # For those who do not close: it would otherwise stay for ever.
                weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
            return self._folder

    def environment(self) -> dict[str, str]:
        given = allowed(os.environ, self._options.environment)
        return {**given, **dict.fromkeys(_OF_THE_FOLDER, str(self.folder))}

    def confined(self, command: Sequence[str]) -> list[str]:
        """The command that starts ``command`` so that it sees and changes no more than it may."""
        # Python itself may lie in the folder of the data: a project with its environment in it.
        python = (Path(sys.prefix), Path(sys.base_prefix), _PACKAGE)
        policy = confinement.Policy(
            self._options.hidden, readable=(*python, *self._own), writable=(self.folder,)
        )
        return confinement.confined(command, policy)

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
