"""The folder in which built and downloaded things are kept, and how it is shared by processes."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

# A file changed twice within the clock's resolution keeps its time stamp: no digest is kept of it.
RACY_SECONDS = 2.0


def cache_folder() -> Path:
    """``$AGENTBENCH_CACHE``, else ``agentbench`` in the user's cache folder."""
    if given := os.environ.get("AGENTBENCH_CACHE"):
        return Path(given)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "agentbench"


def file_digest(path: Path) -> str:
    """SHA-256 of a file; remembered for as long as its path, size and time stamp stay."""
    status = path.stat()
    full = str(path.resolve())
    stamp = [full, status.st_size, status.st_mtime_ns, status.st_ino]
    note = cache_folder() / "digests" / hashlib.sha256(full.encode()).hexdigest()[:32]
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
        kept = json.loads(note.read_text())
        if kept["stamp"] == stamp:
            return str(kept["digest"])
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    if time.time() - status.st_mtime > RACY_SECONDS:
        with contextlib.suppress(OSError):
            write_whole(note, json.dumps({"stamp": stamp, "digest": digest.hexdigest()}))
    return digest.hexdigest()


def files_digest(folder: Path, files: Sequence[Path]) -> str:
    """One digest of several files: their names within ``folder`` and their contents."""
    parts = [[path.relative_to(folder).as_posix(), file_digest(path)] for path in sorted(files)]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def path_digest(path: Path) -> str:
    """Of a file, or of all files in a folder."""
    if path.is_dir():
        return files_digest(path, [file for file in path.rglob("*") if file.is_file()])
    return file_digest(path)


def kept_folder(digest: str) -> Path:
    """Where a host looks for a file or folder that is not where the command says."""
    return cache_folder() / "data" / digest


def write_whole(path: Path, text: str) -> None:
    """Writes a file so that a reader sees all of it or what was there before."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix="building-", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def one_at_a_time(folder: Path, name: str) -> Iterator[None]:
    """Lets one process build while the others wait, where the system has file locks.

    Without them (or on a disk that refuses) all build, which costs time but stays correct.
    """
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(ImportError, OSError):
            import fcntl

            folder.mkdir(parents=True, exist_ok=True)
            file = stack.enter_context((folder / f"{name}.lock").open("w"))
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
