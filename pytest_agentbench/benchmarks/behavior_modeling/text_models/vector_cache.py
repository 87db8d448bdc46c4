"""A cache of the vectors of texts, by text and model digest.

One small database a model, in the cache folder. Every batch is one transaction: a killed run loses at
most the batch it was at, and several runs may read and write at a time. A cache that cannot be opened
or is damaged costs time, never a score.
"""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pytest_agentbench.base.files import cache_folder

Vector = npt.NDArray[np.float32]

_AT_A_TIME = 500  # keys in one query: below SQLite's oldest limit
_WAIT_SECONDS = 10.0
_FORMAT = 2  # part of the file's name: raise it when the rows change


class VectorCache:
    """The remembered vectors of one model."""

    def __init__(self, model_digest: str, folder: Path | None = None) -> None:
        place = cache_folder() / "text" if folder is None else folder
        self._path = place / f"{model_digest[:32]}-{_FORMAT}.sqlite"

    def read(self, texts: Iterable[str]) -> dict[str, Vector]:
        """Those of the texts whose vectors are known."""
        keys = {key_of(text): text for text in texts}
        found: dict[str, Vector] = {}
        with contextlib.suppress(sqlite3.Error, OSError), self._open() as database:
            listed = list(keys)
            for start in range(0, len(listed), _AT_A_TIME):
                part = listed[start : start + _AT_A_TIME]
                marks = ",".join("?" * len(part))
                rows = database.execute(
                    f"SELECT text, vector FROM vectors WHERE text IN ({marks})",  # noqa: S608 -- question marks
                    part,
                )
                for key, blob in rows:
                    vector = _unsealed(blob)
                    if vector is not None:
                        found[keys[key]] = vector
        return found

    def write(self, vectors: Mapping[str, Vector]) -> None:
        """Remembers vectors by their texts; all of them or, if the disk refuses, none."""
        rows = [(key_of(text), _sealed(vector)) for text, vector in vectors.items()]
        try:
            with self._open() as database:
                database.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
        except sqlite3.DatabaseError as error:
            if not isinstance(error, sqlite3.OperationalError):  # not busy or full: damaged
                with contextlib.suppress(OSError):
                    self._path.unlink()
        except OSError:
            return

    @contextlib.contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        database = sqlite3.connect(self._path, timeout=_WAIT_SECONDS)
        try:
            with database:  # a transaction
                database.execute(
                    "CREATE TABLE IF NOT EXISTS vectors (text BLOB PRIMARY KEY, vector BLOB NOT NULL) "
                    "WITHOUT ROWID"
                )
                yield database
        finally:
            database.close()


def _sealed(vector: Vector) -> bytes:
    """A vector with its checksum: SQLite does not notice a changed byte inside a value."""
    data = np.asarray(vector, dtype="<f4").tobytes()
    return data + zlib.crc32(data).to_bytes(4, "little")


def _unsealed(blob: bytes) -> Vector | None:
    data, checksum = blob[:-4], blob[-4:]
    whole = data and len(data) % 4 == 0 and zlib.crc32(data).to_bytes(4, "little") == checksum
    return np.frombuffer(data, dtype="<f4") if whole else None


def key_of(text: str) -> bytes:
    """What a text is remembered by. Lone surrogates, which UTF-8 cannot hold, have keys as well."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
