"""Files: the cache folder, digests, JSON, writes that are whole, and locks between processes."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pytest_agentbench.base import bounded_json
from pytest_agentbench.base.errors import BenchmarkError

# A file changed twice within the clock's resolution keeps its time stamp, so its digest is not kept.
RACY_SECONDS = 2.0


def cache_folder() -> Path:
    """``$AGENTBENCH_CACHE``, else ``agentbench`` in the user's cache folder.

    ``RuntimeError`` where there is no home folder.
    """
    if given := os.environ.get("AGENTBENCH_CACHE"):
        return Path(given)
    import platformdirs  # 6 ms

    return platformdirs.user_cache_path("agentbench", appauthor=False)


def file_digest(path: Path) -> str:
    """SHA-256 of a file, cached until its path, size or time stamp changes."""
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
    """The digest of a file, or of all files in a folder."""
    if path.is_dir():
        return files_digest(path, [file for file in path.rglob("*") if file.is_file()])
    return file_digest(path)


def kept_folder(digest: str) -> Path:
    """Where a host looks for data that is not at the path on the command line."""
    return cache_folder() / "data" / digest


def read_json(path: Path, expected: str) -> Any:
    """The content of a JSON file; :class:`BenchmarkError` where it cannot be read."""
    try:
        return parsed_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BenchmarkError(f"{path}: expected {expected}, got {error.strerror}") from None
    except ValueError as error:
        raise BenchmarkError(f"{path}: expected {expected} as JSON ({error})") from None


# Half of a character beyond U+FFFF, as JSON escapes it; a pair of them is fine.
_HALF = re.compile(r"\\u[dD][89a-fA-F]")


def parsed_json(text: str) -> Any:
    """What JSON of a data file says; ``ValueError`` for all that is none, or that cannot be kept.

    Half a character (a lone surrogate) can be written to no file and no terminal.
    """
    try:
        value = bounded_json.loads(text)
        if _HALF.search(text):
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(
            f"half a character ({error.object[error.start : error.start + 1]!a}) in a text"
        ) from None
    return value


def refuse_pickle(path: Path, content: bytes = b"") -> None:
    """:class:`BenchmarkError` for a pickle, by the file's name or by how its content begins."""
    if path.suffix in (".pkl", ".pickle") or content[:1] == b"\x80":
        raise BenchmarkError(
            f"{path}: expected JSON; a pickle runs whatever code it holds when it is opened. Where "
            'you trust it: python -c "import json, pickle, sys; json.dump(pickle.load(open('
            "sys.argv[1], 'rb')), open(sys.argv[2], 'w'), default=lambda x: getattr(x, 'tolist', "
            'x.__str__)())" FILE.pkl FILE.json'
        )


def write_whole(path: Path, content: str | bytes) -> None:
    """Writes a file atomically: a reader sees all of it, or what was there before."""
    with replacing(path) as half:
        half.write_bytes(content.encode() if isinstance(content, str) else content)


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A free name beside ``path`` for a new file or folder.

    Without an exception it takes the place of ``path``; otherwise it is removed.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    half = path.with_name(f".{path.stem}-{os.urandom(4).hex()}{path.suffix}")
    try:
        yield half
        if half.is_dir():  # no system call replaces a folder by another
            shutil.rmtree(path, ignore_errors=True)
        half.replace(path)
    finally:
        if half.is_dir():
            shutil.rmtree(half, ignore_errors=True)
        else:
            half.unlink(missing_ok=True)


@contextlib.contextmanager
def one_at_a_time(path: Path) -> Iterator[None]:
    """Lets one process build ``path`` while the others wait, by a lock file beside it.

    Without the lock (a disk may refuse it) several processes build at once, which costs time but stays
    correct.
    """
    import filelock  # 20 ms, and only what is not in the cache yet needs it

    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            lock = filelock.FileLock(path.with_name(f"{path.name}.lock"), fallback_to_soft=False)
            stack.enter_context(lock)
        yield


def locked(descriptor: int) -> bool | None:
    """Locks an open file until it is closed, without waiting; the end of the process closes it.

    False where another process holds the lock, None where the disk has no locks. Windows is not asked:
    its locks keep everybody else from reading the file, too.
    """
    if sys.platform == "win32":
        return None
    import fcntl  # filelock, which takes the same lock, imports asyncio: 50 ms of every run

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True
