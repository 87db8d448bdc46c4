"""Keeps the arrays of a map in the cache folder, where every process maps them into its memory."""

from __future__ import annotations

import contextlib
import hashlib
import json
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from pytest_agentbench.base.files import cache_folder, file_digest, one_at_a_time, replacing
from pytest_agentbench.city.map_data import MapData

FORMAT = 1  # of the entries: one more whenever arrays change their names or their meaning
NOTES = "map.json"


def cached(files: Sequence[Path], read: Callable[[], MapData]) -> MapData:
    """The map that ``read`` reads from these files: from the cache, if it was read before.

    An entry that is damaged is made anew. Without a cache folder everything works, at the pace of
    reading.
    """
    try:
        folder = _folder(files)
    except (OSError, RuntimeError):  # no home folder
        return read()
    if (found := loaded(folder)) is not None:
        return found
    with one_at_a_time(folder):
        if (found := loaded(folder)) is not None:  # another process was first
            return found
        data = read()
        with contextlib.suppress(OSError):
            save(data, folder)
    return loaded(folder) or data


def _folder(files: Sequence[Path]) -> Path:
    parts = [[path.name, file_digest(path)] for path in sorted(files)]
    name = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]
    return cache_folder() / "maps" / f"{name}-{FORMAT}"


def save(data: MapData, folder: Path) -> None:
    """Writes an entry, whole or not at all."""
    data.digest()  # part of the notes
    with replacing(folder) as half:
        half.mkdir()
        sums = {}
        for name, array in data.arrays.items():
            path = half / f"{name}.npy"
            np.save(path, array, allow_pickle=False)
            sums[name] = zlib.crc32(path.read_bytes())
        (half / NOTES).write_text(json.dumps({"notes": data.notes, "sums": sums}))


def loaded(folder: Path) -> MapData | None:
    """The entry in a folder, mapped into memory; None where there is none, or not a whole one."""
    try:
        kept = json.loads((folder / NOTES).read_text())
        arrays = {}
        for name, total in kept["sums"].items():
            path = folder / f"{name}.npy"
            if zlib.crc32(path.read_bytes()) != total:
                return None
            # A plain array on the same memory: a memmap takes three times as long to index.
            arrays[name] = np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
        return MapData(arrays, dict(kept["notes"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
