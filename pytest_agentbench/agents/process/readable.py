"""What a confined agent may read: the system's programs, Python, its packages and its own folder.

Everything else of the file system is out of its reach. In its own folder, which may be that of a whole
project, :func:`remains` are kept from it as well: what earlier runs and version control left there.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from pytest_agentbench.agents.process import landlock

PACKAGE = Path(__file__).resolve().parents[2]

# Programs, libraries and their data. Not all of /usr: projects lie in /usr/src and /usr/local/src.
_OF_PROGRAMS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32", "libexec", "share", "include")
_SYSTEM = (
    "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32",
    *(f"/usr/{name}" for name in _OF_PROGRAMS), *(f"/usr/local/{name}" for name in _OF_PROGRAMS),
    "/usr/local/cuda*", "/opt/rocm*", "/nix/store", "/gnu/store", "/run/opengl-driver",
    "/sys/devices/system", "/sys/fs/cgroup",
)  # fmt: skip
# What the C library, OpenSSL, fonts and a few runtimes look up; nothing with a key or a password.
_ETC = (
    "resolv.conf", "hosts", "host.conf", "hostname", "nsswitch.conf", "gai.conf", "services", "protocols",
    "passwd", "group", "localtime", "timezone", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "ld.so.preload",
    "ssl/certs", "ssl/cert.pem", "ssl/openssl.cnf", "ca-certificates", "pki/tls/certs", "pki/tls/cert.pem",
    "pki/tls/openssl.cnf", "pki/ca-trust/extracted", "crypto-policies", "alternatives", "os-release",
    "lsb-release", "debian_version", "redhat-release", "mime.types", "magic", "locale.alias", "locale.conf",
    "terminfo", "inputrc", "fonts", "OpenCL", "vulkan", "java*", "mavenrc", "static", "zoneinfo",
)  # fmt: skip
_SYSTEM_OF_GRAPHICS = (
    "/sys/devices", "/sys/bus/pci", "/sys/class/drm", "/sys/class/kfd", "/sys/module",
)  # fmt: skip
# Variables that agents get, and that name what they need.
_PLACES = ("LD_LIBRARY_PATH", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE")
_OF_A_PREFIX = (*_OF_PROGRAMS, "etc", "ssl", "pyvenv.cfg")
OF_PACKAGES = ("site-packages", "dist-packages")
_CODE = (".py", ".pyc", ".pyi", ".so", ".pyd", ".pth")

# Version control and experiment trackers keep copies of data and of reports.
_KEEPERS = (
    ".agentbench", ".git", ".hg", ".svn", ".jj", ".bzr", ".dvc", ".pijul", "mlruns", "mlartifacts",
)  # fmt: skip
_OF_A_RUN = {"records.jsonl", "scores.json"}  # beside a manifest.json, or a log alone
_NO_PLACE_OF_RUNS = {"__pycache__", "node_modules", *OF_PACKAGES}
MOST_SEARCHED = 100_000  # entries of folders; the rest stays out of reach
_CROWD = 20
_OUR_PAGE = b"<footer>pytest-agentbench"


def system() -> list[Path]:
    """What programs of this machine need."""
    patterns = [*_SYSTEM, *(f"/etc/{name}" for name in _ETC)]
    if landlock.graphics():
        patterns += _SYSTEM_OF_GRAPHICS
    found = [path for pattern in patterns for path in _matching(pattern)]
    named = [one for name in _PLACES for one in os.environ.get(name, "").split(":")]
    return found + [path for path in map(Path, named) if path.is_absolute() and not _is_broad(path)]


def _matching(pattern: str) -> Iterable[Path]:
    if "*" not in pattern:
        return [Path(pattern)] if os.path.lexists(pattern) else []
    folder, _, name = pattern.rpartition("/")
    return Path(folder).glob(name)


def python(paths: Sequence[str]) -> tuple[list[Path], list[Path]]:
    """This Python with its packages, and other code that ``paths``, which are ``sys.path``, lead to."""
    prefixes = (sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix)
    packages = [
        PACKAGE,
        *(path for one in dict.fromkeys(prefixes) for path in environment(Path(one))),
    ]
    # What setuptools' editable installs lead to is on no path.
    code = [
        Path(place)
        for name, module in list(sys.modules.items())
        if name.startswith("__editable__") and isinstance(getattr(module, "MAPPING", None), dict)
        for place in module.MAPPING.values()
    ]
    for path in map(Path, dict.fromkeys(paths)):
        if path.name in OF_PACKAGES or path.is_file():
            packages.append(path)
        elif path != PACKAGE.parent and not any(landlock.is_below(path, one) for one in packages):
            code += importable(path)
    return packages, code


def environment(prefix: Path) -> list[Path]:
    """A Python's own folders: the one around them may be a project's, or somebody's home."""
    if (prefix / "conda-meta").is_dir():
        return [prefix]
    return [path for name in _OF_A_PREFIX if (path := prefix / name).exists()]


def importable(folder: Path) -> Iterator[Path]:
    """Python's files and packages in a folder, and not what else lies there."""
    strict = _is_broad(folder)  # not every project in somebody's home is a package of the agent's
    with contextlib.suppress(OSError):
        for entry in os.scandir(folder):
            if entry.is_symlink():
                continue
            if entry.is_file():
                if entry.name.endswith(_CODE):
                    yield Path(entry.path)
            elif entry.name.isidentifier() and (
                Path(entry.path, "__init__.py").exists() if strict else _is_package(entry.path)
            ):
                yield Path(entry.path)


def _is_package(folder: str, depth: int = 2) -> bool:
    """Whether there is code in it, or in a folder of it: not every package has an ``__init__.py``."""
    if depth == 0:
        return False
    with contextlib.suppress(OSError):
        entries = list(os.scandir(folder))
        return any(entry.name.endswith(_CODE) for entry in entries) or any(
            entry.name.isidentifier()
            and entry.is_dir(follow_symlinks=False)
            and _is_package(entry.path, depth - 1)
            for entry in entries
        )
    return False


def whole(folder: Path) -> list[Path]:
    """An agent's own folder; of one that holds all sorts of things, what can be imported."""
    return list(importable(folder)) if _is_broad(folder) else [folder]


def _is_broad(folder: Path) -> bool:
    """Whether it is somebody's home, a temporary folder of all, or above one."""
    folder = folder.resolve()
    with contextlib.suppress(RuntimeError):
        home = Path.home().resolve()
        if landlock.is_below(home, folder) or (
            folder.parent == home.parent != Path(home.anchor) and folder.parent != folder
        ):
            return True
    shared = {Path(tempfile.gettempdir()).resolve(), Path("/var/tmp"), Path("/home")}  # noqa: S108
    return any(landlock.is_below(one, folder) for one in shared)


def remains(folders: Iterable[Path], beyond_reach: bool = True) -> list[Path]:
    """What may tell the truth in these folders: repositories, folders of runs, reports of ours.

    A very large folder is searched in part. What was not searched is among these, unless that is not
    wanted.
    """
    found: list[Path] = []
    roots = list(folders)
    queue = deque(map(str, roots))
    left = MOST_SEARCHED
    while queue and left > 0:
        folder = queue.popleft()
        try:
            entries = list(os.scandir(folder))
        except OSError:  # a file, or not ours to read
            continue
        left -= len(entries)
        names = {entry.name for entry in entries}
        if "records.jsonl" in names or ("manifest.json" in names and names & _OF_A_RUN):
            found.append(Path(folder))
        elif "pyvenv.cfg" not in names:
            for entry in entries:
                if entry.name in _KEEPERS:
                    found.append(Path(entry.path))
                elif entry.is_dir(follow_symlinks=False):
                    if entry.name not in _NO_PLACE_OF_RUNS:
                        queue.append(entry.path)
                elif entry.name.endswith((".html", ".htm")) and _is_ours(entry.path):
                    found.append(Path(entry.path))
    if beyond_reach:
        found += map(Path, queue)
    return _without_crowds(found, roots)


def _is_ours(page: str) -> bool:
    """Whether a page is a report, which quotes the truth: its last lines say so."""
    with contextlib.suppress(OSError), Path(page).open("rb") as file:
        file.seek(0, os.SEEK_END)
        file.seek(max(0, file.tell() - (8 << 20)))
        return _OUR_PAGE in file.read()
    return False


def _without_crowds(places: Sequence[Path], roots: Sequence[Path]) -> list[Path]:
    """A folder with many of them stands for all: every place has its price when a process starts."""
    counts = Counter(place.parent for place in places)
    crowds = {folder for folder, count in counts.items() if count > _CROWD} - set(roots)
    return list(dict.fromkeys(p.parent if p.parent in crowds else p for p in places))
