"""Files that come with a package, as paths on the disk, also where the package lies in a zip file."""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import tempfile
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.abc import Traversable


@functools.cache
def on_disk(package: str, name: str) -> Path:
    """A file or folder of a package; of a zip file a copy, which is there until this process ends."""
    found = resources.files(package).joinpath(name)
    if isinstance(found, Path):
        return found
    folder = Path(tempfile.mkdtemp(prefix="agentbench-files-"))
    atexit.register(_remove, folder, os.getpid())
    _copy(found, folder / name)
    return folder / name


def _remove(folder: Path, owner: int) -> None:
    if os.getpid() == owner:  # not a fork of it, which ends earlier
        shutil.rmtree(folder, ignore_errors=True)


def _copy(found: Traversable, to: Path) -> None:
    # `resources.as_file` takes folders from Python 3.12 on only.
    if found.is_dir():
        to.mkdir()
        for one in found.iterdir():
            _copy(one, to / one.name)
    else:
        to.write_bytes(found.read_bytes())


def sources(package: str) -> Iterator[tuple[str, bytes]]:
    """The Python files of a package, ordered by their path in it, with ``/`` on every system."""
    yield from sorted(_sources(resources.files(package), ""))


def _sources(folder: Traversable, path: str) -> Iterator[tuple[str, bytes]]:
    for one in folder.iterdir():
        if one.is_dir():
            yield from _sources(one, f"{path}{one.name}/")
        elif one.name.endswith(".py"):
            yield path + one.name, one.read_bytes()


def archive_of(path: Path) -> Path | None:
    """The zip file in which a module's path lies; None where it is a path on the disk."""
    return next((one for one in path.parents if one.is_file()), None)
