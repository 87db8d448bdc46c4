"""A table in several files: a folder of Parquet partitions, or a pattern that names them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from pytest_agentbench.base.errors import BenchmarkError
from pytest_agentbench.base.files import file_digest

SUFFIX = ".parquet"


def is_partitioned(path: Path) -> bool:
    """Whether a path means the partitions of one table: a pattern, or a folder of them.

    Partitions in a folder are called as programs call them: ``part-0.parquet``, ``0001.parquet``.
    Files of other names (``cityA.parquet``, ``cityB.parquet``) may well be tables of their own.
    """
    if path.is_dir():
        names = [file.name.lower() for file in path.iterdir() if file.suffix.lower() == SUFFIX]
        return bool(names) and all(name.startswith("part") or name[0].isdigit() for name in names)
    return not path.exists() and is_pattern(path)


def is_pattern(path: Path) -> bool:
    """Whether a path has wildcards that match files."""
    return any(sign in str(path) for sign in "*?[") and any(_matches(path))


def _matches(path: Path) -> Iterator[Path]:
    path = path.absolute()
    return Path(path.anchor).glob(path.relative_to(path.anchor).as_posix())


def files_of(path: Path) -> list[Path]:
    """The files of a table: the file itself, or its partitions in the order of their names."""
    if not is_partitioned(path):
        if path.is_file():
            return [path]
        raise BenchmarkError(
            f"{path}: expected a file, a folder of Parquet partitions (part-0.parquet, …) or a "
            f"pattern in quotes ('{path / '*.parquet'}')"
        )
    if path.is_dir():
        return sorted(file for file in path.iterdir() if file.suffix.lower() == SUFFIX)
    found = sorted(_matches(path))
    others = [file for file in found if file.suffix.lower() != SUFFIX or not file.is_file()]
    if others:
        raise BenchmarkError(
            f"{path}: expected a pattern of Parquet files, got {others[0]} among them"
        )
    return found


def table_digest(path: Path) -> str:
    """The digest of a table: a file's own, or one of all its partitions."""
    return joined_digest(file_digest(file) for file in files_of(path))


def joined_digest(digests: Iterable[str]) -> str:
    """One digest of several files, independent of their names and their order.

    >>> joined_digest(["ab"])
    'ab'
    >>> joined_digest(["ab", "cd"]) == joined_digest(["cd", "ab"])
    True
    """
    found = sorted(digests)
    return found[0] if len(found) == 1 else hashlib.sha256(json.dumps(found).encode()).hexdigest()
