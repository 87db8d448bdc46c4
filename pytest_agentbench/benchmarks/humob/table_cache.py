"""Checked tables kept on disk as memory-mapped arrays, so that every worker starts at once.

A table lies in ``<cache>/humob/<digest of the file>/``. It is written to a folder of its own and
renamed into place: a reader sees a whole table or none, however many workers build it at a time.
"""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import shutil
import time
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.base.files import cache_folder, file_digest, one_at_a_time, replacing
from pytest_agentbench.benchmarks.humob.editions import Edition
from pytest_agentbench.benchmarks.humob.tables import Table, read_table, suffix_of, text_lines
from pytest_agentbench.benchmarks.sources.partitions import is_partitioned, table_digest

# Goes into the digest: raise it when the arrays or the checks they have passed change.
FORMAT = 3
ARRAYS = tuple(field.name for field in fields(Table))
UNUSED_DAYS = 30  # older tables are removed when a new one is written


@dataclass(frozen=True)
class CachedTable:
    """A table and the digest of the file it was read from."""

    table: Table
    digest: str


def load_table(path: Path, *, masked: bool = True) -> CachedTable:
    """The checked table of a file, read once and then mapped from the cache.

    Without a writable cache the file is read every time, which is slower and otherwise the same.
    """
    if not is_partitioned(path):
        suffix_of(path)
    digest = table_digest(path)
    place = cache_folder() / "humob" / f"{digest[:32]}-{'m' if masked else 'u'}{FORMAT}"
    table = _open(place)
    if table is None:
        with one_at_a_time(place):
            table = _open(place)  # another worker may have built it meanwhile
            if table is None:
                built = read_table(path, masked=masked)
                table = _store(built, place) or built
    return CachedTable(table, digest)


def let_go(*tables: Table) -> None:
    """Lets the system take back the memory of mapped rows: what is asked for again comes from the file.

    A worker goes through all rows once, and would else hold them until it ends.
    """
    advice = getattr(mmap, "MADV_DONTNEED", None)  # Windows has none
    for table in tables:
        memory: Any = table.rows
        while isinstance(memory, np.ndarray):
            memory = memory.base
        if advice is not None and isinstance(memory, mmap.mmap):
            memory.madvise(advice)


def check_days(cached: CachedTable, path: Path, edition: Edition) -> None:
    """Refuses a file with days that the edition does not have."""
    table = cached.table
    present = np.flatnonzero(np.diff(table.day_starts, axis=1).any(axis=0))
    strange = [int(day) for day in present if int(day) not in edition.days]
    if not strange:
        return
    day = strange[0]
    owner = int(np.flatnonzero(np.diff(table.day_starts, axis=1)[:, day])[0])
    uid = int(table.uids[owner])
    refuse_day(f"{path}{_find_line(path, uid, day)}", day, uid, edition)


def refuse_day(where: str, day: int, uid: int, edition: Edition) -> NoReturn:
    raise BenchmarkError(
        f"{where}: d={day} (uid {uid}), expected days {edition.days} of HuMob "
        f"{edition.name}; is it of another `edition:`?"
    )


def _find_line(path: Path, uid: int, day: int) -> str:
    """The line of a user's first row on a day, in a text file with columns in our order."""
    if not is_partitioned(path) and suffix_of(path) != ".parquet":
        for number, line in enumerate(text_lines(path), 1):
            if line.startswith(f"{uid},{day},"):
                return f", line {number}"
    return ""


def _open(place: Path) -> Table | None:
    """The table in a cache folder; None where there is none or it is damaged."""
    try:
        # Digests of unchanged files are cached, so this takes milliseconds.
        digests = json.loads((place / "digests.json").read_text())
        if digests != {name: file_digest(place / f"{name}.npy") for name in ARRAYS}:
            return None
        # Plain arrays over the mapped files: slicing np.memmap takes eight times as long.
        arrays = {
            name: np.asarray(np.load(place / f"{name}.npy", mmap_mode="r", allow_pickle=False))
            for name in ARRAYS
        }
    except (OSError, ValueError, EOFError):
        return None
    with contextlib.suppress(OSError):
        os.utime(place / "digests.json")  # in use: see _make_room
    return Table(**arrays)


def _make_room(folder: Path) -> None:
    oldest = time.time() - UNUSED_DAYS * 86400
    for used in folder.glob("*/*.json"):
        with contextlib.suppress(OSError):
            if used.stat().st_mtime < oldest:
                shutil.rmtree(used.parent)


def _store(table: Table, place: Path) -> Table | None:
    """Writes a table and maps it; None where the cache cannot be written."""
    _make_room(place.parent)
    # Where it fails because somebody else was first, their table is opened.
    with contextlib.suppress(OSError), replacing(place) as half:
        half.mkdir()
        for name in ARRAYS:
            np.save(half / f"{name}.npy", getattr(table, name))
        digests = {name: file_digest(half / f"{name}.npy") for name in ARRAYS}
        (half / "digests.json").write_text(json.dumps(digests))
    return _open(place)
